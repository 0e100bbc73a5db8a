/*
 * Which wakeups came too late to have been woken for: told by the order of things, not by a clock.
 *
 * The worker is one thread: a call is complete before the next stamp is taken.  So once the loop
 * has answered a stamp in turn T, every earlier call is complete, and what it left (a ready
 * descriptor, an entry in the queue) is found by the wait of turn T + 1 at the latest.  Not by
 * that of T: a call may come after the wait has returned or the queue was taken.  A stamp that is
 * answered in turn T + 2 or later, therefore, was lost, and something else rescued it.
 *
 * Stamps answered by the loop itself are witnesses.  What the X server delivers says nothing of
 * the loop's other sources, and the floor has no turns.  The loop's own thread only.
 *
 * A turn runs no more than ROUSE_DEFAULT_BATCH entries of the queue, so behind more posts than that
 * a wake may honestly wait longer: while there are so many, nothing is a witness.
 */
#ifndef ROUSE_TOOL_BENCH_TURNS_H
#define ROUSE_TOOL_BENCH_TURNS_H

#include <stdint.h>

#include <rouse/rouse.h>

struct meter;

struct turns {
	struct meter *posts; /* What else is in the queue; NULL: nothing. */
	uint64_t turn;       /* That of the latest answer. */
	rouse_ns here;       /* The latest stamp answered in it, */
	rouse_ns previous;   /* in the turn before it, */
	rouse_ns earlier;    /* and in all turns before that. */
};

/* Something is answered in `turn`: stamps below the result were lost. */
rouse_ns turns_reach(struct turns *turns, uint64_t turn);
/* `stamp` was answered in the turn reached. */
void turns_answered(struct turns *turns, rouse_ns stamp);

#endif
