/*
 * Timers as sources.
 *
 * A timer is in the heap, or due (gathered by a turn and not run yet), or neither.  While its
 * callback runs it is in neither place, whatever is asked for: what was asked for last is
 * put into the heap when the callback returns.  So it never fires inside itself, and one
 * that asks for "now" runs in the next turn.
 */
#include "core/loop.h"

#include "base/alloc.h"

struct timer {
	struct rouse__source source;
	struct rouse__heap_item item;
	struct rouse__list due; /* in the loop's list of due ones */
	rouse_ns deadline, period, slack;
	rouse_timer_fn fn;
	void *data;
};

static struct timer *timer_of(struct rouse__source *source)
{
	return ROUSE__CONTAINER(source, struct timer, source);
}

static rouse_ns sum(rouse_ns a, rouse_ns b)
{
	return a > ROUSE_NEVER - b ? ROUSE_NEVER : a + b;
}

static void enqueue(rouse_loop *loop, struct timer *timer)
{
	if (timer->deadline == ROUSE_NEVER)
		return;
	rouse__heap_insert(&loop->timers, &timer->item, timer->deadline,
	                   sum(timer->deadline, timer->slack));
	rouse__guest_rearm(loop);
}

static void dequeue(rouse_loop *loop, struct timer *timer)
{
	if (timer->item.index != ROUSE__HEAP_OUT)
		rouse__heap_remove(&loop->timers, &timer->item);
	rouse__list_unlink(&timer->due);
}

static void unlink_timer(rouse_loop *loop, struct rouse__source *source)
{
	dequeue(loop, timer_of(source));
	loop->timer_count--;
}

static void resume_timer(rouse_loop *loop, struct rouse__source *source)
{
	enqueue(loop, timer_of(source));
}

static const struct rouse__source_ops timer_ops = {
        .size = sizeof(struct timer),
        .unlink = unlink_timer,
        .resume = resume_timer,
};

int rouse_timer_add(rouse_loop *loop, rouse_ns deadline, rouse_ns period, rouse_ns slack,
                    rouse_timer_fn fn, void *data, rouse_source *ret_source)
{
	struct timer *timer;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (!fn)
		return ROUSE_EINVAL;
	if (!rouse__heap_reserve(&loop->timers, &loop->allocator, loop->timer_count + 1))
		return ROUSE_ENOMEM;
	timer = rouse__alloc(&loop->allocator, sizeof *timer);
	if (!timer)
		return ROUSE_ENOMEM;
	*timer = (struct timer){
	        .source.ops = &timer_ops,
	        .item.index = ROUSE__HEAP_OUT,
	        .deadline = deadline,
	        .period = period,
	        .slack = slack,
	        .fn = fn,
	        .data = data,
	};
	rouse__list_init(&timer->due);
	error = rouse__source_name(loop, &timer->source);
	if (error) {
		rouse__free(&loop->allocator, timer, sizeof *timer);
		return error;
	}
	loop->timer_count++;
	enqueue(loop, timer);
	if (ret_source)
		ret_source->id = timer->source.id;
	return 0;
}

int rouse_timer_set(rouse_loop *loop, rouse_source name, rouse_ns deadline, rouse_ns period,
                    rouse_ns slack)
{
	struct rouse__source *source;
	struct timer *timer;
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	source = rouse__source_find(loop, name);
	if (!source)
		return ROUSE_ESTALE;
	if (source->ops != &timer_ops)
		return ROUSE_EINVAL;
	timer = timer_of(source);
	timer->deadline = deadline;
	timer->period = period;
	timer->slack = slack;
	if (!source->running) {
		dequeue(loop, timer);
		enqueue(loop, timer);
	}
	return 0;
}

void rouse__timers_gather(rouse_loop *loop)
{
	rouse_ns now = loop->ops->now(loop->poller);

	for (unsigned n = 0; n < loop->max_batch && rouse__heap_first(&loop->timers) <= now; n++) {
		struct rouse__heap_item *item = loop->timers.entries[0].item;
		struct timer *timer = ROUSE__CONTAINER(item, struct timer, item);

		rouse__heap_remove(&loop->timers, item);
		rouse__list_append(&loop->due, &timer->due);
	}
	loop->late_timers = rouse__heap_first(&loop->timers) <= now;
	if (loop->late_timers)
		rouse__count(loop->remote, timers_over, 1);
}

/* The deadline after this one that has not been missed yet. */
static void advance(rouse_loop *loop, struct timer *timer)
{
	rouse_ns now, missed;

	if (!timer->period) {
		timer->deadline = ROUSE_NEVER;
		return;
	}
	now = loop->ops->now(loop->poller);
	missed = now > timer->deadline ? (now - timer->deadline) / timer->period : 0;
	rouse__count(loop->remote, timers_skipped, missed);
	timer->deadline = sum(sum(timer->deadline, missed * timer->period), timer->period);
}

void rouse__timers_dispatch(rouse_loop *loop)
{
	while (!rouse__list_empty(&loop->due) && rouse__ours(loop)) {
		struct timer *timer = ROUSE__CONTAINER(loop->due.next, struct timer, due);
		rouse_ns deadline = timer->deadline;
		struct rouse__frame frame;

		rouse__list_unlink(&timer->due);
		advance(loop, timer);
		rouse__count(loop->remote, callbacks, 1);
		rouse__enter(loop, &frame, &timer->source);
		timer->source.suspended = 1;
		timer->fn(loop, (rouse_source){timer->source.id}, deadline, timer->data);
		rouse__leave(loop, &frame);
	}
}
