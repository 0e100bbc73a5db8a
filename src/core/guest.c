/*
 * The loop as a guest of another one: who tells the host that there is work.
 *
 * A host watches one descriptor, the poller's own.  It is readable while a descriptor of ours
 * is ready, once the doorbell was rung (until a turn looks), and once the armed deadline has
 * passed.  Posts and wakes ring by themselves, because a guest's queue always says ASLEEP.
 * The rest is ours to say, at two moments:
 *
 *   Before callbacks run, because any of them may open a loop of the host's.  The next
 *   deadline is armed; and if more than one thing is to run, or a hook is there whose display
 *   may come to hold events that its descriptor does not show, the loop rings itself.
 *
 *   When a turn is over: hooks prepare, the deadline is armed, work left over rings.  If
 *   nothing is left, a ring of our own that no nested turn has used is taken back, so that the
 *   host is not woken for nothing; what another thread may have queued between is then seen
 *   in the queue, and rung for again.
 *
 * A host of messages (host.h) watches no descriptor: the doorbell's rings come as messages, and all
 * that a descriptor says is said by a ring.  What was reported, added or changed is watched (anew)
 * as the turn ends, so a change outside of it rings, too.
 *
 * A bracket host asks for the deadline before each of its waits, nested ones too, and then
 * the descriptor need not carry it, until the next turn.
 */
#include "core/loop.h"

#include "core/doorbell.h"
#include "core/fault.h"

/* A deadline that has passed says what a doorbell that is broken cannot. */
static int arm(rouse_loop *loop, rouse_ns deadline)
{
	if (!loop->carries || !rouse__ours(loop))
		return 0;
	return loop->ops->arm(loop->poller, loop->bell_broken ? 0 : deadline);
}

static void ring(rouse_loop *loop)
{
	if (rouse__doorbell_ring(loop->remote->doorbell) == 0)
		return;
	loop->bell_broken = 1;
	(void)arm(loop, 0);
}

static void self_ring(rouse_loop *loop)
{
	if (loop->self_rung)
		return;
	loop->self_rung = 1;
	ring(loop);
}

static void take_ring_back(rouse_loop *loop)
{
	if (!loop->self_rung)
		return;
	loop->self_rung = 0;
	loop->bell_broken = 0;
	ROUSE__PAUSE(ROUSE__TAKING_BACK);
	rouse__doorbell_absorb(loop->remote->doorbell);
	if (rouse__remote_waiting(loop->remote))
		ring(loop);
}

/* For what cannot report: a descriptor that carries deadlines was asked for, and then arming
 * does not fail (poller.h). */
void rouse__guest_rearm(rouse_loop *loop)
{
	if (loop->hosted)
		(void)arm(loop, rouse__heap_latest(&loop->timers));
}

void rouse__guest_hook_added(rouse_loop *loop)
{
	if (loop->carries)
		self_ring(loop);
}

/* The ring and the deadline are the parent's: let the host turn this loop once, to say both anew.
 */
void rouse__guest_after_fork(rouse_loop *loop)
{
	loop->self_rung = loop->bell_broken = 0;
	if (loop->hosted)
		self_ring(loop);
}

static int more_than_one(const rouse_loop *loop)
{
	unsigned things = 0;

	if (loop->todo.first)
		things += loop->todo.first->next ? 2 : 1;
	if (!rouse__list_empty(&loop->due))
		things += loop->due.next->next != &loop->due ? 2 : 1;
	/* A descriptor stays readable by itself, a message comes once. */
	if (loop->batch_next < loop->batch_count)
		things += loop->by_messages && loop->batch_count - loop->batch_next > 1 ? 2 : 1;
	if (!rouse__list_empty(&loop->to_ask))
		things += 2;
	return things > 1;
}

void rouse__guest_before_callbacks(rouse_loop *loop)
{
	if (!loop->carries || !rouse__ours(loop))
		return;
	rouse__guest_rearm(loop);
	if (!rouse__list_empty(&loop->hooks) || more_than_one(loop))
		self_ring(loop);
}

/* After a ring was taken back: what had rung besides is seen here. */
static int left_over(rouse_loop *loop)
{
#ifdef _WIN32
	return loop->by_messages && loop->ops->renew(loop->poller);
#else
	(void)loop;
	return 0;
#endif
}

static int carry(rouse_loop *loop, rouse_ns deadline)
{
	if (deadline == 0) {
		self_ring(loop);
		return 0;
	}
	take_ring_back(loop);
	if (left_over(loop))
		self_ring(loop);
	return arm(loop, deadline);
}

/* The end of rouse_loop_turn(): its caller was told no deadline, and watches the descriptor if it
 * ever asked for it. */
int rouse__guest_settle(rouse_loop *loop)
{
	rouse_ns deadline = rouse__look_ahead(loop, 0);

	if (!rouse__ours(loop))
		return ROUSE_EFORKED;
	loop->carries = loop->has_fd;
	return loop->carries ? carry(loop, deadline) : 0;
}

/* From now on the queue says ASLEEP, if it is empty; else the next turn leaves it so.  What
 * was posted before has rung nobody. */
static void become_guest(rouse_loop *loop)
{
	if (loop->hosted)
		return;
	loop->hosted = 1;
	(void)rouse__remote_doze(loop->remote);
}

/* The first time the descriptor must say whatever was not said before. */
static int need_descriptor(rouse_loop *loop, rouse_fd *ret_fd)
{
	int error;

	if (!loop->ops->descriptor)
		return ROUSE_ENOTSUP;
	error = loop->ops->descriptor(loop->poller, ret_fd);
	if (error || loop->has_fd)
		return error;
	loop->has_fd = 1;
	loop->carries = 1;
	become_guest(loop);
	self_ring(loop);
	return 0;
}

#ifdef _WIN32
void rouse__guest_changed(rouse_loop *loop)
{
	if (loop->by_messages)
		self_ring(loop);
}

void rouse__guest_of_messages(rouse_loop *loop)
{
	loop->by_messages = loop->has_fd = loop->carries = 1;
	become_guest(loop);
	self_ring(loop);
}

void rouse__guest_of_nobody(rouse_loop *loop)
{
	loop->by_messages = loop->has_fd = loop->carries = loop->self_rung = 0;
}
#endif

int rouse_loop_fd(rouse_loop *loop, rouse_fd *ret_fd)
{
	rouse_fd fd;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (!ret_fd)
		return ROUSE_EINVAL;
	error = need_descriptor(loop, &fd);
	if (error)
		return error;
	*ret_fd = fd;
	return 0;
}

int rouse_loop_prepare(rouse_loop *loop, unsigned flags, rouse_ns *ret_deadline)
{
	rouse_ns deadline;
	rouse_fd fd;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (flags & ~(unsigned)ROUSE_PREPARE_HOLD)
		return ROUSE_EINVAL;
	if (loop->no_turn)
		return ROUSE_EBUSY;
	/* Only on a virtual clock can a host sleep with nothing to watch. */
	if (!ret_deadline)
		error = loop->has_fd ? 0 : need_descriptor(loop, &fd);
	else if (!loop->ops->descriptor && !loop->ops->is_virtual)
		error = ROUSE_ENOTSUP;
	if (error)
		return error;
	become_guest(loop);
	deadline = rouse__look_ahead(loop, flags);
	if (!rouse__ours(loop))
		return ROUSE_EFORKED;
	if (rouse__remote_waiting(loop->remote))
		deadline = 0;
	if (!ret_deadline) {
		loop->carries = 1;
		return carry(loop, deadline);
	}
	take_ring_back(loop);
	error = arm(loop, ROUSE_NEVER);
	loop->carries = 0;
	*ret_deadline = deadline;
	return error;
}

int rouse_loop_check(rouse_loop *loop, int fd_readable)
{
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (!loop->hosted)
		return ROUSE_EINVAL;
	if (loop->no_turn)
		return ROUSE_EBUSY;
	rouse__suspend_running(loop);
	if (!rouse__gathered(loop)) {
		error = fd_readable ? rouse__look(loop, 0) : 0;
		rouse__gather(loop);
	} else if (loop->held) {
		/* What is of the host's may run before we are dispatched. */
		rouse__hooks_check(loop);
	}
	if (!rouse__ours(loop))
		return ROUSE_EFORKED;
	return error ? error : rouse__gathered(loop);
}

int rouse_loop_dispatch(rouse_loop *loop)
{
	uint64_t before;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (!loop->hosted)
		return ROUSE_EINVAL;
	if (loop->no_turn)
		return ROUSE_EBUSY;
	before = rouse__callbacks(loop);
	rouse__suspend_running(loop);
	if (loop->held || rouse__gathered(loop))
		rouse__run_gathered(loop);
	if (!rouse__ours(loop))
		return ROUSE_EFORKED;
	return (int)(rouse__callbacks(loop) - before);
}

int rouse_loop_take_stop(rouse_loop *loop)
{
	int stop, error = rouse__check_owner(loop);

	if (error)
		return error;
	stop = loop->stop;
	loop->stop = 0;
	return stop;
}
