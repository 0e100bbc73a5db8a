/*
 * The result for people: a table, a small histogram, the machine, the ratios.
 */
#ifndef ROUSE_TOOL_REPORT_H
#define ROUSE_TOOL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "machine.h"
#include "options.h"
#include "result.h"

void report_head(FILE *out, const struct options *options, const struct machine *machine);
void report_run(FILE *out, const struct run *run, const struct result *result);

/* Whether the terminal's characters are UTF-8. */
bool report_utf8(void);

/* One line of blocks per mechanism over a common logarithmic axis. */
void histogram_print(FILE *out, const struct result *result, bool utf8);

#endif
