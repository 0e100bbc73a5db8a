/*
 * Clients that keep the X server busy, each on a thread and a connection of its own.
 */
#ifndef ROUSE_TOOL_BENCH_LOAD_H
#define ROUSE_TOOL_BENCH_LOAD_H

struct load;

/* NULL after one line of complaint. */
struct load *load_start(const char *display, unsigned clients);
/* NULL is allowed. */
void load_stop(struct load *load);

#endif
