/* Names of sources, removal, and what is on the stack. */
#include "core/loop.h"

#include "base/alloc.h"

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

void rouse__source_left(rouse_loop *loop, struct rouse__source *source)
{
	if (--source->running)
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
