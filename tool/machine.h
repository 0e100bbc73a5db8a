/*
 * The facts of the machine without which the figures say little.
 */
#ifndef ROUSE_TOOL_MACHINE_H
#define ROUSE_TOOL_MACHINE_H

#include <stdbool.h>

struct machine {
	char kernel[256];    /* System, release and architecture. */
	char processor[128]; /* Empty if unknown, as is the next. */
	char clock_source[64];
	unsigned cpus;   /* Those this process may run on. */
	bool no_load;    /* The system does not know it. */
	double load[3];  /* Averages over 1, 5 and 15 minutes, before the measurement. */
	char server[64]; /* X server, vendor and release; empty without one. */
};

void machine_read(struct machine *ret);

#endif
