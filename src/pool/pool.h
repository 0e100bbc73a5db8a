/*
 * A loop's own pools.  A thread that never autoreleases has no stack, and a loop on it asks
 * for no memory: its pools are then only counted, in `serial`, and pushed when the first object
 * comes.
 */
#ifndef ROUSE_POOL_POOL_H
#define ROUSE_POOL_POOL_H

#include "os/os.h"

#include <rouse/pool.h>

/* Who inlines it elsewhere may reach it in another way. */
#if defined(ROUSE_POOL_CALLS) || defined(_WIN32)
extern ROUSE__LOCAL struct rouse__pool_top rouse__pool_top_1 ROUSE__OURS ROUSE__TLS;
#else
ROUSE_API extern ROUSE__LOCAL struct rouse__pool_top rouse__pool_top_1 ROUSE__TLS;
#endif

/* What all threads have to look for. */
enum rouse__pool_limit { LIMITED_SIZE = 1, LIMITED_AGE = 2, BRIDGED_BY_OBJC = 4 };
extern _Atomic int rouse__pool_limited ROUSE__OURS;
static inline int rouse__pool_is_limited(void)
{
	return atomic_load_explicit(&rouse__pool_limited, memory_order_relaxed);
}
static inline int rouse__pool_is_bridged(void)
{
	return rouse__pool_is_limited() & BRIDGED_BY_OBJC;
}

/* This thread's stack follows what is limited and bridged now. */
void rouse__pool_watch_here(void);

/* All zero: no memory, and nothing to end. */
static inline rouse_pool rouse__pool_begin(void)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);

	/* Nothing else may ever come by where only theirs are used. */
	if (__builtin_expect(rouse__pool_is_bridged(), 0))
		rouse__pool_watch_here();
	else if (!top->thread)
		return (rouse_pool){++top->serial};
	return rouse_pool_push();
}

/* 1: nothing was in it, and it is ended; 0: that is to be done by rouse__pool_end(). */
static inline int rouse__pool_end_empty(rouse_pool pool)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);
	struct rouse__pool_entry *last = top->cur - 1;

	if (!top->thread) {
		if (pool.token)
			top->serial = pool.token - 1;
		return 1;
	}
	if (last->release != ROUSE__POOL_OPEN || last->of.token != pool.token)
		return 0;
	top->cur = last;
	return 1;
}

/* Also where it is gone already. */
void rouse__pool_end(rouse_pool pool);

#endif
