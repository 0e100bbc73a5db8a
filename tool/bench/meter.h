/*
 * The account of one mechanism: when it was fired, and how long each answer took.
 *
 * Protocol.  One worker fires, one thread answers.  The worker alone writes stamp[] and
 * `fired`; it stores `fired` with release after the stamp, and the answering thread loads it
 * with acquire before it reads stamps: so a stamp seen is a stamp written.  The answering
 * thread alone writes all the rest; it stores `answered` with release, so that a third thread
 * that loads it with acquire may read what was answered so far.  The stamps are a ring that is
 * as long as the run: it never wraps and is never full, so neither side ever waits, and
 * nothing is allocated after meter_open().
 *
 * A stamp is put down before its call is made.  A callback that runs in between, for an earlier
 * call, answers it then: a run did begin after the stamp, and the next run finds nothing.
 */
#ifndef ROUSE_TOOL_BENCH_METER_H
#define ROUSE_TOOL_BENCH_METER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <rouse/rouse.h>

struct meter {
	/* The worker's. */
	rouse_ns *stamp;
	size_t cap;
	_Atomic size_t fired;
	char apart[64]; /* Two threads write: not on one cache line. */
	/* The answering thread's; entry i is the i-th answer. */
	rouse_ns *latency;
	rouse_ns *at;
	uint32_t *together; /* How many stamps that run of the callback answered. */
	_Atomic size_t answered;
	_Atomic size_t rescued; /* Lost, and found by a run that was not meant for them. */
	size_t taken;           /* Stamps consumed, in order. */
	size_t coalesced;
	size_t strays; /* Answers with a stamp that nobody sent. */
};

/* All the memory, touched, so that the run takes no page fault for it.  0, or -1. */
int meter_open(struct meter *meter, size_t cap);
void meter_close(struct meter *meter);

/* The worker, just before the call. */
void meter_fire(struct meter *meter, rouse_ns stamp);

/* The answering thread, `now` taken before anything else:
 * a primitive that coalesces answers all stamps there are; those below `lost` were lost and are no
 * samples (turns.h; 0 where that cannot be told), */
void meter_answer_all(struct meter *meter, rouse_ns now, rouse_ns lost);
/* one that carries its stamps answers those; stamps passed over stay unanswered. */
void meter_answer_stamps(struct meter *meter, const rouse_ns *stamps, size_t count, rouse_ns now);

/* Fired, and neither answered nor rescued so far; any thread. */
size_t meter_open_stamps(struct meter *meter);

#endif
