/*
 * Wakers: wakes that coalesce.
 *
 * A waker is a node of the loop's queue with two bits.  PENDING: the node is queued, or about
 * to be, by whoever set the bit.  CLOSED: the callback will not run again.  Both are set by
 * fetch-or, so that neither erases the other.
 *
 *   Waking     sets PENDING.  If it was not set before, this thread queues the node; if it
 *              was, the run that will answer has not cleared it yet, and will see what was
 *              written before this call, because setting and clearing are read-modify-writes
 *              of one word: the clearing reads what this call put there.  A relaxed look
 *              first ("it is pending anyway") would lose just that, on every processor.
 *   Running    takes the node off the queue and reads its link, then clears PENDING, then
 *              calls.  A wake from then on queues the node again.
 *
 * References.  `users` are the caller's.  `references` keep the memory: one for all users
 * together, one for the loop's list of wakers, one while PENDING, which the queue holds.
 * The last user leaves from any thread, but only the loop's thread may take the waker off
 * the list: so that user closes the waker and queues it once more, and the run that finds it
 * closed takes it off.  If the queue is closed then, destroying the loop does it.
 *
 * Fork.  A thread of the parent may have been between setting PENDING and queueing, and is not
 * there in the child to go on: there, what is pending and not queued is queued.
 */
#include "core/loop.h"

#include "base/alloc.h"
#include "core/fault.h"
#include "os/os.h"

#include <stdatomic.h>

enum { PENDING = 1u << 0, CLOSED = 1u << 1 };

struct rouse_waker {
	rouse_task task;
	_Atomic unsigned state;
	atomic_size_t users, references;
	rouse_remote *remote;
	struct rouse__list link; /* in the loop's list, until closed on its thread */
	rouse_wake_fn fn;
	void *data;
	unsigned char listed;
	unsigned char running; /* its callback is on the stack */
	unsigned char again;   /* and it was woken since, in a nested turn */
	unsigned char queued;  /* found in the queue, after a fork */
	unsigned char quiet;   /* its callback is none of the user's */
};

static void put(rouse_waker *waker)
{
	rouse_remote *remote = waker->remote;

	if (atomic_fetch_sub_explicit(&waker->references, 1, memory_order_acq_rel) != 1)
		return;
	rouse__free(&remote->allocator, waker, sizeof *waker);
	rouse_remote_unref(remote);
}

/* PENDING was set by the caller: queue the node, with a reference for the queue.  Not in a forked
 * child.  Out of the way of a wake that finds it set. */
__attribute__((noinline)) static int queue(rouse_waker *waker)
{
	int result;

	atomic_fetch_add_explicit(&waker->references, 1, memory_order_relaxed);
	result = rouse__remote_push(waker->remote, &waker->task);
	if (result == ROUSE_ECLOSED)
		put(waker);
	return result;
}

int rouse_wake(rouse_waker *waker)
{
	unsigned old;

	if (!waker)
		return ROUSE_EINVAL;
	if (rouse__remote_forked(waker->remote))
		return ROUSE_EFORKED;
#ifdef ROUSE_MUTANT_RELAXED /* the litmus test must see this lose wakes */
	if (atomic_load_explicit(&waker->state, memory_order_relaxed) & PENDING)
		return 0;
#endif
	old = atomic_fetch_or_explicit(&waker->state, PENDING, memory_order_acq_rel);
	if (old & CLOSED)
		return ROUSE_ECLOSED;
	if (old & PENDING)
		return 0;
	ROUSE__PAUSE(ROUSE__SET_PENDING);
	return queue(waker);
}

rouse_waker *rouse_waker_ref(rouse_waker *waker)
{
	if (waker)
		atomic_fetch_add_explicit(&waker->users, 1, memory_order_relaxed);
	return waker;
}

rouse_waker *rouse_waker_unref(rouse_waker *waker)
{
	if (!waker || atomic_fetch_sub_explicit(&waker->users, 1, memory_order_acq_rel) != 1)
		return NULL;
	if (atomic_fetch_or_explicit(&waker->state, PENDING | CLOSED, memory_order_acq_rel) == 0 &&
	    !rouse__remote_forked(waker->remote))
		(void)queue(waker);
	put(waker);
	return NULL;
}

/* ---- On the loop's thread --------------------------------------------------- */

static void unlist(rouse_waker *waker)
{
	if (!waker->listed)
		return;
	waker->listed = 0;
	rouse__list_unlink(&waker->link);
	put(waker);
}

void rouse__waker_cancel(rouse_task *task)
{
	put(ROUSE__CONTAINER(task, rouse_waker, task));
}

int rouse_waker_create(rouse_loop *loop, rouse_wake_fn fn, void *data, rouse_waker **ret_waker)
{
	rouse_waker *waker;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (!ret_waker)
		return ROUSE_EINVAL;
	if (rouse__remote_closed(loop->remote))
		return ROUSE_ECLOSED;
	waker = rouse__zalloc(&loop->allocator, sizeof *waker);
	if (!waker)
		return ROUSE_ENOMEM;
	atomic_init(&waker->state, 0);
	atomic_init(&waker->users, 1);
	atomic_init(&waker->references, 2);
	waker->task.run = rouse__waker_run;
	waker->remote = rouse_remote_ref(loop->remote);
	waker->fn = fn;
	waker->data = data;
	waker->listed = 1;
	rouse__list_append(&loop->wakers, &waker->link);
	*ret_waker = waker;
	return 0;
}

int rouse_waker_close(rouse_waker *waker)
{
	if (!waker)
		return ROUSE_EINVAL;
	if (rouse__remote_forked(waker->remote))
		return ROUSE_EFORKED;
	if (waker->remote->owner != *ROUSE__MINE(rouse__this_thread))
		return ROUSE_EWRONGTHREAD;
	atomic_fetch_or_explicit(&waker->state, CLOSED, memory_order_acq_rel);
	unlist(waker);
	return 0;
}

void rouse__waker_quiet(rouse_waker *waker)
{
	waker->quiet = 1;
}

void rouse__wakers_close(rouse_loop *loop)
{
	while (!rouse__list_empty(&loop->wakers)) {
		rouse_waker *waker = ROUSE__CONTAINER(loop->wakers.next, rouse_waker, link);

		atomic_fetch_or_explicit(&waker->state, CLOSED, memory_order_acq_rel);
		unlist(waker);
	}
}

static void call(rouse_loop *loop, rouse_waker *waker)
{
	struct rouse__frame frame;

	rouse__count(loop->remote, wakes_served, 1);
	if (!waker->fn)
		return;
	if (!waker->quiet)
		rouse__count(loop->remote, callbacks, 1);
	waker->running = 1;
	rouse__enter(loop, &frame, NULL);
	waker->fn(loop, waker->data);
	rouse__leave(loop, &frame);
	waker->running = 0;
}

void rouse__waker_run(rouse_loop *loop, rouse_task *task)
{
	rouse_waker *waker = ROUSE__CONTAINER(task, rouse_waker, task);
	unsigned old;

	/* Woken in a turn nested in its own callback: it stays pending until that returns. */
	if (waker->running) {
		waker->again = 1;
		return;
	}
	ROUSE__PAUSE(ROUSE__TOOK);
	old = atomic_fetch_and_explicit(&waker->state, ~(unsigned)PENDING, memory_order_acq_rel);
	if (old & CLOSED)
		unlist(waker);
	else
		call(loop, waker);
	if (waker->again) {
		waker->again = 0;
		if (!rouse__remote_forked(waker->remote))
			(void)queue(waker);
		put(waker);
	}
	put(waker);
}

static void mark_queued(const struct rouse__tasks *tasks)
{
	for (rouse_task *task = tasks->first; task; task = task->next)
		if (task->run == rouse__waker_run)
			ROUSE__CONTAINER(task, rouse_waker, task)->queued = 1;
}

void rouse__wakers_after_fork(rouse_loop *loop)
{
	mark_queued(&loop->todo);
	mark_queued(&loop->later);
	for (struct rouse__list *l = loop->wakers.next; l != &loop->wakers; l = l->next) {
		rouse_waker *waker = ROUSE__CONTAINER(l, rouse_waker, link);
		unsigned state = atomic_load_explicit(&waker->state, memory_order_acquire);

		if ((state & PENDING) && !waker->queued && !waker->again)
			(void)queue(waker);
		waker->queued = 0;
	}
}
