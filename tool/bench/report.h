/*
 * The result for people: a table, a small histogram, the machine, the ratios.
 */
#ifndef ROUSE_TOOL_BENCH_REPORT_H
#define ROUSE_TOOL_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "bench/options.h"
#include "bench/result.h"
#include "machine.h"

void report_head(FILE *out, const struct options *options, const struct machine *machine);
void report_run(FILE *out, const struct run *run, const struct result *result);

/* One line of blocks per mechanism over a common logarithmic axis. */
void histogram_print(FILE *out, const struct result *result, bool utf8);

#endif
