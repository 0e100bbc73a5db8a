/*
 * Whose wait it is: the loop's, or a window library's own.
 *
 * A window library has one thread, and so has our loop with the library's window in it: it is the
 * same one, and it waits in one place at a time.  A mechanism that ends the library's own wait
 * (mech_ops.await) therefore needs the thread to be there before its call.  Protocol:
 *
 *   worker  ahead of every call, of whatever mechanism: names in `next` whose await comes, or
 *           nobody's, and writes `fd`, which the loop watches.
 *   thread  takes `next`.  If it is somebody's await, posts `entered` and stays in the library's
 *           wait until the call is answered: nothing of the loop runs meanwhile.
 *   worker  ahead of a call with an await: takes `entered`, and only then the stamp.
 *
 * All calls are announced alike, so that each finds a thread that has slept for as long, in the
 * loop's wait or the library's.  `next` is never overwritten while it names somebody: the worker
 * announces nothing more before it has taken `entered`.  Nor does a thread that is merely slow
 * come too late for its own call.
 *
 * An await ends also when the call stays unanswered (HANDOVER_GRACE) and when the server is gone.
 */
#ifndef ROUSE_TOOL_BENCH_HANDOVER_H
#define ROUSE_TOOL_BENCH_HANDOVER_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "bench/mech.h"
#include "tool.h"

#define HANDOVER_GRACE (2 * TOOL_NS_PER_SEC)

struct handover {
	bool used; /* Some mechanism has an await. */
	int fd;
	sem_t entered;
	struct mech *_Atomic next;
	atomic_bool over;
};

/* 0, or -1 after one line of complaint.  handover_close() follows in either case. */
int handover_open(struct handover *handover, rouse_loop *loop, const struct mech *mech,
                  size_t mechs);
/* The worker is gone. */
void handover_close(struct handover *handover);

/* The worker. */
void handover_announce(struct handover *handover, struct mech *mech);
void handover_take(struct handover *handover, const struct mech *mech);
/* Before the worker is joined: it waits for nobody any more. */
void handover_end(struct handover *handover);

/*
 * What mech_ops.await does: calls `wait`, one wait of the library's, of this many ms at most, until
 * the next call is answered.  False if it never was, and a message of the library's that comes
 * later is late.
 */
bool handover_await(struct mech *mech, void (*wait)(struct mech *mech, int ms));

#endif
