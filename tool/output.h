/*
 * Where a result goes: the files that options name, and standard output.
 */
#ifndef ROUSE_TOOL_OUTPUT_H
#define ROUSE_TOOL_OUTPUT_H

#include <stdio.h>

/* Before anything is measured: a mistake shows at once.  Leaves what is in the file.  NULL after
 * one line of complaint. */
FILE *output_open(const char *option, const char *name);
/* What an earlier run left.  NULL and standard output are allowed. */
void output_empty(FILE *file);
/* Standard output, last of all: a reader that left (a pipe to head) is no failure of ours.  0, or
 * -1 after one line of complaint. */
int output_finish(void);

#endif
