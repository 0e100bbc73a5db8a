/*
 * Stamps that travel with calls of a host's: one for each call of the run, made beforehand.
 */
#ifndef ROUSE_TOOL_BENCH_HOST_STAMPS_H
#define ROUSE_TOOL_BENCH_HOST_STAMPS_H

#include <stdbool.h>

#include "bench/mech.h"

struct stamp {
	struct mech *m;
	rouse_ns at;
	bool answered; /* The answering thread's. */
};

struct stamps {
	size_t next; /* The worker's. */
	struct stamp stamp[];
};

/* Into m->handle; free() lets go.  0, or ROUSE_ENOMEM. */
int stamps_open(struct mech *m);
/* The worker: the one to send with this call. */
struct stamp *stamps_take(struct mech *m, rouse_ns at);
/* It has arrived, `now` taken first of all. */
void stamps_answer(struct stamp *stamp, rouse_ns now);
/* It has arrived when nobody waits for it any more: too late, or once more. */
void stamps_refuse(const struct stamp *stamp);

#endif
