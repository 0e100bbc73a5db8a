/*
 * The measurement of one loop.
 *
 * A worker thread fires every mechanism `rate` times a second.  The period is cut into as many
 * slots as there are mechanisms, one for each in an order that changes, so that they interleave
 * and each finds the loop asleep.  The loop also has an external descriptor that ticks, and with a
 * display a window; with a host it is a guest.
 */
#ifndef ROUSE_TOOL_BENCH_RUN_H
#define ROUSE_TOOL_BENCH_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <rouse/rouse.h>

#include "bench/display.h"
#include "bench/events.h"
#include "bench/handover.h"
#include "bench/host.h"
#include "bench/load.h"
#include "bench/mech.h"
#include "bench/options.h"

struct outside;

struct ticks {
	unsigned hz;
	size_t n;      /* Callbacks that found the timer expired. */
	size_t missed; /* Expirations beyond the first of each. */
};

struct run {
	const struct loop_kind *kind;
	const struct options *options;
	/* What is joined, and gone after run_close(). */
	rouse_loop *loop;
	rouse_remote *remote;
	struct window *window;
	struct host *host;
	struct load *load;
	struct handover handover;
	struct outside *outside;
	rouse_ns busy_begin;
	uint64_t busy_n; /* The next busy callback. */
	/* The worker. */
	pthread_t worker;
	bool working;
	atomic_bool quit;
	_Atomic unsigned progress; /* Whole seconds gone, for whoever looks on. */
	/* What was measured, there until run_release(). */
	size_t mechs;
	struct mech mech[MECH_MAX];
	struct turns turns;
	struct ticks ticks;
	size_t frames; /* Frame callbacks. */
	struct events events;
	rouse_stats stats;
	rouse_ns begin, end;
	bool lost_server;
	bool interrupted;
	char server[64], library[64], note[320];
};

/* Makes the loop and all that is in it.  `display` is for a loop with a display.  0, or -1 after
 * one line of complaint. */
int run_open(struct run *run, const struct loop_kind *kind, const struct options *options,
             const char *display);
/* Measures.  0 also when cut short (see interrupted, lost_server); -1 after a complaint. */
int run_measure(struct run *run);
/* Takes everything down that run_open() made; what was measured stays. */
void run_close(struct run *run);
void run_release(struct run *run);

/* What is outside the library has ticked, that often. */
void run_ticked(struct run *run, rouse_ns now, uint64_t expirations);

/* Fired and never answered, of those that could be. */
size_t run_unanswered(struct run *run, struct mech *mech);

#endif
