#include "pool/figure.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The smallest that at least so many quarters of all do not exceed. */
static double quartile(const double *sorted, size_t n, size_t quarters)
{
	return sorted[(n * quarters + 3) / 4 - 1];
}

struct figure figure_of(const double *values, const double *under, size_t n, double *scratch)
{
	struct figure figure = {.n = n};

	if (n == 0)
		return figure;
	for (size_t i = 0; i < n; i++)
		scratch[i] = values[i] - (under ? under[i] : 0);
	qsort(scratch, n, sizeof *scratch, by_value);
	figure.low = quartile(scratch, n, 1);
	figure.median = quartile(scratch, n, 2);
	figure.high = quartile(scratch, n, 3);
	return figure;
}
