/*
 * "epoll 12 of 30 s" on a terminal, by a thread of its own: a terminal that does not take it
 * must hold up neither the worker nor the loop.
 */
#ifndef ROUSE_TOOL_BENCH_PROGRESS_H
#define ROUSE_TOOL_BENCH_PROGRESS_H

#include "bench/run.h"

struct progress;

/* NULL where standard error is no terminal. */
struct progress *progress_start(struct run *run);
/* Wipes the line.  NULL is allowed. */
void progress_stop(struct progress *progress);

#endif
