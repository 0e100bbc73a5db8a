/*
 * The command line of `rouse pool`.
 */
#ifndef ROUSE_TOOL_POOL_OPTIONS_H
#define ROUSE_TOOL_POOL_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

/* Of a row the samples are kept, one a round. */
enum { POOL_MOST_ROUNDS = 1001 };

struct pool_options {
	unsigned posts;  /* Of each row in each round. */
	unsigned rounds; /* Each measures every row once. */
	const char *json;
	bool help;
};

/* Fills `options`, defaults included.  0, or TOOL_USAGE after one line of complaint. */
int pool_options_parse(struct pool_options *options, int argc, char **argv);
void pool_options_help(FILE *out);

#endif
