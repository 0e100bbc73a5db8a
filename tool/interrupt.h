/*
 * SIGINT, SIGTERM and SIGHUP: the first one stops the loop that runs and ends the command in
 * good order; the second one ends the process.
 */
#ifndef ROUSE_TOOL_INTERRUPT_H
#define ROUSE_TOOL_INTERRUPT_H

#include <stdbool.h>

#include <rouse/rouse.h>

void interrupt_install(void);
/* Which loop to stop, NULL for none; the caller keeps the reference until it is replaced. */
void interrupt_target(rouse_remote *remote);
bool interrupt_caught(void);

#endif
