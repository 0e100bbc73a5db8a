/*
 * The shared part of a loop: its queue and its doorbell.
 *
 * Referenced by the loop, by remotes (which it is, outside) and by wakers; whoever drops the
 * last reference frees it.  So a late producer always finds a word that says CLOSED, and the
 * doorbell's number is not given back to the system while anyone could still write to it.
 *
 * The word is EMPTY, ASLEEP, CLOSED, or the newest node of a list that leads to the oldest.
 *
 *   Producer   exchanges the word it saw (not CLOSED) for its node, which links to the list
 *              that was there.  If and only if it replaced ASLEEP, it rings.  So at most one
 *              producer rings a sleep, and none while an unhosted loop is awake.
 *   Going to   an unhosted loop exchanges EMPTY for ASLEEP; that it found EMPTY and said
 *   sleep      ASLEEP is one step, so no node can come between.  Where it fails, there is
 *              work, and the wait must not block.
 *   Taking     an unhosted loop exchanges whatever is there for EMPTY.  A hosted loop
 *              exchanges it for ASLEEP: it has no moment of going to sleep of its own,
 *              because any callback may open a loop of its host's, so to producers it always
 *              sleeps.
 *   Closing    exchanges whatever is there for CLOSED, once and for all.
 *
 * The word's exchanges carry both orders: what a producer wrote before is seen by whoever
 * takes its node.  A ring may come late, after its node was taken for another reason: the
 * next wait then ends early, which is allowed.
 */
#ifndef ROUSE_CORE_REMOTE_H
#define ROUSE_CORE_REMOTE_H

#include "core/counters.h"
#include "core/doorbell.h"
#include "core/slab.h"
#include "os/os.h"

#include <stdatomic.h>
#include <stdint.h>

/* A lock in a signal handler would be a dead one. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_POINTER_LOCK_FREE == 2,
               "this processor has no atomic 64-bit words");

struct rouse_remote {
	_Atomic uintptr_t word;
	atomic_size_t references;
	rouse__doorbell doorbell;
	uint64_t owner;   /* the loop's thread, by serial */
	uint64_t process; /* of its making, or of rouse_loop_after_fork() */
	rouse_loop *loop; /* for the owner alone, while the word is not CLOSED */
	rouse_allocator allocator;
	struct rouse__slab posts;
	rouse_task stop;
	struct rouse__counters counters;
};

int rouse__remote_create(const rouse_allocator *allocator, rouse_remote **ret_remote);

/* A forked child shares the doorbell with its parent, and must not ring it. */
static inline int rouse__remote_forked(const rouse_remote *remote)
{
	return remote->process != rouse__process();
}

/*
 * Queue a node; not in a forked child, which the caller has asked.  0; 1: it rang; ROUSE_EOS:
 * queued, but the doorbell failed; ROUSE_ECLOSED: not queued.  After anything but that the node
 * belongs to the loop's thread.
 */
int rouse__remote_push(rouse_remote *remote, rouse_task *task);

#define ROUSE__REMOTE_CLOSED ((uintptr_t)2)
static inline int rouse__remote_closed(const rouse_remote *remote)
{
	return atomic_load_explicit(&remote->word, memory_order_acquire) == ROUSE__REMOTE_CLOSED;
}

/* For the loop's thread.  Nodes come oldest first. */
int rouse__remote_doze(rouse_remote *remote); /* 1: marked ASLEEP; 0: there is work */
int rouse__remote_waiting(const rouse_remote *remote);
rouse_task *rouse__remote_take(rouse_remote *remote, int hosted);
rouse_task *rouse__remote_close(rouse_remote *remote);

/* A node of rouse_post(), taken off the queue: what it holds is the runner's. */
struct rouse__post {
	struct rouse__slab_node node;
	rouse_task task;
	rouse_post_fn fn;
	void *data;
	void (*cancel)(void *data);
};

#endif
