/*
 * An inherited loop becomes the child's.
 *
 * Memory was copied by the fork as it was, kernel objects are shared with the parent.  So what
 * is shared is replaced and never used, and what was half done by threads that are not there
 * any more is done or dropped: the queue is lock-free, so it is whole at every instant, and
 * only what stood between two steps of a producer is to be looked after.
 */
#include "core/loop.h"

#include "core/doorbell.h"

/* A call's node is on the stack of a thread that is not there, and nobody waits. */
static void drop_calls(struct rouse__tasks *tasks)
{
	rouse_task **link = &tasks->first;

	while (*link)
		if ((*link)->run == rouse__call_run)
			*link = (*link)->next;
		else
			link = &(*link)->next;
	tasks->end = link;
}

static void take_over_queue(rouse_loop *loop)
{
	rouse__tasks_append(&loop->later, rouse__remote_take(loop->remote, loop->hosted));
	drop_calls(&loop->todo);
	drop_calls(&loop->later);
	rouse__wakers_after_fork(loop);
	rouse__stop_after_fork(loop);
}

int rouse_loop_after_fork(rouse_loop *loop)
{
	uint64_t process;
	int error;

	if (!loop)
		return ROUSE_EINVAL;
	if (loop->remote->owner != *ROUSE__MINE(rouse__this_thread))
		return ROUSE_EWRONGTHREAD;
	if (!rouse__remote_forked(loop->remote))
		return 0;
	if (loop->no_turn)
		return ROUSE_EBUSY;
	error = rouse__process_number(&process);
	if (!error)
		error = rouse__doorbell_replace(loop->remote->doorbell);
	if (!error && loop->ops->after_fork)
		error = loop->ops->after_fork(loop->poller, loop);
	if (error)
		return error;
	loop->remote->process = process;
	take_over_queue(loop);
	rouse__signals_after_fork(loop);
	rouse__children_after_fork(loop);
	rouse__guest_after_fork(loop);
	return 0;
}
