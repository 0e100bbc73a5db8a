/*
 * What one run comes to, as the report, the JSON and the log say it.
 */
#ifndef ROUSE_TOOL_BENCH_RESULT_H
#define ROUSE_TOOL_BENCH_RESULT_H

#include "bench/run.h"
#include "bench/samples.h"

struct mech_result {
	const char *name;
	size_t n;       /* Stamps answered, the cold one included. */
	size_t lost;    /* Never answered, or rescued. */
	size_t rescued; /* Of those: answered, but after later ones (turns.h). */
	size_t coalesced;
	size_t failed; /* Calls that returned an error, the last one being `error`. */
	int error;
	const struct meter *meter;
	struct summary summary;
};

struct result {
	const char *loop;
	const char
	        *library; /* Another's loop or window that was measured with ours; empty: none. */
	double seconds;   /* As asked, or until it was cut short. */
	size_t mechs;
	struct mech_result mech[MECH_MAX];
	struct ticks ticks;
	bool has_frames; /* The display has frame callbacks: */
	size_t frames;   /* so many. */
	const struct events *events;
	rouse_stats stats;
	bool cut_short;
};

/* Borrows from the run.  0, or -1 without memory. */
int result_of(struct run *run, struct result *ret);
void result_release(struct result *result);
bool result_has_lost(const struct result *result);

#endif
