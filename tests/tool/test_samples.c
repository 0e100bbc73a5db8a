/*
 * Quantiles against their definition, bounds against a binomial summed the slow way and against
 * values from the literature.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bench/samples.h"

static uint64_t seed = 88172645463325252ull;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Straight from the definition, on values in any order. */
static uint64_t reference_quantile(const uint64_t *values, size_t n, unsigned percent)
{
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		size_t not_above = 0;

		for (size_t k = 0; k < n; k++)
			not_above += values[k] <= values[i];
		if (not_above * 100 >= n * percent && values[i] < best)
			best = values[i];
	}
	return best;
}

static void test_quantiles_are_nearest_rank(void **state)
{
	static const unsigned percents[] = {1, 25, 50, 75, 90, 95, 99, 100};
	uint64_t values[120], sorted[120];

	(void)state;
	for (size_t n = 1; n <= 120; n++) {
		/* Few distinct values for some n: ties. */
		for (size_t i = 0; i < n; i++)
			values[i] = next_random() % (n % 3 == 0 ? 7 : 1000000);
		memcpy(sorted, values, sizeof sorted);
		samples_sort(sorted, n);
		for (size_t i = 1; i < n; i++)
			assert_true(sorted[i - 1] <= sorted[i]);
		for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++)
			assert_int_equal(samples_quantile(sorted, n, percents[i]),
			                 reference_quantile(values, n, percents[i]));
	}
}

/* P(B = k), by itself. */
static long double reference_term(size_t n, unsigned percent, size_t k)
{
	long double p = percent / 100.0L;

	return expl(lgammal((long double)n + 1) - lgammal((long double)k + 1) -
	            lgammal((long double)(n - k) + 1) + (long double)k * logl(p) +
	            (long double)(n - k) * log1pl(-p));
}

static void test_bounds_match_the_binomial(void **state)
{
	static const unsigned percents[] = {50, 90, 99};
	static const size_t sizes[] = {1,   2,   3,   5,   6,   9,   29,  30,   99,
	                               100, 299, 300, 367, 368, 369, 500, 1000, 2999};

	(void)state;
	for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
		for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
			size_t n = sizes[k];
			struct ranks got = samples_bounds(n, percents[i], 0.95), want = {0, 0};
			long double below = 0; /* P(B < r) */

			for (size_t r = 1; r <= n; r++) {
				below += reference_term(n, percents[i], r - 1);
				if (below <= 0.025L)
					want.lower = r;
				if (want.upper == 0 && 1 - below <= 0.025L)
					want.upper = r;
			}
			assert_int_equal(got.lower, want.lower);
			assert_int_equal(got.upper, want.upper);
		}
	}
}

static void test_bounds_from_the_literature(void **state)
{
	struct ranks ranks;

	(void)state;
	/* Of the median: the tables of the sign test. */
	ranks = samples_bounds(5, 50, 0.95);
	assert_true(ranks.lower == 0 && ranks.upper == 0);
	ranks = samples_bounds(6, 50, 0.95);
	assert_true(ranks.lower == 1 && ranks.upper == 6);
	ranks = samples_bounds(10, 50, 0.95);
	assert_true(ranks.lower == 2 && ranks.upper == 9);
	ranks = samples_bounds(20, 50, 0.95);
	assert_true(ranks.lower == 6 && ranks.upper == 15);
	ranks = samples_bounds(100, 50, 0.95);
	assert_true(ranks.lower == 40 && ranks.upper == 61);
	/* 0.99^367 is 0.0250, 0.99^368 is 0.0248: the first size with an upper bound of p99. */
	assert_int_equal(samples_bounds(367, 99, 0.95).upper, 0);
	assert_int_equal(samples_bounds(368, 99, 0.95).upper, 368);
}

/* Where a power of p alone is below the smallest double. */
static void test_bounds_of_many_samples(void **state)
{
	struct ranks ranks = samples_bounds(1000000, 50, 0.95);

	(void)state;
	/* The normal approximation is exact to a rank or two here: 500000 -+ 1.96 * 500. */
	assert_in_range(ranks.lower, 499018, 499022);
	assert_in_range(ranks.upper, 500979, 500983);
	ranks = samples_bounds(1000000, 99, 0.95);
	assert_in_range(ranks.lower, 989802, 989808);
	assert_in_range(ranks.upper, 990192, 990200);
}

static void test_summary(void **state)
{
	uint64_t latency[400] = {0};
	struct summary s;

	(void)state;
	assert_int_equal(samples_summarize(latency, 0, &s), 0);
	assert_true(!s.has_cold && s.n == 0);
	latency[0] = 9000000;
	assert_int_equal(samples_summarize(latency, 1, &s), 0);
	assert_true(s.has_cold && s.cold == 9000000 && s.n == 0);

	for (size_t i = 1; i < 400; i++)
		latency[i] = 400 - i;
	assert_int_equal(samples_summarize(latency, 300, &s), 0);
	assert_int_equal(s.n, 299);
	assert_int_equal(s.min, 101);
	assert_int_equal(s.max, 399);
	/* Too few samples for an upper bound: the largest one stands there, and says so. */
	assert_true(s.p99_ci.has_lower && !s.p99_ci.has_upper);
	assert_int_equal(s.p99_ci.upper, 399);
	assert_true(s.p50_ci.has_lower && s.p50_ci.has_upper);
	assert_true(s.p50_ci.lower < s.p50 && s.p50 < s.p50_ci.upper);
	samples_release(&s);

	assert_int_equal(samples_summarize(latency, 400, &s), 0);
	assert_true(s.p99_ci.has_upper);
	assert_int_equal(s.cold, 9000000);
	assert_int_equal(s.max, 399);
	samples_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_quantiles_are_nearest_rank),
	        cmocka_unit_test(test_bounds_match_the_binomial),
	        cmocka_unit_test(test_bounds_from_the_literature),
	        cmocka_unit_test(test_bounds_of_many_samples),
	        cmocka_unit_test(test_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
