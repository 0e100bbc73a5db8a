/*
 * The seam between an attachment and the run loop of its thread: CFRunLoop on Apple, NSRunLoop on
 * GNUstep.  A carrier lets a run loop watch one descriptor in some of its modes.
 */
#ifndef ROUSE_HOST_CARRIER_H
#define ROUSE_HOST_CARRIER_H

struct rouse__carrier;

/* What the run loop calls; either may close the carrier. */
struct rouse__carried {
	/* The descriptor is readable. */
	void (*ready)(void *data);
	/* The run loop is about to wait.  1: it is to call `ready` first, which alone is no reason
	 * for it not to wait, or to return to its caller. */
	int (*before_wait)(void *data);
	void *data;
};

/* From the calling thread's run loop on; `modes` ends with NULL, and is NULL for the usual ones.
 * NULL: no memory. */
struct rouse__carrier *rouse__carrier_open(int fd, const char *const *modes,
                                           const struct rouse__carried *carried);
/* On the same thread.  The descriptor may be closed after it, and nothing of `carried` is called.
 */
void rouse__carrier_close(struct rouse__carrier *carrier);

#endif
