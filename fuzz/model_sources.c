/* The model's sources. */
#include "model.h"

static int first(const struct loop *loop)
{
	return loop->first_source;
}

static rouse_ns sum(rouse_ns a, rouse_ns b)
{
	return a > ROUSE_NEVER - b ? ROUSE_NEVER : a + b;
}

static void enter(struct loop *loop, struct source *source)
{
	loop->frames++;
	source->running++;
}

static void leave(struct loop *loop, struct source *source)
{
	loop->frames--;
	if (--source->running == 0)
		source->parked = 0;
}

/* A turn nested in callbacks begins: their sources are not reported meanwhile. */
void model_park(struct loop *loop)
{
	for (int i = first(loop); i < SOURCES; i++)
		if (m.sources[i].running)
			m.sources[i].parked = 1;
}

void model_remove(struct loop *loop, int number)
{
	struct source *source = &m.sources[number];
	enum kind kind = source->kind;
	int before = loop->no_turn;

	source->kind = NONE;
	source->armed = source->due = 0;
	source->work = source->prepared = 0;
	model_unwatch(loop, number);
	m.wakers[WAKERS + number].closed = 1;
	if (kind != HOOK || !(source->functions & RELEASES))
		return;
	loop->frames++;
	loop->no_turn = 1;
	(void)player_called(ON_RELEASE, (uint64_t)number, 0, 0);
	loop->no_turn = before;
	loop->frames--;
}

/* ---- Timers --------------------------------------------------------------------- */

void model_arm(struct loop *loop, struct source *timer)
{
	timer->due = 0;
	timer->armed = timer->deadline == ROUSE_NEVER ? 0 : ++loop->order;
}

static struct source *earliest(const struct loop *loop)
{
	struct source *found = NULL;

	for (int i = first(loop); i < SOURCES; i++) {
		struct source *timer = &m.sources[i];

		if (timer->armed && timer->deadline <= loop->clock &&
		    (!found || timer->deadline < found->deadline ||
		     (timer->deadline == found->deadline && timer->armed < found->armed)))
			found = timer;
	}
	return found;
}

void model_gather_timers(struct loop *loop)
{
	struct source *timer;

	for (unsigned n = 0; n < loop->max_batch && (timer = earliest(loop)); n++) {
		timer->armed = 0;
		timer->due = ++loop->due;
	}
	loop->late = earliest(loop) != NULL;
	if (loop->late)
		loop->counters[COUNTER(timers_over)]++;
}

rouse_ns model_latest(const struct loop *loop)
{
	rouse_ns latest = ROUSE_NEVER;

	for (int i = first(loop); i < SOURCES; i++) {
		const struct source *timer = &m.sources[i];

		if (timer->armed && sum(timer->deadline, timer->slack) < latest)
			latest = sum(timer->deadline, timer->slack);
	}
	return latest;
}

static int first_due(const struct loop *loop)
{
	int found = 0;

	for (int i = first(loop); i < SOURCES; i++)
		if (m.sources[i].due && (!found || m.sources[i].due < m.sources[found].due))
			found = i;
	return found;
}

int model_any_due(const struct loop *loop)
{
	return first_due(loop) != 0;
}

/* To the next multiple of the period that has not passed. */
static void advance(struct loop *loop, struct source *timer)
{
	rouse_ns missed = 0;

	if (!timer->period) {
		timer->deadline = ROUSE_NEVER;
		return;
	}
	if (loop->clock > timer->deadline)
		missed = (loop->clock - timer->deadline) / timer->period;
	loop->counters[COUNTER(timers_skipped)] += missed;
	timer->deadline = sum(timer->deadline + missed * timer->period, timer->period);
}

void model_run_timers(struct loop *loop)
{
	int number;

	while ((number = first_due(loop))) {
		struct source *timer = &m.sources[number];
		rouse_ns deadline = timer->deadline;

		timer->due = 0;
		advance(loop, timer);
		loop->counters[COUNTER(callbacks)]++;
		enter(loop, timer);
		(void)player_called(ON_TIMER, (uint64_t)number, deadline, 0);
		leave(loop, timer);
		if (timer->kind)
			model_arm(loop, timer);
	}
}

/* ---- Hooks ------------------------------------------------------------------------ */

rouse_ns model_prepare_hooks(struct loop *loop, unsigned flags)
{
	rouse_ns until = ROUSE_NEVER;

	loop->held = (flags & ROUSE_PREPARE_HOLD) != 0;
	for (int i = first(loop); i < SOURCES; i++) {
		struct source *hook = &m.sources[i];
		int suspended = hook->running != 0;
		rouse_ns wish;

		if (hook->kind != HOOK)
			continue;
		hook->prepared = 1;
		if (!(hook->functions & PREPARES))
			continue;
		loop->no_turn = 1;
		enter(loop, hook);
		wish = player_called(ON_PREPARE, (uint64_t)i, suspended ? 0 : flags, 0);
		leave(loop, hook);
		loop->no_turn = 0;
		if (!suspended && wish < until)
			until = wish;
	}
	return until;
}

void model_check_hooks(struct loop *loop)
{
	loop->held = 0;
	for (int i = first(loop); i < SOURCES; i++) {
		struct source *hook = &m.sources[i];
		unsigned ready = hook->ready;
		int work;

		if (hook->kind != HOOK || !hook->prepared || hook->running)
			continue;
		hook->ready = 0;
		hook->prepared = 0;
		if (!(hook->functions & CHECKS)) {
			hook->work |= ready != 0;
			continue;
		}
		loop->no_turn = 1;
		enter(loop, hook);
		work = player_called(ON_CHECK, (uint64_t)i, ready, 0) != 0;
		leave(loop, hook);
		loop->no_turn = 0;
		if (hook->kind)
			hook->work |= work;
	}
}

int model_hook_with_work(const struct loop *loop)
{
	for (int i = first(loop); i < SOURCES; i++)
		if (m.sources[i].kind == HOOK && m.sources[i].work && !m.sources[i].running)
			return i;
	return 0;
}

void model_run_hooks(struct loop *loop)
{
	int number, over = 0;

	while ((number = model_hook_with_work(loop))) {
		struct source *hook = &m.sources[number];
		int handled;

		hook->work = 0;
		if (!(hook->functions & DISPATCHES))
			continue;
		enter(loop, hook);
		handled = (int)player_called(ON_DISPATCH, (uint64_t)number, loop->max_batch, 0);
		leave(loop, hook);
		over |= handled >= (int)loop->max_batch;
		if (handled > 0)
			loop->counters[COUNTER(callbacks)] += (unsigned)handled;
	}
	if (over)
		loop->counters[COUNTER(hooks_over)]++;
}

/* ---- Descriptors --------------------------------------------------------------------- */

void model_run_fds(struct loop *loop)
{
	while (loop->batch_next < loop->batch_end) {
		int number = loop->batch[loop->batch_next].source;
		unsigned seen = loop->batch[loop->batch_next].events;
		struct source *fd = &m.sources[number];

		loop->batch_next++;
		seen &= fd->events ? fd->events | ROUSE_HANGUP | ROUSE_FDERROR : 0;
		if (fd->kind == NONE || fd->running || !seen)
			continue;
		loop->counters[COUNTER(callbacks)]++;
		enter(loop, fd);
		(void)player_called(ON_FD, (uint64_t)number, (uint64_t)fd->fd, seen);
		leave(loop, fd);
	}
}
