/* Quartiles against their definition, and differences that are taken round by round. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pool/figure.h"

enum { MOST = 120 };

static uint64_t seed = 88172645463325252ull;

static double next_random(unsigned below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed % below) - (double)below / 2;
}

/* The smallest value that at least so many quarters do not exceed, on values in any order. */
static double reference(const double *values, size_t n, size_t quarters)
{
	double best = 0;
	int found = 0;

	for (size_t i = 0; i < n; i++) {
		size_t not_above = 0;

		for (size_t k = 0; k < n; k++)
			not_above += values[k] <= values[i];
		if (not_above * 4 >= n * quarters && (!found || values[i] < best)) {
			best = values[i];
			found = 1;
		}
	}
	assert_true(found);
	return best;
}

static void check(const struct figure *f, const double *values, size_t n)
{
	assert_int_equal(f->n, n);
	assert_true(f->low == reference(values, n, 1));
	assert_true(f->median == reference(values, n, 2));
	assert_true(f->high == reference(values, n, 3));
}

static void test_quartiles_are_nearest_rank(void **state)
{
	double values[MOST], before[MOST], scratch[MOST];

	(void)state;
	for (size_t n = 1; n <= MOST; n++) {
		struct figure f;

		for (size_t i = 0; i < n; i++)
			before[i] = values[i] = next_random(n % 3 == 0 ? 7 : 1000000);
		f = figure_of(values, NULL, n, scratch);
		check(&f, before, n);
		assert_memory_equal(values, before, n * sizeof *values);
	}
}

/* Not the difference of two medians: here that would be 0. */
static void test_differences_are_within_a_round(void **state)
{
	static const double values[] = {10, 30, 20}, under[] = {9, 20, 29};
	double scratch[3];
	struct figure f = figure_of(values, under, 3, scratch);

	(void)state;
	assert_true(f.low == -9 && f.median == 1 && f.high == 10);
	for (size_t n = 1; n <= MOST; n++) {
		double a[MOST], b[MOST], difference[MOST], room[MOST];

		for (size_t i = 0; i < n; i++) {
			a[i] = next_random(1000);
			b[i] = next_random(1000);
			difference[i] = a[i] - b[i];
		}
		f = figure_of(a, b, n, room);
		check(&f, difference, n);
	}
}

static void test_nothing_is_no_figure(void **state)
{
	struct figure f = figure_of(NULL, NULL, 0, NULL);

	(void)state;
	assert_int_equal(f.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_quartiles_are_nearest_rank),
	        cmocka_unit_test(test_differences_are_within_a_round),
	        cmocka_unit_test(test_nothing_is_no_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
