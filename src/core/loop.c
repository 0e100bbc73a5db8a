/*
 * One turn of a loop, from top to bottom.
 *
 *   look ahead   Hooks prepare; they and the timers say until when the wait may last.  Work
 *                that was left over says: not at all.
 *   doze         An unhosted loop that may wait marks its queue ASLEEP, if it is empty
 *                (remote.h has the protocol).  From then on the first producer rings.
 *   wait         The poller's, for descriptors, the doorbell and the deadline.  What it
 *                reports goes through the door (ready.h) into the batch, or to hooks.
 *   gather       What is to run is fixed here: the queue is taken, due timers leave the heap,
 *                hooks check.  Whatever callbacks add from now on is of the next turn.
 *   run          Posted work and wakers, timers by deadline, hooks, descriptors, children without
 *                one: in this order, at most max_batch of each.  Posts over the budget stay in
 *                `todo`, timers in the heap, hooks say so in their next prepare, and descriptors
 *                are reported again by the poller, which is level-triggered and takes turns among
 *                them.  A pool for what they autorelease is around all of them.
 *
 * A turn in a callback.  A guest's host may run its own loop inside one of our callbacks (a
 * modal dialog) and turn us from there.  What was gathered lives in the loop, so the nested
 * turn goes on with it first, and the outer one finds it done.  Sources whose callback is
 * on the stack are kept quiet meanwhile.  To be turned at all inside that loop, a guest's
 * descriptor must be readable before a callback runs if anything else is left to do
 * (guest.c).  An unhosted loop refuses a nested turn: nobody but it turns it.
 *
 * A fork in a callback.  The child returns from that callback into the turn, too.  Unless it has
 * taken the loop over (fork.c) nothing more runs there, and the poller is not touched.
 */
#include "core/loop.h"

#include "core/fault.h"

static rouse_ns earlier(rouse_ns a, rouse_ns b)
{
	return a < b ? a : b;
}

rouse_ns rouse__look_ahead(rouse_loop *loop, unsigned flags)
{
	rouse_ns until = ROUSE_NEVER;

	if (!rouse__list_empty(&loop->hooks)) {
		unsigned char stop = loop->stop;

		until = rouse__hooks_prepare(loop, flags);
		/* Just asked for; an older one, not used up yet, is no reason to spin. */
		if (loop->stop > stop)
			return 0;
	}
	if (rouse__gathered(loop) || loop->todo.first || loop->later.first || loop->late_timers ||
	    !rouse__list_empty(&loop->to_ask))
		return 0;
	return earlier(until, rouse__heap_latest(&loop->timers));
}

/* Ask the poller, as long as `deadline` allows, and note what it reports. */
int rouse__look(rouse_loop *loop, rouse_ns deadline)
{
	int error;

	loop->batch_next = loop->batch_count = 0;
	loop->rung = 0;
	error = loop->ops->wait(loop->poller, deadline, loop);
	if (loop->batch_count == loop->max_batch)
		rouse__count(loop->remote, fds_over, 1);
	rouse__count(loop->remote, turns, 1);
	if (loop->rung || loop->bell_broken)
		loop->self_rung = loop->bell_broken = 0;
	return error;
}

static int wait_until(rouse_loop *loop, rouse_ns deadline)
{
	int error;

	/* What was queued before the loop became a guest has rung nobody. */
	if (deadline != 0 && (loop->hosted ? rouse__remote_waiting(loop->remote)
	                                   : !rouse__remote_doze(loop->remote)))
		deadline = 0;
	ROUSE__PAUSE(ROUSE__MARKED_ASLEEP);
	error = rouse__look(loop, deadline);
	ROUSE__PAUSE(ROUSE__WOKE);
	return error;
}

void rouse__gather(rouse_loop *loop)
{
	rouse__tasks_move(&loop->todo, &loop->later);
	rouse__tasks_append(&loop->todo, rouse__remote_take(loop->remote, loop->hosted));
	loop->todo_budget = loop->max_batch;
	loop->late_timers = 0;
	if (loop->timers.count)
		rouse__timers_gather(loop);
	loop->ask_budget = loop->max_batch;
	if (!rouse__list_empty(&loop->hooks))
		rouse__hooks_check(loop);
	if (loop->rung && !rouse__gathered(loop))
		rouse__count(loop->remote, wakes_spurious, 1);
	loop->rung = 0;
}

static void run_posted(rouse_loop *loop)
{
	while (loop->todo.first && loop->todo_budget && rouse__ours(loop)) {
		rouse_task *task = rouse__tasks_pop(&loop->todo);

		loop->todo_budget--;
		rouse__task_run(loop, task);
	}
	if (loop->todo.first)
		rouse__count(loop->remote, posts_over, 1);
	rouse__slab_give(&loop->remote->posts, &loop->spent_posts);
}

static void run_each_kind(rouse_loop *loop)
{
	if (loop->todo.first)
		run_posted(loop);
	if (!rouse__list_empty(&loop->due))
		rouse__timers_dispatch(loop);
	if (!rouse__list_empty(&loop->hooks))
		rouse__hooks_dispatch(loop);
	if (loop->batch_next < loop->batch_count)
		rouse__fd_dispatch(loop);
	if (!rouse__list_empty(&loop->to_ask))
		rouse__children_dispatch(loop);
}

/* The pool is a frame of its own, which is left last: release functions may do what a callback
 * may, and neither destroy the loop nor turn one that is no guest. */
static void run_in_pool(rouse_loop *loop)
{
	unsigned char outer = loop->in_pool;
	struct rouse__frame frame;
	rouse_pool pool = rouse__pool_begin();

	loop->in_pool = 1;
	run_each_kind(loop);
	if (!rouse__pool_end_empty(pool)) {
		rouse__enter(loop, &frame, NULL);
		rouse__pool_end(pool);
		rouse__leave(loop, &frame);
	}
	loop->in_pool = outer;
}

void rouse__run_gathered(rouse_loop *loop)
{
	/* Prepared anew by a host that had gathered already, and has not checked since. */
	if (loop->held) {
		rouse__hooks_check(loop);
		if (!rouse__gathered(loop))
			return;
	}
	if (loop->hosted)
		rouse__guest_before_callbacks(loop);
	if (loop->pool_policy == ROUSE_POOL_PER_TURN)
		run_in_pool(loop);
	else
		run_each_kind(loop);
}

int rouse_loop_turn(rouse_loop *loop, rouse_ns deadline)
{
	int error = rouse__check_owner(loop);
	uint64_t before;

	if (error)
		return error;
	if (loop->no_turn || (loop->frames && !loop->hosted))
		return ROUSE_EBUSY;
	before = rouse__callbacks(loop);
	if (loop->frames)
		rouse__suspend_running(loop);
	if (rouse__gathered(loop)) {
		rouse__run_gathered(loop);
		deadline = 0;
	}
	if (deadline != 0 || !loop->hosted)
		deadline = earlier(deadline, rouse__look_ahead(loop, ROUSE_PREPARE_HOLD));
	if (!rouse__ours(loop))
		return ROUSE_EFORKED;
	error = wait_until(loop, deadline);
	rouse__gather(loop);
	if (rouse__gathered(loop))
		rouse__run_gathered(loop);
	if (!rouse__ours(loop))
		return ROUSE_EFORKED;
	if (loop->hosted) {
		int settled = rouse__guest_settle(loop);

		error = error ? error : settled;
	}
	return error ? error : (int)(rouse__callbacks(loop) - before);
}

int rouse_loop_run(rouse_loop *loop)
{
	int result = rouse__check_owner(loop);

	if (result)
		return result;
	if (loop->frames || loop->hosted)
		return ROUSE_EBUSY;
	while (result >= 0 && !loop->stop)
		result = rouse_loop_turn(loop, ROUSE_NEVER);
	if (result < 0)
		return result;
	loop->stop = 0;
	return 0;
}

int rouse_loop_stop(rouse_loop *loop)
{
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	loop->stop = 1;
	rouse__guest_changed(loop);
	return 0;
}
