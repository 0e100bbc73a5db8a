/*
 * What a series of latencies says: quantiles, and how far to trust them.
 */
#ifndef ROUSE_TOOL_BENCH_SAMPLES_H
#define ROUSE_TOOL_BENCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ascending, in place. */
void samples_sort(uint64_t *values, size_t n);

/* Nearest rank: the smallest sample that at least `percent` of a hundred do not exceed.
 * n > 0, percent 1 to 100. */
uint64_t samples_quantile(const uint64_t *sorted, size_t n, unsigned percent);

/* Ranks, from 1; 0 where `n` samples have no such bound. */
struct ranks {
	size_t lower;
	size_t upper;
};

/*
 * The ranks between which the true quantile lies with at least the given confidence, whatever
 * the distribution; each side is given half of what may go wrong.
 */
struct ranks samples_bounds(size_t n, unsigned percent, double confidence);

/* A 95 % interval.  A side that does not exist holds the smallest or largest sample. */
struct interval {
	uint64_t lower, upper;
	bool has_lower, has_upper;
};

/* Of one mechanism's latencies.  The first one is the cold one and is in nothing else. */
struct summary {
	uint64_t cold; /* Meaningful if has_cold. */
	bool has_cold;
	size_t n;         /* Samples that the rest is made of; it is void where n is 0. */
	uint64_t *sorted; /* Those samples, ascending. */
	uint64_t min, p50, p90, p99, max;
	struct interval p50_ci, p99_ci;
};

/* 0, or -1 without memory. */
int samples_summarize(const uint64_t *latency, size_t n, struct summary *ret);
void samples_release(struct summary *summary);

#endif
