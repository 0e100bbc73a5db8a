/*
 * What the loop watches besides the mechanisms, of the system's own and not of the library's: a
 * timer that ticks, and what the worker ends the run by.  outside_posix.c has a timerfd and an
 * eventfd, outside_win32.c a waitable timer and an event.
 *
 * The end is neither a timer nor a wake of the loop: it costs nothing until then, and it ends the
 * run of a loop whose wakes do not work.
 */
#ifndef ROUSE_TOOL_BENCH_OUTSIDE_H
#define ROUSE_TOOL_BENCH_OUTSIDE_H

#include <rouse/rouse.h>

struct run;
struct outside;

/* What ticks, in a word. */
extern const char outside_ticker[];

/* Ticks go to run_ticked().  0, or -1 after one line of complaint; what there is of it by then is
 * `ret_outside` in either case, and closed by its owner. */
int outside_open(struct run *run, struct outside **ret_outside);
/* From `first` on, each `interval`.  0, or -1 after one line of complaint. */
int outside_arm(struct outside *outside, rouse_ns first, rouse_ns interval);
void outside_disarm(struct outside *outside);
/* The worker: the loop is to stop. */
void outside_end(struct outside *outside);
/* Once the loop is gone.  NULL is allowed. */
void outside_close(struct outside *outside);

#endif
