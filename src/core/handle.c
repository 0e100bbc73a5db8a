/*
 * Waitable handles as sources, where the system has such things.
 *
 * To the loop one is a descriptor that is readable while it is signalled; what signalled means,
 * and that the wait may use the signal up, is the system's and the poller's.
 */
#include "core/loop.h"

#include "base/alloc.h"

struct handle {
	struct rouse__fd_source fd; /* first; its descriptor is the handle */
	rouse_handle_fn fn;
	void *data;
};

static int watch_by(rouse__add_handle_fn *add, rouse_loop *loop, struct rouse__fd_source *fd)
{
	int error;

	fd->watch.id = fd->source.id;
	error = add(loop->poller, &fd->watch);
	if (!error)
		rouse__guest_changed(loop);
	return error;
}

int rouse__handle_watch(rouse_loop *loop, struct rouse__fd_source *fd)
{
	return watch_by(loop->ops->add_handle, loop, fd);
}

static void signalled(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	const struct handle *handle = data;

	handle->fn(loop, self, (void *)(intptr_t)fd, events, handle->data);
}

static void unlink_handle(rouse_loop *loop, struct rouse__source *source)
{
	rouse__fd_unwatch(loop, ROUSE__CONTAINER(source, struct rouse__fd_source, source));
}

static const struct rouse__source_ops handle_ops = {
        .size = sizeof(struct handle),
        .ready = rouse__fd_note_ready,
        .unlink = unlink_handle,
        .suspend = rouse__fd_suspend,
        .resume = rouse__fd_resume,
};

int rouse__handle_add(rouse_loop *loop, void *handle, rouse__add_handle_fn *add, rouse_handle_fn fn,
                      void *data, rouse_source *ret_source)
{
	struct handle *source;
	int error;

	if ((intptr_t)handle <= 0 || !fn)
		return ROUSE_EINVAL;
	if (!add)
		return ROUSE_ENOTSUP;
	source = rouse__zalloc(&loop->allocator, sizeof *source);
	if (!source)
		return ROUSE_ENOMEM;
	source->fd.source.ops = &handle_ops;
	source->fd.watch.fd = (rouse_fd)(intptr_t)handle;
	source->fd.events = ROUSE_READABLE;
	source->fd.fn = signalled;
	source->fd.data = source;
	source->fn = fn;
	source->data = data;
	error = rouse__source_name(loop, &source->fd.source);
	if (error)
		goto unnamed;
	error = watch_by(add, loop, &source->fd);
	if (error)
		goto unwatched;
	if (ret_source)
		ret_source->id = source->fd.source.id;
	return 0;

unwatched:
	rouse__slots_give(&loop->sources, source->fd.source.id);
unnamed:
	rouse__free(&loop->allocator, source, sizeof *source);
	return error;
}

int rouse_handle_add(rouse_loop *loop, void *handle, rouse_handle_fn fn, void *data,
                     rouse_source *ret_source)
{
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	return rouse__handle_add(loop, handle, loop->ops->add_handle, fn, data, ret_source);
}
