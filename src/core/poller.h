/*
 * The seam between the loop and what the kernel watches.
 *
 * A poller knows descriptors, one doorbell and one deadline.  It reports through the door of
 * ready.h, from inside wait() alone, and never calls a user.  All of it runs on the loop's
 * thread.  Results are 0 or a ROUSE_E*; a failed call has changed nothing.
 */
#ifndef ROUSE_CORE_POLLER_H
#define ROUSE_CORE_POLLER_H

#include "core/doorbell.h"

#include <rouse/rouse.h>

/* One watched descriptor.  The loop owns it and keeps it at one address while it is watched. */
struct rouse__watch {
	rouse_fd fd;
	uint64_t id;     /* what the door is told */
	unsigned events; /* what the poller watches for now; 0: parked */
	int in_poller;
	/* The poller's own. */
	union {
		size_t place;
		void *own;
	};
	unsigned reports;
};

struct rouse__poller_config {
	const rouse_allocator *allocator;
	rouse__doorbell doorbell; /* outlives the poller */
	unsigned max_batch; /* report at most this many descriptors a wait, but each in its turn */
};

struct rouse__poller;

typedef int rouse__add_handle_fn(struct rouse__poller *poller, struct rouse__watch *watch);

struct rouse__poller_ops {
	const char *name;
	unsigned caps;

	int (*create)(const struct rouse__poller_config *config, struct rouse__poller **ret);
	void (*destroy)(struct rouse__poller *poller);

	/*
	 * Begin to watch.  Refuses what can never be ready (ROUSE_ENOTSUP).  ROUSE_EEXIST where
	 * `known`, an older watch of that number (NULL: none), is still good; where the system
	 * says otherwise, the older descriptor was closed: then this succeeds, and the poller
	 * has forgotten `known`.
	 */
	int (*add)(struct rouse__poller *poller, struct rouse__watch *watch, unsigned events,
	           struct rouse__watch *known);
	/* A parked watch reports nothing, not even a hang-up.  Parking never fails, nor does
	 * waking up what was parked. */
	int (*set)(struct rouse__poller *poller, struct rouse__watch *watch, unsigned events);
	/* Never fails: a descriptor that was closed behind our back is forgotten all the same. */
	void (*remove)(struct rouse__poller *poller, struct rouse__watch *watch);

	/*
	 * ROUSE_CAP_HANDLE: begin to watch a waitable handle, which the watch has in place of a
	 * descriptor: readable while it is signalled, FDERROR where that can never be again.  The
	 * others of these functions are for both.  Known by its name alone: the same one may
	 * be watched more than once.
	 */
	rouse__add_handle_fn *add_handle;
	/* As above for the reading end of a pipe: readable while there is something to read, and
	 * with HANGUP once the other end is gone.  NULL: no pipes. */
	rouse__add_handle_fn *add_pipe;

	/*
	 * Wait until something is ready, the doorbell was rung, or `deadline` has passed, and
	 * report it.  May end early with nothing.  A deadline of 0 does not block.
	 */
	int (*wait)(struct rouse__poller *poller, rouse_ns deadline, rouse_loop *door);

	/* NULL where there is no one descriptor to watch. */
	int (*descriptor)(struct rouse__poller *poller, rouse_fd *ret_fd);
	/* Let that descriptor become readable at `deadline`, once; at once if it has passed.  Does
	 * not fail after a success of descriptor(). */
	int (*arm)(struct rouse__poller *poller, rouse_ns deadline);
	/* For a host that waits for messages (host.h); where it may have one: watch anew what was
	 * reported, and what was added or changed since.  1: something is to be reported already.
	 */
	int (*renew)(struct rouse__poller *poller);

	/* In a forked child, with a new doorbell in place of the old one: do not touch what is the
	 * parent's as well.  The descriptor's number stays.  NULL: nothing to do. */
	int (*after_fork)(struct rouse__poller *poller, rouse_loop *door);

	rouse_ns (*now)(const struct rouse__poller *poller);
	int is_virtual; /* its host lets time pass, and needs no descriptor to sleep on */
};

extern const struct rouse__poller_ops rouse__epoll, rouse__kqueue, rouse__poll, rouse__win32,
        rouse__null;

/* The poller of a loop, where it is one of these: 0; ROUSE_EINVAL, ROUSE_EWRONGTHREAD. */
int rouse__poller_of(rouse_loop *loop, const struct rouse__poller_ops *ops,
                     struct rouse__poller **ret_poller);

/* Best first; NULL past the end. */
const struct rouse__poller_ops *rouse__poller_at(unsigned index);

#endif
