/*
 * Child processes as sources.
 *
 * A child has a descriptor that is readable once it has ended: a pidfd, watched like any other.
 * Where the system has none, SIGCHLD says that some child has ended, and each is asked.  The
 * source waits for its child, so that its number stays its own until then, and is gone
 * after its one callback.
 */
#include "core/loop.h"

#include "base/alloc.h"
#include "core/fault.h"
#include "os/os.h"

#include <errno.h>
#include <signal.h>

struct child {
	struct rouse__fd_source fd; /* first; its descriptor is the pidfd, or none */
	struct rouse__list link;    /* in the list of children, or of those to be asked */
	rouse_process process;
	rouse_exit how;
	rouse_child_fn fn;
	void *data;
};

static struct child *child_of(struct rouse__list *link)
{
	return ROUSE__CONTAINER(link, struct child, link);
}

/* On the stack is its source, so it is there until that has left. */
static void tell(rouse_loop *loop, struct child *child)
{
	child->fn(loop, (rouse_source){child->fd.source.id}, child->process, &child->how,
	          child->data);
	if (!child->fd.source.gone && rouse__ours(loop))
		rouse__source_remove(loop, &child->fd.source);
}

static void pidfd_readable(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                           void *data)
{
	struct child *child = data;

	(void)self;
	(void)events;
	if (rouse__child_ended(child->process, fd, &child->how))
		tell(loop, child);
}

/* ---- Without pidfds --------------------------------------------------------------- */

static int needs_sigchld(rouse_loop *loop)
{
	if (!rouse__list_empty(&loop->to_ask))
		return 1;
	for (struct rouse__list *l = loop->children.next; l != &loop->children; l = l->next)
		if (child_of(l)->fd.watch.fd == ROUSE_NO_FD)
			return 1;
	return 0;
}

/* Some child has ended, and none says which: each is to be asked, once. */
static void some_ended(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct rouse__list *next;

	(void)self;
	(void)signo;
	(void)data;
	for (struct rouse__list *l = loop->children.next; l != &loop->children; l = next) {
		next = l->next;
		if (child_of(l)->fd.watch.fd != ROUSE_NO_FD)
			continue;
		rouse__list_unlink(l);
		rouse__list_append(&loop->to_ask, l);
	}
}

/* Asked right before its callback, not sooner: a callback may remove another one, and then that
 * child is still the caller's to wait for. */
void rouse__children_dispatch(rouse_loop *loop)
{
	while (!rouse__list_empty(&loop->to_ask) && loop->ask_budget && rouse__ours(loop)) {
		struct child *child = child_of(loop->to_ask.next);
		struct rouse__frame frame;

		rouse__list_unlink(&child->link);
		rouse__list_append(&loop->children, &child->link);
		if (child->fd.source.running ||
		    !rouse__child_ended(child->process, ROUSE_NO_FD, &child->how))
			continue;
		loop->ask_budget--;
		rouse__count(loop->remote, callbacks, 1);
		rouse__enter(loop, &frame, &child->fd.source);
		tell(loop, child);
		rouse__leave(loop, &frame);
	}
	if (!rouse__list_empty(&loop->to_ask) && rouse__ours(loop))
		rouse__count(loop->remote, fds_over, 1);
}

/* It may have ended before SIGCHLD was watched. */
static int watch_sigchld(rouse_loop *loop, struct child *child)
{
	int error = 0;

	child->fd.watch.fd = ROUSE_NO_FD;
	if (!rouse__source_find(loop, loop->sigchld))
		error = rouse__signal_add(loop, SIGCHLD, some_ended, NULL, 1, &loop->sigchld);
	if (!error)
		rouse__signal_again(loop, loop->sigchld);
	return error;
}

/* ---- The source ---------------------------------------------------------------------- */

static int watch(rouse_loop *loop, struct child *child)
{
	int error;

	child->fd.watch.fd = ROUSE__SYS(ROUSE__PIDFD, rouse__pidfd_open(child->process));
	child->fd.watch.fd = rouse__fd_adopt(child->fd.watch.fd);
	if (child->fd.watch.fd < 0)
		return errno == ENOSYS || errno == EPERM ? watch_sigchld(loop, child)
		                                         : rouse__os_failed(errno);
	error = rouse__fd_watch(loop, &child->fd);
	if (error)
		rouse__fd_close(child->fd.watch.fd);
	return error;
}

static void unlink_child(rouse_loop *loop, struct rouse__source *source)
{
	struct child *child = ROUSE__CONTAINER(source, struct child, fd.source);

	rouse__list_unlink(&child->link);
	if (child->fd.watch.fd != ROUSE_NO_FD) {
		rouse__fd_unwatch(loop, &child->fd);
		rouse__fd_close(child->fd.watch.fd);
	} else if (!needs_sigchld(loop)) {
		(void)rouse_remove(loop, loop->sigchld);
	}
}

static const struct rouse__source_ops child_ops = {
        .size = sizeof(struct child),
        .ready = rouse__fd_note_ready,
        .unlink = unlink_child,
        .suspend = rouse__fd_suspend,
        .resume = rouse__fd_resume,
};

static int is_in(const struct rouse__list *children, rouse_process process)
{
	for (struct rouse__list *l = children->next; l != children; l = l->next)
		if (child_of(l)->process == process && !child_of(l)->fd.source.running)
			return 1;
	return 0;
}

static int check(rouse_loop *loop, rouse_process process)
{
	int error;

	if (!(loop->ops->caps & ROUSE_CAP_CHILD))
		return ROUSE_ENOTSUP;
	if (is_in(&loop->children, process) || is_in(&loop->to_ask, process))
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
	if (process <= 0 || !fn)
		return ROUSE_EINVAL;
	error = check(loop, process);
	if (error)
		return error;
	child = rouse__zalloc(&loop->allocator, sizeof *child);
	if (!child)
		return ROUSE_ENOMEM;
	child->fd.source.ops = &child_ops;
	child->fd.events = ROUSE_READABLE;
	child->fd.fn = pidfd_readable;
	child->fd.data = child;
	child->process = process;
	child->fn = fn;
	child->data = data;
	error = rouse__source_name(loop, &child->fd.source);
	if (error)
		goto unnamed;
	error = watch(loop, child);
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

/* The parent's children are not this one's: whoever waits for one is to be told so. */
void rouse__children_after_fork(rouse_loop *loop)
{
	if (rouse__source_find(loop, loop->sigchld))
		rouse__signal_again(loop, loop->sigchld);
}
