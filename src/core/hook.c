/* Hooks: what a display does around the wait. */
#include "core/loop.h"

#include "base/alloc.h"
#include "base/sized.h"

struct hook {
	struct rouse__fd_source fd; /* first: a hook's descriptor is set like any other's */
	struct rouse__list link;
	rouse_hook does;
	void *data;
	unsigned ready;         /* what the poller reported in this wait */
	unsigned char prepared; /* since the last check */
	unsigned char work;     /* gathered: dispatch is due */
};

static struct hook *hook_of(struct rouse__list *link)
{
	return ROUSE__CONTAINER(link, struct hook, link);
}

static struct hook *hook_of_source(struct rouse__source *source)
{
	return ROUSE__CONTAINER(source, struct hook, fd.source);
}

static rouse_source name_of(const struct hook *hook)
{
	return (rouse_source){hook->fd.source.id};
}

/* The user's, in the middle of a removal: it must neither turn nor destroy the loop. */
static void release(rouse_loop *loop, struct hook *hook)
{
	struct rouse__frame frame;
	unsigned char before = loop->no_turn;

	if (!hook->does.release)
		return;
	rouse__enter(loop, &frame, NULL);
	loop->no_turn = 1;
	hook->does.release(loop, hook->data);
	loop->no_turn = before;
	rouse__leave(loop, &frame);
}

static void unlink_hook(rouse_loop *loop, struct rouse__source *source)
{
	struct hook *hook = hook_of_source(source);

	if (loop->next_hook == &hook->link)
		loop->next_hook = hook->link.next;
	rouse__list_unlink(&hook->link);
	if (hook->fd.watch.fd != ROUSE_NO_FD)
		rouse__fd_unwatch(loop, &hook->fd);
	release(loop, hook);
}

static void note_ready(rouse_loop *loop, struct rouse__source *source, unsigned events)
{
	(void)loop;
	hook_of_source(source)->ready |= events;
}

static const struct rouse__source_ops hook_ops = {
        .size = sizeof(struct hook),
        .ready = note_ready,
        .users_fd = 1,
        .unlink = unlink_hook,
        .suspend = rouse__fd_suspend,
        .resume = rouse__fd_resume,
};

/* One that is not is of no pass: it waits for its release, and costs a turn nothing. */
static int around_the_wait(const rouse_hook *does)
{
	return does->prepare || does->check || does->dispatch || does->fd != ROUSE_NO_FD;
}

int rouse_hook_add(rouse_loop *loop, const rouse_hook *does, void *data, rouse_source *ret_source)
{
	rouse_hook ours;
	struct hook *hook;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (!does)
		return ROUSE_EINVAL;
	error = rouse__sized_in(&ours, sizeof ours, does, does->size, sizeof ours);
	if (error)
		return error;
	if (ours.fd == ROUSE_NO_FD ? ours.events != 0 : rouse__fd_check(ours.fd, ours.events) != 0)
		return ROUSE_EINVAL;
	hook = rouse__zalloc(&loop->allocator, sizeof *hook);
	if (!hook)
		return ROUSE_ENOMEM;
	hook->fd.source.ops = &hook_ops;
	hook->fd.watch.fd = ours.fd;
	hook->fd.events = ours.events;
	hook->does = ours;
	hook->data = data;
	error = rouse__source_name(loop, &hook->fd.source);
	if (error)
		goto unnamed;
	error = ours.fd == ROUSE_NO_FD ? 0 : rouse__fd_watch(loop, &hook->fd);
	if (error)
		goto unwatched;
	if (ret_source)
		*ret_source = name_of(hook);
	rouse__list_init(&hook->link);
	if (!around_the_wait(&ours))
		return 0;
	rouse__list_append(&loop->hooks, &hook->link);
	/* Added by the last hook's prepare, it belongs to that pass: the wait comes right after. */
	if (loop->next_hook == &loop->hooks)
		loop->next_hook = &hook->link;
	rouse__guest_hook_added(loop);
	return 0;

unwatched:
	rouse__slots_give(&loop->sources, hook->fd.source.id);
unnamed:
	rouse__free(&loop->allocator, hook, sizeof *hook);
	return error;
}

/* ---- Around the wait -------------------------------------------------------- */

/* A pass may add and remove hooks, the one being called included: the next one is kept where
 * removal can see it. */
static struct hook *next_in_pass(rouse_loop *loop)
{
	struct rouse__list *link = loop->next_hook;

	if (link == &loop->hooks)
		return NULL;
	loop->next_hook = link->next;
	return hook_of(link);
}

static void begin_pass(rouse_loop *loop)
{
	loop->no_turn = 1;
	loop->next_hook = loop->hooks.next;
}

static void end_pass(rouse_loop *loop)
{
	loop->no_turn = 0;
	loop->next_hook = NULL;
}

rouse_ns rouse__hooks_prepare(rouse_loop *loop, unsigned flags)
{
	rouse_ns until = ROUSE_NEVER;
	struct rouse__frame frame;
	struct hook *hook;

	loop->held = (flags & ROUSE_PREPARE_HOLD) != 0;
	begin_pass(loop);
	while ((hook = next_in_pass(loop))) {
		/* One that is suspended will not be checked after the wait: it may hold nothing. */
		int suspended = hook->fd.source.running != 0;
		rouse_ns wish = ROUSE_NEVER;

		hook->prepared = 1;
		if (!hook->does.prepare)
			continue;
		rouse__enter(loop, &frame, &hook->fd.source);
		wish = hook->does.prepare(loop, name_of(hook), suspended ? 0 : flags, hook->data);
		rouse__leave(loop, &frame);
		if (!suspended && wish < until)
			until = wish;
	}
	end_pass(loop);
	return until;
}

void rouse__hooks_check(rouse_loop *loop)
{
	struct rouse__frame frame;
	struct hook *hook;

	loop->held = 0;
	begin_pass(loop);
	while ((hook = next_in_pass(loop))) {
		unsigned ready = hook->ready;
		int work;

		if (!hook->prepared || hook->fd.source.running)
			continue;
		hook->ready = 0;
		hook->prepared = 0;
		if (!hook->does.check) {
			hook->work |= ready != 0;
			continue;
		}
		rouse__enter(loop, &frame, &hook->fd.source);
		work = hook->does.check(loop, name_of(hook), ready, hook->data);
		/* What a host gathered before it prepared anew is still to be dispatched. */
		if (!hook->fd.source.gone)
			hook->work |= work != 0;
		rouse__leave(loop, &frame);
	}
	end_pass(loop);
}

/* ---- Dispatch ----------------------------------------------------------------- */

static struct hook *first_with_work(const rouse_loop *loop)
{
	for (struct rouse__list *l = loop->hooks.next; l != &loop->hooks; l = l->next)
		if (hook_of(l)->work && !hook_of(l)->fd.source.running)
			return hook_of(l);
	return NULL;
}

int rouse__hooks_work(const rouse_loop *loop)
{
	return first_with_work(loop) != NULL;
}

void rouse__hooks_dispatch(rouse_loop *loop)
{
	struct hook *hook;
	int over = 0;

	while (rouse__ours(loop) && (hook = first_with_work(loop))) {
		struct rouse__frame frame;
		int handled;

		hook->work = 0;
		if (!hook->does.dispatch)
			continue;
		rouse__enter(loop, &frame, &hook->fd.source);
		handled = hook->does.dispatch(loop, name_of(hook), loop->max_batch, hook->data);
		rouse__leave(loop, &frame);
		over |= handled >= (int)loop->max_batch;
		if (handled > 0)
			rouse__count(loop->remote, callbacks, (unsigned)handled);
	}
	if (over)
		rouse__count(loop->remote, hooks_over, 1);
}
