#include "bench/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void samples_sort(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof *values, compare);
}

uint64_t samples_quantile(const uint64_t *sorted, size_t n, unsigned percent)
{
	/* The rank is n * percent / 100 rounded up, in whole numbers: exact. */
	return sorted[(n * percent + 99) / 100 - 1];
}

/*
 * The number of samples below the p-quantile is binomial, B(n, p), so the quantile lies below
 * the sample of rank r with probability P(B < r).  The lower rank is the largest r for which
 * P(B < r) <= a/2, the upper one the smallest r for which P(B >= r) <= a/2, a being
 * 1 - confidence.  (W. J. Conover, Practical Nonparametric Statistics, 3rd ed. 1999, section
 * 3.2; H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed. 2003, section 7.1.)
 *
 * The terms of the distribution come from their ratio, P(k + 1) / P(k) = (n - k) / (k + 1) *
 * p / (1 - p), as logarithms: P(0) = (1 - p)^n is below what a double holds from some 160 samples
 * on at p99, from 1,075 on at p50.
 */
struct ranks samples_bounds(size_t n, unsigned percent, double confidence)
{
	double p = percent / 100.0, half = (1 - confidence) / 2;
	double odds = log(p) - log1p(-p), term = (double)n * log1p(-p);
	double below = 0; /* P(B < k) at the head of each round. */
	struct ranks ranks = {0, 0};

	for (size_t k = 0; k <= n; k++) {
		if (k > 0 && below <= half)
			ranks.lower = k;
		if (k > 0 && 1 - below <= half) {
			ranks.upper = k;
			break;
		}
		below += exp(term);
		if (k < n)
			term += log((double)(n - k)) - log((double)(k + 1)) + odds;
	}
	return ranks;
}

static struct interval interval_of(const uint64_t *sorted, size_t n, unsigned percent)
{
	struct ranks ranks = samples_bounds(n, percent, 0.95);

	return (struct interval){
	        .lower = sorted[ranks.lower > 0 ? ranks.lower - 1 : 0],
	        .upper = sorted[ranks.upper > 0 ? ranks.upper - 1 : n - 1],
	        .has_lower = ranks.lower > 0,
	        .has_upper = ranks.upper > 0,
	};
}

int samples_summarize(const uint64_t *latency, size_t n, struct summary *s)
{
	memset(s, 0, sizeof *s);
	if (n == 0)
		return 0;
	s->cold = latency[0];
	s->has_cold = true;
	if (n == 1)
		return 0;
	s->sorted = malloc((n - 1) * sizeof *s->sorted);
	if (!s->sorted)
		return -1;
	s->n = n - 1;
	memcpy(s->sorted, latency + 1, s->n * sizeof *s->sorted);
	samples_sort(s->sorted, s->n);
	s->min = s->sorted[0];
	s->p50 = samples_quantile(s->sorted, s->n, 50);
	s->p90 = samples_quantile(s->sorted, s->n, 90);
	s->p99 = samples_quantile(s->sorted, s->n, 99);
	s->max = s->sorted[s->n - 1];
	s->p50_ci = interval_of(s->sorted, s->n, 50);
	s->p99_ci = interval_of(s->sorted, s->n, 99);
	return 0;
}

void samples_release(struct summary *s)
{
	free(s->sorted);
	memset(s, 0, sizeof *s);
}
