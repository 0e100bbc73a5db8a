/*
 * bench_pool [ROUNDS]: what autorelease pools cost, in nanoseconds of this thread's processor time.
 *
 * Every row is measured in every round, one right after the other, so that what the machine does
 * beside it falls on all of them.  A figure is the median of the rounds, with the quarter and the
 * three quarters of them; what is compared is the difference, or the ratio, within a round.
 *
 *   empty    push and pop
 *   release  one autorelease and its release, beside a bare call of the release function
 *   post     two objects of 287 bytes, in pools of so many posts, beside the same in a plain array
 *            that is freed newest first
 *   faults   pages that were not there, in a thousand batches after the first ones
 *   memory   what the stack itself holds for a post
 */
#include "pool.h"

#include <rouse/pool.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { TIMES = 200000, POSTS = 16384 };
const unsigned batches[BATCHES] = {1, 8, 64, 512, 1024, MOST_BATCH};

static struct measured measured = {
        .row = {[ARRAY] = &rows_array,
                [FREE] = &rows_free,
                [INLINED] = &rows_inlined,
                [CALLED] = &rows_called},
        .rows = OTHERS,
};

static void find_others(void)
{
	const struct pool_rows *others[] = {
#ifdef BENCH_GNUSTEP
	        &rows_gnustep,
#endif
#ifdef BENCH_APR
	        &rows_apr,     &rows_apr_kept,
#endif
#ifdef BENCH_TALLOC
	        &rows_talloc,
#endif
#ifdef BENCH_GLIB
	        &rows_glib,    &rows_glib_kept,
#endif
	        NULL};

	for (int i = 0; others[i]; i++)
		measured.row[measured.rows++] = others[i];
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- Rounds ------------------------------------------------------------------------------ */

static void measure(void (*does)(unsigned times), struct samples *to, unsigned round)
{
	double start;

	if (!does)
		return;
	start = now();
	does(TIMES);
	to->value[round] = (now() - start) / TIMES;
}

static void measure_posts(unsigned r, unsigned b, unsigned round)
{
	const struct pool_rows *row = measured.row[r];
	double start;

	/* Not the change from another row, or another batch. */
	row->posts(2 * batches[b], batches[b]);
	start = now();
	row->posts(POSTS, batches[b]);
	measured.posts[r][b].value[round] = (now() - start) / POSTS;
}

static void measure_round(unsigned round)
{
	for (unsigned r = 0; r < measured.rows; r++) {
		measure(measured.row[r]->empty, &measured.empty[r], round);
		measure(measured.row[r]->releases, &measured.releases[r], round);
	}
	for (unsigned b = 0; b < BATCHES; b++)
		for (unsigned r = 0; r < measured.rows; r++)
			measure_posts(r, b, round);
}

/* ---- What is counted ---------------------------------------------------------------------- */

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

static void count_faults(unsigned r, unsigned b)
{
	const struct pool_rows *row = measured.row[r];
	long before;

	row->posts(2 * batches[b], batches[b]);
	before = faults();
	row->posts(STEADY * batches[b], batches[b]);
	measured.faults[r][b] = faults() - before;
}

static void count_bytes(unsigned b)
{
	rouse_pool_stats stats = {.size = sizeof stats};
	rouse_pool pool = rouse_pool_push();

	for (unsigned i = 0; i < 2 * batches[b]; i++)
		rouse_autorelease(&pool, release_nothing);
	rouse_pool_trim();
	(void)rouse_pool_stats_thread(&stats);
	measured.bytes[b] = (double)stats.bytes / batches[b];
	rouse_pool_pop(pool);
	rouse_pool_trim();
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 101;

#ifdef M_TRIM_THRESHOLD
	/* A row whose last free() gives the heap's end back to the system would measure that. */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
	if (rounds == 0 || rounds > MOST_ROUNDS) {
		fprintf(stderr, "usage: %s [ROUNDS, at most %d]\n", argv[0], MOST_ROUNDS);
		return EXIT_FAILURE;
	}
	find_others();
	measured.rounds = (unsigned)rounds;
	for (unsigned round = 0; round < rounds; round++)
		measure_round(round);
	for (unsigned b = 0; b < BATCHES; b++) {
		count_faults(INLINED, b);
		count_faults(CALLED, b);
		count_bytes(b);
	}
	report(&measured);
	return EXIT_SUCCESS;
}
