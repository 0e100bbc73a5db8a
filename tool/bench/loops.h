/*
 * Which loops can be measured on this machine.
 */
#ifndef ROUSE_TOOL_BENCH_LOOPS_H
#define ROUSE_TOOL_BENCH_LOOPS_H

#include <stdio.h>

#include "bench/display.h"
#include "bench/options.h"

/* The display to use, or NULL: then a private server is to be started. */
const char *loops_display(const struct display_ops *display, const struct options *options);
/* What a build with this loop needs; NULL: this build has it. */
const char *loops_missing(const struct loop_kind *kind);
/* All loops and mechanisms, for people. */
void loops_list(const struct options *options);
/* What the system limits, for people: the end of that list. */
void loops_list_limits(void);
/* Drops the loops that are not to be had; they are the bits of `ret_skipped`.  0, or an exit status
 * after one line of complaint: there are none left, or one of them was asked for. */
int loops_choose(struct options *options, unsigned *ret_skipped);
void loops_tell_skipped(const struct options *options, unsigned skipped, FILE *out);

#endif
