/*
 * What the reports of all subcommands share.
 */
#ifndef ROUSE_TOOL_REPORT_H
#define ROUSE_TOOL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "machine.h"

/* Two lines. */
void report_machine(FILE *out, const struct machine *machine);

/* Whether the terminal's characters are UTF-8. */
bool report_utf8(void);

#endif
