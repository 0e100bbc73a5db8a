/* bench_pool: what it measured, and what is told of it. */
#ifndef BENCH_POOL_H
#define BENCH_POOL_H

#include "pool_rows.h"

enum { MOST_ROUNDS = 1001, BATCHES = 6, MOST_ROWS = 10 };
enum { ARRAY, FREE, INLINED, CALLED, OTHERS }; /* rows; those from OTHERS on are other pools */

struct samples {
	double value[MOST_ROUNDS];
};

struct measured {
	unsigned rounds, rows;
	const struct pool_rows *row[MOST_ROWS];
	struct samples empty[MOST_ROWS], releases[MOST_ROWS], posts[MOST_ROWS][BATCHES];
	/* Of ours, INLINED and CALLED: */
	long faults[OTHERS][BATCHES]; /* pages, in so many steady batches */
	double bytes[BATCHES];        /* what the stack holds, a post */
};

extern const unsigned batches[BATCHES];
enum { STEADY = 1000 }; /* batches */

/* The whole table, and a verdict for each target. */
void report(const struct measured *m);

#endif
