/*
 * The program beside this one that has the loops of other libraries.
 *
 * GLib, libuv, Qt, GLFW, SDL and GNUstep are linked to a program of their own, the same command
 * otherwise: they bring some sixty libraries, which would have to be there, and be loaded, for
 * every use of the command.  What wants them is handed to that program, in this process.
 */
#ifndef ROUSE_TOOL_BENCH_HOSTS_H
#define ROUSE_TOOL_BENCH_HOSTS_H

#include "bench/options.h"

/* Returns if this program can do it, or no other one can. */
void hosts_hand_over(const struct options *options, int argc, char **argv);
/* That program is there, and why it is not run; NULL: it is not there, or ran. */
const char *hosts_broken(void);

#endif
