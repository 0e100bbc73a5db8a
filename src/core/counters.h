/*
 * The figures of rouse_stats, counted by the loop's thread and read by any.
 *
 * One writer makes a locked instruction needless: it loads and stores.  What producers count, the
 * doorbells, costs a system call anyway.  Each counter is one field of rouse_stats after `size`.
 */
#ifndef ROUSE_CORE_COUNTERS_H
#define ROUSE_CORE_COUNTERS_H

#include <rouse/rouse.h>

#include <stdatomic.h>

#define ROUSE__COUNTER(field)                                                                      \
	((offsetof(rouse_stats, field) - offsetof(rouse_stats, turns)) / sizeof(uint64_t))
#define ROUSE__COUNTERS ((sizeof(rouse_stats) - offsetof(rouse_stats, turns)) / sizeof(uint64_t))

struct rouse__counters {
	_Atomic uint64_t counted[ROUSE__COUNTERS];
};

static inline uint64_t rouse__counted(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void rouse__count_on(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, rouse__counted(counter) + n, memory_order_relaxed);
}

/* On the loop's thread. */
#define rouse__count(remote, field, n)                                                             \
	rouse__count_on(&(remote)->counters.counted[ROUSE__COUNTER(field)], (n))
/* On any. */
#define rouse__count_shared(remote, field)                                                         \
	(void)atomic_fetch_add_explicit(&(remote)->counters.counted[ROUSE__COUNTER(field)], 1,     \
	                                memory_order_relaxed)

#endif
