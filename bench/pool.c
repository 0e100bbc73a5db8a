/*
 * bench_pool [ROUNDS]: what autorelease pools cost, in nanoseconds of this thread's processor time.
 *
 * Every row is measured in every round, one right after the other, so that what the machine does
 * beside it falls on all of them.  A figure is the median of the rounds, with the quarter and the
 * three quarters of them; what is compared is the difference within a round.
 *
 *   empty    push and pop
 *   release  one autorelease and its release, beside a bare call of the release function
 *   post     two objects of 287 bytes, from malloc, beside the same in a plain array that is
 *            freed newest first; a pool every so many posts
 */
#include "pool_rows.h"

#include <rouse/pool.h>

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 200000, POSTS = 16384, MOST_ROUNDS = 1001 };
static const unsigned batches[] = {1, 8, 64, 512, 1024, 4096};
enum { BATCHES = sizeof batches / sizeof *batches, VARIANTS = 2 };

static const struct pool_rows *const variants[VARIANTS] = {&rows_called, &rows_inlined};

__attribute__((noinline)) void release_nothing(void *object)
{
	__asm__ volatile("" : : "r"(object));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- What they are compared with ------------------------------------------------------ */

static void bare_calls(unsigned times)
{
	void (*release)(void *object) = release_nothing;

	while (times-- > 0) {
		__asm__ volatile("" : "+r"(release));
		release(&times);
	}
}

static void *array[2 * 4096];

static void array_posts(unsigned count, unsigned batch)
{
	while (count > 0) {
		unsigned used = 0;

		for (unsigned i = 0; i < batch && count > 0; i++, count--) {
			array[used++] = malloc(OBJECT);
			array[used++] = malloc(OBJECT);
		}
		while (used > 0)
			free(array[--used]);
	}
}

/* ---- Rounds ------------------------------------------------------------------------------ */

struct samples {
	double value[MOST_ROUNDS];
};

static struct samples empty[VARIANTS], bare, releases[VARIANTS], floor_[BATCHES],
        posts[VARIANTS][BATCHES];

static double each(double start, unsigned times)
{
	return (now() - start) / times;
}

static void measure_release(unsigned round)
{
	double start = now();

	bare_calls(TIMES);
	bare.value[round] = each(start, TIMES);
	for (int v = 0; v < VARIANTS; v++) {
		start = now();
		variants[v]->empty(TIMES);
		empty[v].value[round] = each(start, TIMES);
		start = now();
		variants[v]->releases(TIMES);
		releases[v].value[round] = each(start, TIMES);
	}
}

static void measure_posts(unsigned round)
{
	for (unsigned b = 0; b < BATCHES; b++) {
		double start;

		/* Not the change from one batch to the next. */
		array_posts(2 * batches[b], batches[b]);
		start = now();
		array_posts(POSTS, batches[b]);
		floor_[b].value[round] = each(start, POSTS);
		for (int v = 0; v < VARIANTS; v++) {
			start = now();
			variants[v]->posts(POSTS, batches[b]);
			posts[v][b].value[round] = each(start, POSTS);
		}
	}
}

/* ---- Figures ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of the samples, less those of `under` in the same round. */
static void print(const struct samples *s, const struct samples *under, unsigned rounds)
{
	static struct samples sorted;

	for (unsigned i = 0; i < rounds; i++)
		sorted.value[i] = s->value[i] - (under ? under->value[i] : 0);
	qsort(sorted.value, rounds, sizeof *sorted.value, by_value);
	printf(under ? "  +%6.2f (%5.2f to %5.2f)" : "  %7.2f (%5.2f to %5.2f)",
	       sorted.value[rounds / 2], sorted.value[rounds / 4], sorted.value[rounds * 3 / 4]);
}

static uint64_t held(void)
{
	rouse_pool_stats stats = {.size = sizeof stats};

	(void)rouse_pool_stats_thread(&stats);
	return stats.bytes;
}

static void report(unsigned rounds)
{
	printf("ns, medians of %u rounds (quarter to three quarters); +: above what is beside "
	       "it\n\n",
	       rounds);
	printf("%-12s%-27s", "", "bare call");
	for (int v = 0; v < VARIANTS; v++)
		printf("  %-27s", variants[v]->name);
	printf("\n%-12s%-27s", "empty", "");
	for (int v = 0; v < VARIANTS; v++)
		print(&empty[v], NULL, rounds);
	printf("\n%-10s", "release");
	print(&bare, NULL, rounds);
	for (int v = 0; v < VARIANTS; v++)
		print(&releases[v], &bare, rounds);
	printf("\n\n%-12s%-27s\n", "post, batch", "array");
	for (unsigned b = 0; b < BATCHES; b++) {
		printf("%-10u", batches[b]);
		print(&floor_[b], NULL, rounds);
		for (int v = 0; v < VARIANTS; v++)
			print(&posts[v][b], &floor_[b], rounds);
		printf("\n");
	}
}

/* What the stack itself holds where so many posts share a pool. */
static void report_memory(void)
{
	printf("\npool memory, bytes a post:");
	for (unsigned b = 0; b < BATCHES; b++) {
		rouse_pool pool = rouse_pool_push();

		for (unsigned i = 0; i < 2 * batches[b]; i++)
			rouse_autorelease(&pool, release_nothing);
		rouse_pool_trim();
		printf("  %u: %.0f", batches[b], (double)held() / batches[b]);
		rouse_pool_pop(pool);
		rouse_pool_trim();
	}
	printf("\n");
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
	for (unsigned round = 0; round < rounds; round++) {
		measure_release(round);
		measure_posts(round);
	}
	report((unsigned)rounds);
	report_memory();
	return EXIT_SUCCESS;
}
