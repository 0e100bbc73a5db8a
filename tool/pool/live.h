/*
 * Autoreleases where no pool is open: what is live on a thread that keeps running, and on one
 * that ends.
 */
#ifndef ROUSE_TOOL_POOL_LIVE_H
#define ROUSE_TOOL_POOL_LIVE_H

#include "pool/result.h"

/* Main thread only, with no pool open on it.  0, or -1 after one line of complaint. */
int pool_live_measure(struct pool_live *ret);

#endif
