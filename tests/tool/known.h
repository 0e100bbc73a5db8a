/*
 * A run whose latencies are known: the command's own mechanisms and accounts, on the null
 * poller, whose clock moves when it is told to.
 */
#ifndef ROUSE_TESTS_TOOL_KNOWN_H
#define ROUSE_TESTS_TOOL_KNOWN_H

#include "bench/run.h"

/* Room for `cap` wakeups of `ops`.  Asserts on failure, as all here. */
void known_open(struct run *run, const struct mech_ops *ops, size_t cap);
/* One more mechanism in the same loop: run->mech[1] and so on. */
void known_join(struct run *run, const struct mech_ops *ops, size_t cap);
/* Leaves what was measured; run_release() lets go of it. */
void known_close(struct run *run);

void known_fire(struct run *run);
void known_pass(struct run *run, rouse_ns ns);
/* One turn in which the first mechanism's primitive is ready; returns the callbacks it ran. */
int known_serve(struct run *run);

#endif
