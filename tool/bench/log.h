/*
 * The log: what happened in a run, one event per line, in the order it happened.
 *
 *   <us since start> <loop> <kind> key=value ...
 */
#ifndef ROUSE_TOOL_BENCH_LOG_H
#define ROUSE_TOOL_BENCH_LOG_H

#include <stdio.h>

#include "bench/result.h"

/* `start` is where the command's time begins.  0, or -1: the file refused, or no memory. */
int log_write(FILE *out, const struct result *result, rouse_ns start);

#endif
