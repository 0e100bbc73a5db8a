/*
 * The rounds of `rouse pool`.  Each measures every row once, one right after the other, so that
 * what the machine does meanwhile falls on all of them.
 *
 *   empty   push and pop
 *   posts   two objects from malloc, a pool around every so many posts; beside it the array: the
 *           same two, stored and freed newest first, which is what the allocator alone takes
 *   emits   one event each, through XTEST
 *
 * pool/live.c has started a thread before them, so malloc takes its locks, as in any program that
 * has threads.
 */
#ifndef ROUSE_TOOL_POOL_MEASURE_H
#define ROUSE_TOOL_POOL_MEASURE_H

#include "pool/emit.h"
#include "pool/options.h"
#include "pool/result.h"

struct pool_measure;

/* `emitter` stays the caller's; NULL: no emits.  NULL without memory. */
struct pool_measure *pool_measure_open(const struct pool_options *options,
                                       struct pool_emitter *emitter);
void pool_measure_close(struct pool_measure *measure);

/* What pools hold at their fullest, counted and not timed. */
void pool_measure_held(struct pool_result *result);
/* 0; -1 if it was interrupted or the X server went away: then the round counts for nothing. */
int pool_measure_round(struct pool_measure *measure);
/* Of the rounds so far. */
void pool_measure_figures(struct pool_measure *measure, struct pool_result *result);

#endif
