/*
 * The contract of a mechanism: one way to make a sleeping loop call back.
 *
 * open   on the loop's thread, before the worker starts: joins m->loop.
 * fire   on the worker's thread: makes the one call that is measured and nothing else.  Its
 *        stamp is in the meter already; a primitive that can carry data carries `stamp` too.
 * close  on the loop's thread, after the worker was joined: leaves the loop.  Never without an
 *        open that succeeded.
 * await  where the call ends another wait than the loop's: handover.h.
 *
 * The callback takes the time first, from the loop's clock.  What it must do to take its primitive
 * back (read the descriptor) it does after that, and then it tells the account: through
 * mech_answer_*() if the loop itself delivered the wakeup, else the meter.
 */
#ifndef ROUSE_TOOL_BENCH_MECH_H
#define ROUSE_TOOL_BENCH_MECH_H

#include <pthread.h>
#include <stdbool.h>

#include <rouse/rouse.h>

#include "bench/meter.h"
#include "bench/turns.h"

struct display_ops;
struct handover;
struct host;
struct host_ops;
struct loop_kind;
struct window;
struct mech;

struct mech_ops {
	const char *name;
	const char *summary;
	const struct display_ops *display; /* Needs m->window of this one; NULL: of none. */
	const struct host_ops *host;       /* And m->host of this one. */
	int (*open)(struct mech *m);       /* 0, or a negative ROUSE_E*. */
	int (*fire)(struct mech *m, rouse_ns stamp); /* Negative: the call failed. */
	void (*close)(struct mech *m);
	void (*await)(struct mech *m); /* NULL: it ends the loop's wait. */
};

struct mech {
	const struct mech_ops *ops;
	rouse_loop *loop;
	struct window *window; /* NULL where the loop has no display. */
	struct host *host;     /* NULL where the loop is nobody's guest. */
	struct handover *handover;
	struct meter meter;
	struct turns *turns; /* The run's, the same for all. */
	/* The worker's: calls that failed, and the last one's error. */
	size_t failed;
	int error;
	/* For the mechanism to keep what it opened. */
	void *handle;
	rouse_source source;
	int fd[2];
	pthread_t thread;
	atomic_bool quit;
};

/* Every mechanism of this system, the order of reports; ends with NULL. */
extern const struct mech_ops *const mech_table[];
#define MECH_MAX 8

/* The worker: one wakeup and its account, the same for all.  `stamp` was taken just now. */
void mech_fire(struct mech *m, rouse_ns stamp);

/* The loop's thread: meter_answer_*(), judged by turns. */
void mech_answer_all(struct mech *m, rouse_ns now);
/* The same where what a call leaves may honestly come to the loop late. */
void mech_answer_unjudged(struct mech *m, rouse_ns now);
void mech_answer_stamps(struct mech *m, const rouse_ns *stamps, size_t count, rouse_ns now);
/* Where m->host delivered it: mech_answer_all(), judged by the host's waits. */
void mech_answer_by_host(struct mech *m, rouse_ns now);

bool mech_exists(const struct mech_ops *ops, const struct loop_kind *kind);
/* How many of the mechanisms `bits` do. */
size_t mech_count(unsigned bits, const struct loop_kind *kind);

extern const struct mech_ops mech_wake, mech_post, mech_eventfd, mech_pipe, mech_clientmessage,
        mech_sync, mech_floor;
extern const struct mech_ops mech_handle, mech_postmessage, mech_threadmessage, mech_setevent;
/* The hosts' and window libraries' own. */
extern const struct mech_ops mech_wakeup, mech_idle, mech_async, mech_invoke, mech_emptyevent,
        mech_pushevent, mech_pushevent_loop, mech_postevent, mech_performselector, mech_descriptor;

#endif
