/* The model: a turn, and a guest's. */
#include "model.h"

static int gathered(const struct loop *loop)
{
	return (model_queued(&loop->taken) && loop->budget) || model_any_due(loop) ||
	       loop->batch_next < loop->batch_end || model_hook_with_work(loop);
}

static rouse_ns look_ahead(struct loop *loop, unsigned flags)
{
	int stop = loop->stop;
	rouse_ns until = model_prepare_hooks(loop, flags);

	if (loop->stop > stop)
		return 0;
	if (gathered(loop) || model_queued(&loop->taken) || loop->seen || loop->late)
		return 0;
	return until < model_latest(loop) ? until : model_latest(loop);
}

static void gather(struct loop *loop)
{
	model_take(loop);
	loop->budget = loop->max_batch;
	model_gather_timers(loop);
	model_check_hooks(loop);
	if (loop->rung && !gathered(loop))
		loop->counters[COUNTER(wakes_spurious)]++;
	loop->rung = 0;
}

static void run_gathered(struct loop *loop)
{
	if (loop->held)
		model_check_hooks(loop);
	if (!gathered(loop))
		return;
	model_run_posted(loop);
	model_run_timers(loop);
	model_run_hooks(loop);
	model_run_fds(loop);
}

static void sleep_until(struct loop *loop, rouse_ns deadline)
{
	if (deadline != 0 && (loop->hosted ? model_queued(&loop->queue) : !model_doze(loop)))
		deadline = 0;
	player_at(AT_ASLEEP);
	model_wait(loop, deadline);
	player_at(AT_WOKE);
}

int model_turn(rouse_ns deadline)
{
	struct loop *loop = m.loop;
	uint64_t before;

	if (!loop)
		return ROUSE_EINVAL;
	if (loop->no_turn || (loop->frames && !loop->hosted))
		return ROUSE_EBUSY;
	before = loop->counters[COUNTER(callbacks)];
	model_park(loop);
	if (gathered(loop)) {
		run_gathered(loop);
		deadline = 0;
	}
	if (deadline != 0 || !loop->hosted) {
		rouse_ns ahead = look_ahead(loop, ROUSE_PREPARE_HOLD);

		deadline = ahead < deadline ? ahead : deadline;
	}
	sleep_until(loop, deadline);
	gather(loop);
	run_gathered(loop);
	if (loop->hosted)
		(void)look_ahead(loop, 0);
	return (int)(loop->counters[COUNTER(callbacks)] - before);
}

int model_run(void)
{
	struct loop *loop = m.loop;

	if (!loop)
		return ROUSE_EINVAL;
	if (loop->frames || loop->hosted)
		return ROUSE_EBUSY;
	while (!loop->stop)
		(void)model_turn(ROUSE_NEVER);
	loop->stop = 0;
	return 0;
}

int model_stop(void)
{
	if (!m.loop)
		return ROUSE_EINVAL;
	m.loop->stop = 1;
	return 0;
}

int model_take_stop(void)
{
	int stop;

	if (!m.loop)
		return ROUSE_EINVAL;
	stop = m.loop->stop;
	m.loop->stop = 0;
	return stop;
}

int model_fd(void)
{
	return m.loop ? ROUSE_ENOTSUP : ROUSE_EINVAL;
}

int model_prepare(unsigned flags, rouse_ns *ret_deadline)
{
	struct loop *loop = m.loop;

	if (!loop || (flags & ~(unsigned)ROUSE_PREPARE_HOLD))
		return ROUSE_EINVAL;
	if (loop->no_turn)
		return ROUSE_EBUSY;
	if (!ret_deadline)
		return ROUSE_ENOTSUP;
	if (!loop->hosted) {
		loop->hosted = 1;
		(void)model_doze(loop);
	}
	*ret_deadline = look_ahead(loop, flags);
	if (model_queued(&loop->queue))
		*ret_deadline = 0;
	return 0;
}

static int guest(const struct loop *loop)
{
	if (!loop || !loop->hosted)
		return ROUSE_EINVAL;
	return loop->no_turn ? ROUSE_EBUSY : 0;
}

int model_check(int fd_readable)
{
	struct loop *loop = m.loop;
	int error = guest(loop);

	if (error)
		return error;
	model_park(loop);
	if (!gathered(loop)) {
		if (fd_readable)
			model_wait(loop, 0);
		gather(loop);
	} else if (loop->held) {
		model_check_hooks(loop);
	}
	return gathered(loop);
}

int model_dispatch(void)
{
	struct loop *loop = m.loop;
	int error = guest(loop);
	uint64_t before;

	if (error)
		return error;
	before = loop->counters[COUNTER(callbacks)];
	model_park(loop);
	run_gathered(loop);
	return (int)(loop->counters[COUNTER(callbacks)] - before);
}
