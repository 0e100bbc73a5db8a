/* Names of sources, removal, and what is on the stack. */
#include "core/loop.h"

#include "base/alloc.h"
#include "os/os.h"
#include "pool/pool.h"

int rouse__check_owner(const rouse_loop *loop)
{
	if (!loop)
		return ROUSE_EINVAL;
	if (rouse__remote_forked(loop->remote))
		return ROUSE_EFORKED;
	return loop->remote->owner == rouse__thread_serial() ? 0 : ROUSE_EWRONGTHREAD;
}

struct rouse__source *rouse__source_find(const rouse_loop *loop, rouse_source name)
{
	return rouse__slots_find(&loop->sources, name.id);
}

int rouse__source_name(rouse_loop *loop, struct rouse__source *source)
{
	if (rouse__remote_closed(loop->remote))
		return ROUSE_ECLOSED;
	source->id = rouse__slots_take(&loop->sources, &loop->allocator, source);
	return source->id ? 0 : ROUSE_ENOMEM;
}

void rouse__source_remove(rouse_loop *loop, struct rouse__source *source)
{
	rouse__slots_give(&loop->sources, source->id);
	source->gone = 1;
	source->ops->unlink(loop, source);
	if (!source->running)
		rouse__free(&loop->allocator, source, source->ops->size);
}

int rouse_remove(rouse_loop *loop, rouse_source name)
{
	struct rouse__source *source;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	source = rouse__source_find(loop, name);
	if (!source)
		return ROUSE_ESTALE;
	rouse__source_remove(loop, source);
	return 0;
}

/* A hook's pass may be nested in a callback that lasts long, and its pool with it. */
static int wants_pool(const rouse_loop *loop)
{
	switch (loop->pool_policy) {
	case ROUSE_POOL_PER_TURN:
		return !loop->in_pool || loop->no_turn;
	case ROUSE_POOL_PER_CALLBACK:
		return 1;
	default:
		return 0;
	}
}

void rouse__enter(rouse_loop *loop, struct rouse__frame *frame, struct rouse__source *source)
{
	frame->outer = loop->frames;
	frame->source = source;
	frame->pool.token = 0;
	loop->frames = frame;
	if (source)
		source->running++;
	if (wants_pool(loop))
		frame->pool = rouse__pool_begin();
}

void rouse__leave(rouse_loop *loop, struct rouse__frame *frame)
{
	struct rouse__source *source = frame->source;

	/* Still inside: what a release function may do is what a callback may. */
	if (frame->pool.token)
		rouse__pool_end(frame->pool);
	loop->frames = frame->outer;
	if (!source || --source->running)
		return;
	if (source->gone) {
		rouse__free(&loop->allocator, source, source->ops->size);
		return;
	}
	if (source->suspended) {
		source->suspended = 0;
		source->ops->resume(loop, source);
	}
}

void rouse__suspend_running(rouse_loop *loop)
{
	for (struct rouse__frame *f = loop->frames; f; f = f->outer) {
		struct rouse__source *source = f->source;

		if (source && !source->gone && !source->suspended && source->ops->suspend) {
			source->suspended = 1;
			source->ops->suspend(loop, source);
		}
	}
}
