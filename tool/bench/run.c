#include "bench/run.h"

#include <string.h>

#include "bench/outside.h"
#include "interrupt.h"
#include "system.h"
#include "thread.h"
#include "tool.h"

/* From the start of the worker to its first call: everything is asleep by then. */
#define LEAD_NS (100 * 1000000ull)
/* How long after the last call an answer is waited for. */
#define GRACE_NS (2 * TOOL_NS_PER_SEC)
#define MS 1000000ull
#define BUSY_PERIOD_NS (TOOL_NS_PER_SEC / 60)
/* Room in the log for the events that nobody can count beforehand. */
#define SPARE_EVENTS 4096

/* ---- The worker -------------------------------------------------------- */

/*
 * A new order in each period.  A wakeup depends on what ran just before it: which processor is
 * awake, and where the loop's thread slept last.  In a fixed order each mechanism would always
 * follow the same other one, and the ticks would always come before the same few.
 */
static void shuffle(unsigned char *order, size_t n, uint64_t *random)
{
	for (size_t i = n; i-- > 1;) {
		unsigned char swap = order[i];
		size_t other;

		/* The constants of Knuth's MMIX generator; its high bits are the good ones. */
		*random = *random * 6364136223846793005u + 1442695040888963407u;
		other = (size_t)(*random >> 33) % (i + 1);
		order[i] = order[other];
		order[other] = swap;
	}
}

static void *worker_main(void *data)
{
	struct run *run = data;
	const struct options *o = run->options;
	uint64_t slots = (uint64_t)o->rate * run->mechs; /* a second */
	uint64_t total = slots * o->seconds, random = 1;
	/* Between the ticks' places, at the default rates. */
	rouse_ns ahead = TOOL_NS_PER_SEC * 3 / 7 / slots, due;
	unsigned char order[MECH_MAX];
	struct mech *m;

	for (size_t i = 0; i < run->mechs; i++)
		order[i] = (unsigned char)i;
	for (uint64_t slot = 0; slot < total; slot++) {
		if (slot % run->mechs == 0)
			shuffle(order, run->mechs, &random);
		m = &run->mech[order[slot % run->mechs]];
		due = run->begin + slot * TOOL_NS_PER_SEC / slots;
		if (run->handover.used) {
			system_sleep_until(due - ahead);
			handover_announce(&run->handover, m);
		}
		system_sleep_until(due);
		if (run->handover.used)
			handover_take(&run->handover, m);
		if (atomic_load_explicit(&run->quit, memory_order_acquire))
			return NULL;
		/* Stamped after the sleep: a worker that wakes up late is late for nobody. */
		mech_fire(m, rouse_now());
		atomic_store_explicit(&run->progress, (unsigned)(slot / slots),
		                      memory_order_release);
	}
	system_sleep_until(run->begin + o->seconds * TOOL_NS_PER_SEC);
	outside_end(run->outside);
	return NULL;
}

/* ---- What else is in the loop ------------------------------------------ */

void run_ticked(struct run *run, rouse_ns now, uint64_t expirations)
{
	run->ticks.n++;
	run->ticks.missed += expirations - 1;
	events_add_at(&run->events, now, EVENT_TICK, expirations);
	if (run->window && run->kind->display->tick)
		run->kind->display->tick(run->window);
}

/*
 * The n-th busy callback falls into the n-th sixtieth of a second, somewhere in it: multiples of
 * the golden ratio fill an interval evenly, and two that follow each other are never close.
 * Evenly spaced ones would march with the wakeups, six mechanisms at 10 Hz, and delay either
 * all of them or none.
 */
static rouse_ns busy_deadline(const struct run *run)
{
	uint32_t part = (uint32_t)(run->busy_n * 2654435769u); /* of 2^32 */

	return run->busy_begin + run->busy_n * BUSY_PERIOD_NS + (part * BUSY_PERIOD_NS >> 32);
}

static void on_busy(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct run *run = data;
	rouse_ns until = rouse_now() + run->options->busy_us * 1000ull;

	(void)deadline;
	while (rouse_now() < until)
		;
	run->busy_n++;
	if (run->busy_begin + (run->busy_n + 1) * BUSY_PERIOD_NS < until)
		run->busy_n = (until - run->busy_begin) / BUSY_PERIOD_NS; /* It cannot keep up. */
	if (rouse_timer_set(loop, self, busy_deadline(run), 0, 0) < 0)
		rouse_loop_stop(loop);
}

/* The grid starts at run->begin.  Ticks come half a tick and half a slot later, so that none
 * falls on a wakeup at the default rates and the last one is well before the end. */
static int arm_ticks(struct run *run)
{
	const struct options *o = run->options;
	rouse_ns tick = TOOL_NS_PER_SEC / o->fd_rate;
	rouse_ns slot = TOOL_NS_PER_SEC / (o->rate * run->mechs);

	return outside_arm(run->outside, run->begin + tick / 2 + (slot < tick ? slot / 2 : 0),
	                   tick);
}

/* ---- Putting it together ----------------------------------------------- */

static int open_mech(struct run *run, const struct mech_ops *ops, size_t fires)
{
	struct mech *m = &run->mech[run->mechs];
	int rc = ROUSE_ENOMEM;

	*m = (struct mech){.ops = ops,
	                   .loop = run->loop,
	                   .window = run->window,
	                   .host = run->host,
	                   .handover = &run->handover,
	                   .turns = &run->turns};
	if (meter_open(&m->meter, fires) == 0) {
		rc = ops->open(m);
		if (rc < 0)
			meter_close(&m->meter);
	}
	if (rc < 0) {
		tool_complain("%s on %s: %s", ops->name, run->kind->name, rouse_strerror(rc));
		return -1;
	}
	run->mechs++;
	events_add(&run->events, EVENT_STEP, "mechanism_open", ops->name, 0);
	return 0;
}

static int open_loop(struct run *run, const char *display)
{
	rouse_loop_options options = {.size = sizeof options, .poller = run->kind->poller};
	int rc = rouse_loop_create(&options, &run->loop);

	if (rc < 0) {
		tool_complain("cannot make the loop %s: %s", run->kind->name, rouse_strerror(rc));
		return -1;
	}
	run->remote = rouse_loop_remote(run->loop);
	interrupt_target(run->remote);
	events_add(&run->events, EVENT_STEP, "loop_create", rouse_loop_poller(run->loop), 0);
	if (run->kind->display) {
		if (run->kind->display->open(run->loop, display, &run->events, &run->window) < 0)
			return -1;
		memcpy(run->server, run->window->server, sizeof run->server);
		memcpy(run->library, run->window->library, sizeof run->library);
	}
	if (run->kind->host) {
		if (run->kind->host->open(run->loop, &run->host) < 0)
			return -1;
		memcpy(run->library, run->host->library, sizeof run->library);
		events_add(&run->events, EVENT_STEP, "host_open", run->kind->name, 0);
	}
	return 0;
}

static int open_disturbances(struct run *run, const char *display)
{
	const struct options *o = run->options;

	if (o->busy_us > 0) {
		int rc;

		run->busy_begin = rouse_now();
		rc = rouse_timer_add(run->loop, busy_deadline(run), 0, 0, on_busy, run, NULL);

		if (rc < 0) {
			tool_complain("--busy: %s", rouse_strerror(rc));
			return -1;
		}
		events_add(&run->events, EVENT_STEP, "busy_start", NULL, 0);
	}
	if (o->load > 0 && run->window) {
		run->load = load_start(run->kind->display->load, display, o->load);
		if (!run->load)
			return -1;
		events_add(&run->events, EVENT_STEP, "load_start", NULL, 0);
	}
	return 0;
}

int run_open(struct run *run, const struct loop_kind *kind, const struct options *o,
             const char *display)
{
	size_t fires = (size_t)o->rate * o->seconds;
	size_t events = o->fd_rate * 2u + (kind->display ? kind->display->frames : 0);

	*run = (struct run){.kind = kind, .options = o};
	run->handover.fd = -1;
	run->ticks.hz = o->fd_rate;
	if (events_open(&run->events, events * o->seconds + SPARE_EVENTS) < 0) {
		tool_complain("no memory for the log");
		return -1;
	}
	if (open_loop(run, display) < 0)
		goto fail;
	for (size_t i = 0; mech_table[i]; i++) {
		if (!(o->mechs & 1u << i) || !mech_exists(mech_table[i], kind))
			continue;
		if (open_mech(run, mech_table[i], fires) < 0)
			goto fail;
	}
	if (handover_open(&run->handover, run->loop, run->mech, run->mechs) == 0 &&
	    outside_open(run, &run->outside) == 0 && open_disturbances(run, display) == 0)
		return 0;
fail:
	run_close(run);
	run_release(run);
	return -1;
}

/* A message through a server that is gone is cut off, not lost. */
static size_t owed(struct run *run, struct mech *m)
{
	run->lost_server |= run->window && run->window->lost;
	return m->ops->display && run->lost_server ? 0 : meter_open_stamps(&m->meter);
}

/* One wait, and what follows from it. */
static int turn(struct run *run, rouse_ns until)
{
	if (!run->host)
		return rouse_loop_turn(run->loop, until);
	run->kind->host->turn(run->host, until);
	return 0;
}

/* The worker has ended.  One sleep for all that the loop still owes: turns that end by
 * themselves would serve a wakeup that was lost.  The floor answers without the loop. */
static void wait_for_answers(struct run *run)
{
	rouse_ns give_up = rouse_now() + GRACE_NS;

	for (size_t i = 0; i < run->mechs; i++) {
		struct mech *m = &run->mech[i];

		while (owed(run, m) > 0 && rouse_now() < give_up) {
			if (m->ops == &mech_floor)
				system_sleep_until(rouse_now() + MS);
			else if (turn(run, give_up) < 0)
				return;
		}
	}
}

static void stop_worker(struct run *run)
{
	if (!run->working)
		return;
	atomic_store_explicit(&run->quit, true, memory_order_release);
	handover_end(&run->handover);
	pthread_join(run->worker, NULL);
	run->working = false;
	events_add(&run->events, EVENT_STEP, "worker_join", NULL, 0);
}

int run_measure(struct run *run)
{
	size_t frames = run->window ? run->window->frames : 0;
	int error, rc;

	run->begin = rouse_now() + LEAD_NS;
	if (arm_ticks(run) < 0)
		return -1;
	events_add(&run->events, EVENT_STEP, "worker_start", NULL, 0);
	error = thread_start(&run->worker, worker_main, run);
	if (error != 0) {
		tool_complain("cannot start the worker: %s", strerror(error));
		return -1;
	}
	run->working = true;
	if (interrupt_caught())
		rc = 0;
	else
		rc = run->host ? run->kind->host->run(run->host) : rouse_loop_run(run->loop);
	run->end = rouse_now();
	run->interrupted = interrupt_caught();
	run->frames = run->window ? run->window->frames - frames : 0;
	/* What ticks while answers are awaited is of no run. */
	outside_disarm(run->outside);
	stop_worker(run);
	if (rc == 0)
		wait_for_answers(run);
	run->stats.size = sizeof run->stats;
	rouse_loop_stats(run->loop, &run->stats);
	events_add(&run->events, EVENT_STATS, NULL, NULL, 0);
	if (rc == 0 && run->host && run->kind->host->after && !interrupt_caught()) {
		run->kind->host->after(run->host);
		memcpy(run->note, run->host->note, sizeof run->note);
	}
	if (rc == 0)
		return 0;
	tool_complain("the loop %s failed: %s (%s)", run->kind->name, rouse_strerror(rc),
	              system_error(rouse_os_error()));
	return -1;
}

void run_close(struct run *run)
{
	if (!run->loop)
		return;
	stop_worker(run);
	load_stop(run->load);
	run->load = NULL;
	for (size_t i = run->mechs; i-- > 0;)
		run->mech[i].ops->close(&run->mech[i]);
	handover_close(&run->handover);
	if (run->host)
		run->kind->host->close(run->host);
	run->host = NULL;
	if (run->window)
		run->kind->display->close(run->window);
	run->window = NULL;
	interrupt_target(NULL);
	run->remote = rouse_remote_unref(run->remote);
	rouse_loop_destroy(run->loop);
	run->loop = NULL;
	outside_close(run->outside);
	run->outside = NULL;
	events_add(&run->events, EVENT_TEARDOWN, NULL, NULL, 0);
}

void run_release(struct run *run)
{
	for (size_t i = 0; i < run->mechs; i++)
		meter_close(&run->mech[i].meter);
	run->mechs = 0;
	events_close(&run->events);
}

size_t run_unanswered(struct run *run, struct mech *m)
{
	return owed(run, m);
}
