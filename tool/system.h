/*
 * What the command asks of the operating system beside the library: system_posix.c,
 * system_win32.c.
 */
#ifndef ROUSE_TOOL_SYSTEM_H
#define ROUSE_TOOL_SYSTEM_H

#include <stdbool.h>
#include <stdio.h>

#include <rouse/rouse.h>

/* First of all.  0, or -1. */
int system_begin(void);
/* For writing, made where it is not there, and not inherited; leaves what is in it.  NULL with
 * errno. */
FILE *system_open(const char *name);
/* A write failed with this errno because nobody reads any more. */
bool system_reader_left(int error);
/* Whether the terminal's characters are UTF-8. */
bool system_utf8(void);
/* What an error of the system's (rouse_os_error()) means; there until the next call. */
const char *system_error(int code);
/* On the loop's clock.  One thread at a time. */
void system_sleep_until(rouse_ns at);

#endif
