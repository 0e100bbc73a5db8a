/*
 * Child processes as sources, where a process has a handle that is signalled once it has ended.
 *
 * Nothing has to be waited for so that its number may be used anew: the handle does that, and stays
 * the caller's.  So any process may be watched, also one that is no child.
 */
#include "core/loop.h"

#include "base/alloc.h"
#include "os/os.h"

struct child {
	struct rouse__fd_source fd; /* first; its descriptor is the handle */
	struct rouse__list link;    /* in the list of children */
	rouse_process process;
	rouse_exit how;
	rouse_child_fn fn;
	void *data;
};

static struct child *child_of(struct rouse__list *link)
{
	return ROUSE__CONTAINER(link, struct child, link);
}

static void signalled(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct child *child = data;

	(void)self;
	(void)fd;
	/* Its handle was closed, and may name another process by now. */
	if (events & ROUSE_FDERROR)
		child->how = (rouse_exit){0};
	else if (!rouse__child_ended(child->process, &child->how))
		return;
	child->fn(loop, (rouse_source){child->fd.source.id}, child->process, &child->how,
	          child->data);
	if (!child->fd.source.gone)
		rouse__source_remove(loop, &child->fd.source);
}

static void unlink_child(rouse_loop *loop, struct rouse__source *source)
{
	struct child *child = ROUSE__CONTAINER(source, struct child, fd.source);

	rouse__list_unlink(&child->link);
	rouse__fd_unwatch(loop, &child->fd);
}

static const struct rouse__source_ops child_ops = {
        .size = sizeof(struct child),
        .ready = rouse__fd_note_ready,
        .unlink = unlink_child,
        .suspend = rouse__fd_suspend,
        .resume = rouse__fd_resume,
};

static int is_watched(const rouse_loop *loop, rouse_process process)
{
	for (struct rouse__list *l = loop->children.next; l != &loop->children; l = l->next)
		if (child_of(l)->process == process && !child_of(l)->fd.source.running)
			return 1;
	return 0;
}

static int check(const rouse_loop *loop, rouse_process process)
{
	int error;

	if (!(loop->ops->caps & ROUSE_CAP_CHILD))
		return ROUSE_ENOTSUP;
	if (is_watched(loop, process))
		return ROUSE_EEXIST;
	error = rouse__child_check(process);
	return error ? rouse__os_failed(error) : 0;
}

int rouse_child_add(rouse_loop *loop, rouse_process process, rouse_child_fn fn, void *data,
                    rouse_source *ret_source)
{
	struct child *child;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if ((intptr_t)process <= 0 || !fn)
		return ROUSE_EINVAL;
	error = check(loop, process);
	if (error)
		return error;
	child = rouse__zalloc(&loop->allocator, sizeof *child);
	if (!child)
		return ROUSE_ENOMEM;
	child->fd.source.ops = &child_ops;
	child->fd.watch.fd = (rouse_fd)(intptr_t)process;
	child->fd.events = ROUSE_READABLE;
	child->fd.fn = signalled;
	child->fd.data = child;
	child->process = process;
	child->fn = fn;
	child->data = data;
	error = rouse__source_name(loop, &child->fd.source);
	if (error)
		goto unnamed;
	error = rouse__handle_watch(loop, &child->fd);
	if (error)
		goto unwatched;
	rouse__list_append(&loop->children, &child->link);
	if (ret_source)
		ret_source->id = child->fd.source.id;
	return 0;

unwatched:
	rouse__slots_give(&loop->sources, child->fd.source.id);
unnamed:
	rouse__free(&loop->allocator, child, sizeof *child);
	return error;
}

/* None is ever to be asked, and there is no fork. */
void rouse__children_dispatch(rouse_loop *loop)
{
	(void)loop;
}

void rouse__children_after_fork(rouse_loop *loop)
{
	(void)loop;
}
