/* The table of bench_pool, and a verdict for each target. */
#include "pool.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Figures ------------------------------------------------------------------------------ */

struct figure {
	double quarter, median, three_quarters;
};

static double itself(double a, double b)
{
	(void)b;
	return a;
}

static double above(double a, double b)
{
	return a - b;
}

static double ratio(double a, double b)
{
	return a / b;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of two in the same round. */
static struct figure figure(const struct measured *m, const struct samples *a,
                            double (*of)(double a, double b), const struct samples *b)
{
	static struct samples s;

	for (unsigned i = 0; i < m->rounds; i++)
		s.value[i] = of(a->value[i], b->value[i]);
	qsort(s.value, m->rounds, sizeof *s.value, by_value);
	return (struct figure){s.value[m->rounds / 4], s.value[m->rounds / 2],
	                       s.value[m->rounds * 3 / 4]};
}

/* ---- The table ------------------------------------------------------------------------------ */

static void print(const char *format, struct figure f)
{
	char text[64];

	snprintf(text, sizeof text, format, f.median, f.quarter, f.three_quarters);
	printf("  %-25s", text);
}

static void print_ratio(const struct measured *m, const struct samples *ours,
                        const struct samples *theirs)
{
	print("%.3f (%.3f to %.3f)", figure(m, ours, ratio, theirs));
}

/* Samples of each row; `under`: what is common to all, or NULL. */
static void print_rows(const struct measured *m, const char *title, const struct samples *of_row[],
                       const struct samples *under)
{
	printf("\n%-16s  %-25s  %-25s  %-25s  %s\n", title, "ns", under ? "over the first" : "",
	       "ours inlined, of it", "ours called, of it");
	for (unsigned r = 0; r < m->rows; r++) {
		if (!of_row[r])
			continue;
		printf("%-16s", m->row[r]->name);
		print("%.2f (%.2f to %.2f)", figure(m, of_row[r], itself, of_row[r]));
		if (under && of_row[r] != under)
			print("%+.2f (%+.2f to %+.2f)", figure(m, of_row[r], above, under));
		else if (r != CALLED && r != INLINED)
			printf("  %-25s", "");
		if (r != CALLED && r != INLINED) {
			print_ratio(m, of_row[INLINED], of_row[r]);
			print_ratio(m, of_row[CALLED], of_row[r]);
		}
		printf("\n");
	}
}

static void print_all(const struct measured *m)
{
	const struct samples *of_row[MOST_ROWS];
	char title[32];

	printf("medians of %u rounds (quarter to three quarters)\n", m->rounds);
	for (unsigned r = 0; r < m->rows; r++)
		of_row[r] = m->row[r]->empty ? &m->empty[r] : NULL;
	print_rows(m, "push, pop", of_row, NULL);
	for (unsigned r = 0; r < m->rows; r++)
		of_row[r] = m->row[r]->releases ? &m->releases[r] : NULL;
	print_rows(m, "release", of_row, of_row[ARRAY]);
	for (unsigned b = 0; b < BATCHES; b++) {
		for (unsigned r = 0; r < m->rows; r++)
			of_row[r] = &m->posts[r][b];
		snprintf(title, sizeof title, "post, %u", batches[b]);
		print_rows(m, title, of_row, of_row[ARRAY]);
	}
	printf("\nposts a pool                           ");
	for (unsigned b = 0; b < BATCHES; b++)
		printf("%8u", batches[b]);
	printf("\npool memory, bytes a post              ");
	for (unsigned b = 0; b < BATCHES; b++)
		printf("%8.0f", m->bytes[b]);
	for (unsigned r = INLINED; r <= CALLED; r++) {
		printf("\npage faults, %4d steady pools, %s", STEADY, m->row[r]->name);
		printf("%*s", r == INLINED ? 1 : 2, "");
		for (unsigned b = 0; b < BATCHES; b++)
			printf("%8ld", m->faults[r][b]);
	}
	printf("\n");
}

/* ---- Verdicts ------------------------------------------------------------------------------- */

static void verdict(const char *what, double is, double bound)
{
	printf("%-8s  %-56s %7.3f of %5.2f\n", is <= bound ? "met" : "NOT MET", what, is, bound);
}

/* The largest median there is among these batches. */
static void verdict_of_posts(const struct measured *m, unsigned ours, unsigned from, unsigned to,
                             double (*of)(double a, double b), unsigned than, double bound)
{
	double worst = -1e9;
	unsigned where = from;
	char what[96];

	for (unsigned b = from; b < to; b++) {
		double is = figure(m, &m->posts[ours][b], of, &m->posts[than][b]).median;

		if (is > worst) {
			worst = is;
			where = b;
		}
	}
	snprintf(what, sizeof what, "%s: post, %u to %u a pool (%u), %s %s", m->row[ours]->name,
	         batches[from], batches[to - 1], batches[where], of == above ? "ns over the" : "of",
	         m->row[than]->name);
	verdict(what, worst, bound);
}

static double median_of(const struct measured *m, const struct samples *ours,
                        double (*of)(double a, double b), const struct samples *theirs)
{
	return figure(m, ours, of, theirs).median;
}

static void verdicts_of(const struct measured *m, unsigned ours, double empty, double one,
                        double more)
{
	const struct samples *is = &m->empty[ours];
	char what[64];

	snprintf(what, sizeof what, "%s: push, pop, ns", m->row[ours]->name);
	verdict(what, median_of(m, is, itself, is), empty);
	verdict_of_posts(m, ours, 0, 1, above, ARRAY, one);
	verdict_of_posts(m, ours, 1, BATCHES, above, ARRAY, more);
	for (unsigned r = OTHERS; r < m->rows; r++) {
		if (m->row[r]->kept)
			continue;
		verdict_of_posts(m, ours, 0, 2, ratio, r, 0.75);
		verdict_of_posts(m, ours, 2, BATCHES, ratio, r, 0.85);
	}
}

static void all_verdicts(const struct measured *m)
{
	long faults = 0;

	printf("\nverdicts, by medians; of several batches the worst, which is the one in "
	       "brackets\n");
	verdicts_of(m, INLINED, 1.8, 4, 3);
#ifdef BENCH_GNUSTEP
	verdict("inlined: push, pop, of GNUstep",
	        median_of(m, &m->empty[INLINED], ratio, &m->empty[OTHERS]), 0.03);
#endif
	verdict("inlined: release, ns over the bare call",
	        median_of(m, &m->releases[INLINED], above, &m->releases[ARRAY]), 1.2);
	verdicts_of(m, CALLED, 3.5, 7, 5);
	for (unsigned b = 0; b < BATCHES; b++)
		faults += m->faults[INLINED][b] + m->faults[CALLED][b];
	verdict("page faults in steady pools", (double)faults, 0);
	verdict("memory, bytes a post, 1024 a pool", m->bytes[BATCHES - 2], 40);
	verdict("memory, bytes a post, 4096 a pool", m->bytes[BATCHES - 1], 40);
}

void report(const struct measured *m)
{
	print_all(m);
	all_verdicts(m);
}
