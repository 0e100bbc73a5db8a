/*
 * What a series of repeated measurements says: its median, and how far half of it spreads.
 */
#ifndef ROUSE_TOOL_POOL_FIGURE_H
#define ROUSE_TOOL_POOL_FIGURE_H

#include <stddef.h>

/* Nearest rank: values that occurred.  Void where n is 0. */
struct figure {
	size_t n;
	double low, median, high; /* The quartiles and what lies between. */
};

/* Of `values`, or, where `under` is not NULL, of what each is above its own `under`.
 * `scratch` has room for n. */
struct figure figure_of(const double *values, const double *under, size_t n, double *scratch);

#endif
