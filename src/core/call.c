/*
 * Calls: posts that somebody waits for.
 *
 * A loop's thread that waits takes no turn.  So threads that wait for each other's loops in a ring
 * would wait for ever, and whoever would close the ring is refused.  Each call under way stands in
 * one list, by who waits and for whom; a thread waits for one other at most, so from the
 * thread to be called there is one path to follow; none leads back to a thread without a loop.
 * A call leaves the list before its waiter is let go: the thread that ran it may be the next to
 * call that waiter.
 */
#include "core/loop.h"

#include "base/list.h"
#include "os/os.h"

struct call {
	rouse_task task;
	rouse_post_fn fn;
	void *data;
	int result;
	struct rouse__gate done;
	uint64_t caller, callee; /* threads */
	struct rouse__list link;
};

static struct rouse__list under_way;
/* Whose list that is: a forked child inherits calls of threads that are not there. */
static uint64_t process;

static struct rouse__list *calls_under_way(void)
{
	if (process != rouse__process()) {
		process = rouse__process();
		rouse__list_init(&under_way);
	}
	return &under_way;
}

static const struct call *call_of(const struct rouse__list *calls, uint64_t thread)
{
	for (struct rouse__list *l = calls->next; l != calls; l = l->next)
		if (ROUSE__CONTAINER(l, struct call, link)->caller == thread)
			return ROUSE__CONTAINER(l, struct call, link);
	return NULL;
}

static int begin(struct call *call)
{
	struct rouse__list *calls;
	const struct call *next;
	uint64_t thread = call->callee;
	int may_close_a_ring = rouse__thread_has_loops();

	rouse__lock();
	calls = calls_under_way();
	while (may_close_a_ring && thread != call->caller && (next = call_of(calls, thread)))
		thread = next->callee;
	if (thread != call->caller)
		rouse__list_append(calls, &call->link);
	rouse__unlock();
	return thread == call->caller ? ROUSE_EDEADLOCK : 0;
}

static void end(struct call *call)
{
	rouse__lock();
	rouse__list_unlink(&call->link);
	rouse__unlock();
}

void rouse__call_run(rouse_loop *loop, rouse_task *task)
{
	struct call *call = ROUSE__CONTAINER(task, struct call, task);
	uint64_t before = rouse__process();

	call->fn(loop, call->data);
	/* It may have forked: in the child there is no such call. */
	if (before != rouse__process())
		return;
	end(call);
	rouse__gate_open(&call->done);
}

static void cancel_call(rouse_task *task)
{
	struct call *call = ROUSE__CONTAINER(task, struct call, task);

	call->result = ROUSE_ECLOSED;
	end(call);
	rouse__gate_open(&call->done);
}

static struct call *call_to(const struct rouse__list *calls, uint64_t thread)
{
	for (struct rouse__list *l = calls->next; l != calls; l = l->next)
		if (ROUSE__CONTAINER(l, struct call, link)->callee == thread)
			return ROUSE__CONTAINER(l, struct call, link);
	return NULL;
}

/* This thread ends, and its loops' queues are closed: what is left is the call that it ends in. */
void rouse__calls_abandon(void)
{
	struct call *call;

	do {
		rouse__lock();
		call = call_to(calls_under_way(), rouse__thread_serial());
		if (call) {
			rouse__list_unlink(&call->link);
			call->result = ROUSE_ECLOSED;
			/* Under the lock: one that was refused does not wait at its gate, but must
			 * come by here before its stack is gone. */
			rouse__gate_open(&call->done);
		}
		rouse__unlock();
	} while (call);
}

static int call_inline(rouse_remote *remote, rouse_post_fn fn, void *data)
{
	rouse_loop *loop = remote->loop;
	struct rouse__frame frame;

	if (rouse__remote_closed(remote))
		return ROUSE_ECLOSED;
	rouse__count(remote, posts_run, 1);
	rouse__count(remote, callbacks, 1);
	rouse__enter(loop, &frame, NULL);
	fn(loop, data);
	rouse__leave(loop, &frame);
	return 0;
}

int rouse_call(rouse_remote *remote, rouse_post_fn fn, void *data)
{
	struct call call = {
	        .task = {.run = rouse__call_run, .cancel = cancel_call},
	        .fn = fn,
	        .data = data,
	        .done = ROUSE__GATE_CLOSED,
	        .caller = rouse__thread_serial(),
	};
	int error;

	if (!remote || !fn)
		return ROUSE_EINVAL;
	if (rouse__remote_forked(remote))
		return ROUSE_EFORKED;
	call.callee = remote->owner;
	if (call.caller == call.callee)
		return call_inline(remote, fn, data);
	error = begin(&call);
	if (error)
		return error;
	error = rouse__remote_push(remote, &call.task);
	if (error == ROUSE_ECLOSED) {
		end(&call);
		return error;
	}
	rouse__gate_wait(&call.done);
	return call.result;
}
