/*
 * The contract of a host: a foreign event loop that ours is a guest of.
 *
 * open   makes one, and attaches our loop.  0, or a negative ROUSE_E* after one line of complaint.
 * run    as rouse_loop_run(), by the host's own: until our loop is stopped.
 * turn   one wait of the host's, no longer than that, and what follows from it.
 * after  what is measured once the run is over, into `note`: a line of the report.  May be NULL.
 * close  on the loop's thread; our loop lives on.
 */
#ifndef ROUSE_TOOL_BENCH_HOST_H
#define ROUSE_TOOL_BENCH_HOST_H

#include <rouse/rouse.h>

#include "bench/turns.h"

/* What every host has; the host's own is around it. */
struct host {
	rouse_loop *loop;
	char library[64]; /* What it is, for the report, */
	char note[320];   /* and what else there is to say; empty: nothing. */
	/* What the host delivers is judged as what the loop does, by the host's own waits. */
	uint64_t waits; /* 0: it does not say. */
	struct turns turns;
};

struct host_ops {
	const char *missing; /* What a build of this needs; NULL: this build has it. */
	int (*open)(rouse_loop *loop, struct host **ret_host);
	int (*run)(struct host *host);
	void (*turn)(struct host *host, rouse_ns until);
	void (*after)(struct host *host);
	void (*close)(struct host *host);
};

extern const struct host_ops host_glib, host_uv, host_qt, host_appkit, host_win32;

#endif
