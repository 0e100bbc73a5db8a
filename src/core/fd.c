/* Descriptors as sources. */
#include "core/loop.h"

#include "base/alloc.h"
#include "os/os.h"

#include <assert.h>
#include <errno.h>

#define INTERESTS ((unsigned)(ROUSE_READABLE | ROUSE_WRITABLE | ROUSE_HANGUP))

int rouse__fd_check(rouse_fd fd, unsigned events)
{
	return (intptr_t)fd < 0 || (events & ~INTERESTS) ? ROUSE_EINVAL : 0;
}

/*
 * A number can be watched once.  But a descriptor may have been closed while watched, and its
 * number be somebody else's by now: the poller can tell, and then the newcomer owns the
 * number and the older source is left without, so that removing it touches nothing.
 */
int rouse__fd_watch(rouse_loop *loop, struct rouse__fd_source *fd)
{
	struct rouse__watch *known = rouse__owner(loop, fd->watch.fd);
	int error;

	fd->watch.id = fd->source.id;
	error = loop->ops->add(loop->poller, &fd->watch, fd->events, known);
	if (error)
		return error;
	if (rouse__own(loop, &fd->watch)) {
		loop->ops->remove(loop->poller, &fd->watch);
		return ROUSE_ENOMEM;
	}
	if (known)
		rouse__count(loop->remote, fds_dropped, 1);
	rouse__guest_changed(loop);
	return 0;
}

void rouse__fd_unwatch(rouse_loop *loop, struct rouse__fd_source *fd)
{
	rouse__disown(loop, &fd->watch);
	if (fd->watch.in_poller && rouse__ours(loop))
		loop->ops->remove(loop->poller, &fd->watch);
}

/* ---- The source ------------------------------------------------------------ */

static void unlink_fd(rouse_loop *loop, struct rouse__source *source)
{
	rouse__fd_unwatch(loop, ROUSE__CONTAINER(source, struct rouse__fd_source, source));
}

void rouse__fd_suspend(rouse_loop *loop, struct rouse__source *source)
{
	struct rouse__fd_source *fd = ROUSE__CONTAINER(source, struct rouse__fd_source, source);

	if (fd->watch.in_poller)
		(void)loop->ops->set(loop->poller, &fd->watch, 0);
}

void rouse__fd_resume(rouse_loop *loop, struct rouse__source *source)
{
	struct rouse__fd_source *fd = ROUSE__CONTAINER(source, struct rouse__fd_source, source);

	if (fd->watch.in_poller && rouse__ours(loop))
		(void)loop->ops->set(loop->poller, &fd->watch, fd->events);
}

/* The door: a poller found the descriptor closed, and its number is nobody's. */
void rouse__fd_disown(rouse_loop *loop, struct rouse__source *source)
{
	rouse__disown(loop, &ROUSE__CONTAINER(source, struct rouse__fd_source, source)->watch);
	rouse__count(loop->remote, fds_dropped, 1);
}

void rouse__fd_note_ready(rouse_loop *loop, struct rouse__source *source, unsigned events)
{
	assert(loop->batch_count < loop->max_batch);
	loop->batch[loop->batch_count++] = (struct rouse__reported){source->id, events};
}

static const struct rouse__source_ops fd_ops = {
        .size = sizeof(struct rouse__fd_source),
        .ready = rouse__fd_note_ready,
        .users_fd = 1,
        .unlink = unlink_fd,
        .suspend = rouse__fd_suspend,
        .resume = rouse__fd_resume,
};

int rouse_fd_add(rouse_loop *loop, rouse_fd fd, unsigned events, rouse_fd_fn fn, void *data,
                 rouse_source *ret_source)
{
	struct rouse__fd_source *source;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (rouse__fd_check(fd, events) || !fn)
		return ROUSE_EINVAL;
	source = rouse__zalloc(&loop->allocator, sizeof *source);
	if (!source)
		return ROUSE_ENOMEM;
	source->source.ops = &fd_ops;
	source->watch.fd = fd;
	source->events = events;
	source->fn = fn;
	source->data = data;
	error = rouse__source_name(loop, &source->source);
	if (error)
		goto unnamed;
	error = rouse__fd_watch(loop, source);
	if (error)
		goto unwatched;
	if (ret_source)
		ret_source->id = source->source.id;
	return 0;

unwatched:
	rouse__slots_give(&loop->sources, source->source.id);
unnamed:
	rouse__free(&loop->allocator, source, sizeof *source);
	return error;
}

int rouse_fd_set_events(rouse_loop *loop, rouse_source name, unsigned events)
{
	struct rouse__source *source;
	struct rouse__fd_source *fd;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	source = rouse__source_find(loop, name);
	if (!source)
		return ROUSE_ESTALE;
	if (!source->ops->users_fd)
		return ROUSE_EINVAL;
	fd = ROUSE__CONTAINER(source, struct rouse__fd_source, source);
	if (rouse__fd_check(fd->watch.fd, events))
		return ROUSE_EINVAL;
	if (!fd->watch.in_poller)
		return rouse__os_failed(ROUSE__NO_DESCRIPTOR);
	if (!source->suspended && events != fd->watch.events) {
		error = loop->ops->set(loop->poller, &fd->watch, events);
		if (error)
			return error;
		rouse__guest_changed(loop);
	}
	fd->events = events;
	return 0;
}

/* ---- Dispatch ---------------------------------------------------------------- */

void rouse__fd_dispatch(rouse_loop *loop)
{
	while (loop->batch_next < loop->batch_count && rouse__ours(loop)) {
		struct rouse__reported seen = loop->batch[loop->batch_next++];
		struct rouse__source *source = rouse__slots_find(&loop->sources, seen.id);
		struct rouse__fd_source *fd;
		struct rouse__frame frame;
		unsigned events;

		if (!source || source->running)
			continue;
		/* An earlier callback of this batch may have changed what is wanted. */
		fd = ROUSE__CONTAINER(source, struct rouse__fd_source, source);
		events = fd->events ? seen.events & (fd->events | ROUSE_HANGUP | ROUSE_FDERROR) : 0;
		if (!events)
			continue;
		rouse__count(loop->remote, callbacks, 1);
		rouse__enter(loop, &frame, source);
		fd->fn(loop, (rouse_source){seen.id}, fd->watch.fd, events, fd->data);
		rouse__leave(loop, &frame);
	}
}
