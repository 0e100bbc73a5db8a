/**
 * @file pool.h
 * Autorelease pools: a per-thread stack of pending release calls.
 *
 * A function that hands out an object and does not want its caller to own it adds the object
 * to the thread's newest pool; draining that pool makes the release calls, newest first.
 * Nothing else does.  A rouse_loop drains one each turn.  A thread that ends drains what is
 * left.  A thread that does neither scopes its work by hand, one pool around each operation
 * that autoreleases:
 *
 *     ROUSE_POOL_SCOPE {                   // a loop: break and continue bind to it
 *         post_key(emitter, key);          // autoreleases
 *     }
 *
 * Pools need no loop, and are not pools of memory.  All functions are for any thread and work
 * on the calling thread's own stack; none is for a signal handler.  They may be called from a
 * release function, which has to return.  rouse_strerror() explains their errors.  Memory is
 * malloc's.  A forked child has a copy of the forking thread's pools.
 *
 * With ROUSE_POOL_INLINE defined, push, pop and autorelease are inlined (GNU C, ELF): the layout
 * of struct rouse__pool_top, of an entry and of a boundary then is ABI, under the version in
 * the symbol's name.  Elsewhere the macro does nothing: a program and a library of another
 * format would not share the variable.  Neither does it where the library was built with
 * ROUSE_POOL_TLS=call, which keeps the variable to itself (its users get ROUSE_POOL_CALLS
 * defined).  How a library that inlines reaches the variable is its own choice, by
 * -ftls-model or by ROUSE_POOL_TLS_MODEL, an attribute: a program reaches it fast anyway.
 */
#ifndef ROUSE_POOL_H
#define ROUSE_POOL_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*rouse_release_fn)(void *object);

/** Names one pool of one thread.  Never reused; all zero names none. */
typedef struct rouse_pool {
	uint64_t token;
} rouse_pool;

/* ---- ABI of the inlined form, version 1 ------------------------------------------ */

struct rouse__pool_entry {
	union {
		void *object;
		uint64_t token; /* of a boundary, where a pool begins */
	} of;
	rouse_release_fn release; /* of a boundary: a small number, at which no function stands */
};

struct rouse__pool_top {
	struct rouse__pool_entry *cur, *end, *floor, *newest;
	uint64_t serial;
	struct rouse__pool_thread *thread;
};

/* The mark of a boundary whose pool may be popped without asking the library. */
#define ROUSE__POOL_OPEN ((rouse_release_fn)(uintptr_t)1)

/* ---- Push, autorelease, pop ------------------------------------------------- */

/**
 * Open a pool.
 *
 * @return its name; all zero if there was no memory: what is autoreleased then goes into the pool
 *         that was open before, and popping that name does nothing.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE rouse_pool rouse_pool_push(void);

/**
 * Drain a pool, and those opened since and left open, newest entry first.  What a release function
 * autoreleases meanwhile is drained, too.
 *
 * @return how many of those left open it drained (0 is the healthy answer); ROUSE_ESTALE: it is not
 *         open any more; ROUSE_EWRONGTHREAD: it is another thread's (one that has ended may look
 *         stale).  On failure nothing changes.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD int rouse_pool_pop(rouse_pool pool);

/**
 * Add a pending release to the thread's newest pool.  Where no pool is open, that is counted (see
 * rouse_pool_set_missing()), and the release is made when the thread ends.
 *
 * @param release Called once, on this thread, with `object`; NULL: nothing is.
 * @return `object`, so that `return rouse_autorelease(object, fn)` reads well; NULL if there was no
 *         memory, and then `object` has been released.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD void *rouse_autorelease(void *object, rouse_release_fn release);

/**
 * The same into an outer pool that is still open, so that the object survives the inner ones.
 * Costs a move of what was autoreleased since into the pools inside it.
 *
 * @return 0; ROUSE_EINVAL, ROUSE_ESTALE, ROUSE_EWRONGTHREAD, ROUSE_ENOMEM: then the object is still
 *         the caller's.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_autorelease_to(rouse_pool pool, void *object,
                                                                   rouse_release_fn release);

/* ---- Draining by hand ------------------------------------------------------- */

/** Make at most `max` of the newest pool's pending releases, newest first; where no pool is open,
 *  of those that wait for the thread's end.  @return how many are left.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD size_t rouse_pool_drain_some(size_t max);

/** Drain everything of this thread, and close all its pools: for the main thread before it returns,
 *  which is no thread's end to the system.  @return how many releases it made.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD size_t rouse_pool_drain_thread(void);

/** Give spare memory back now, all of it; by itself that happens over time: of what one drain after
 *  the other does not need an eighth each time, but for one spare chunk.  Returns nothing.
 *  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD void rouse_pool_trim(void);

/* ---- Fibers ------------------------------------------------------------------- */

/** Pools that were taken off a thread. */
typedef struct rouse_pool_stack rouse_pool_stack;

/**
 * Take a pool and all that were opened since off this thread, with what is in them: for a fiber
 * that is about to be switched away.  Not a pool that a loop's turn is inside of.
 *
 * @param ret_stack Written on success; goes back by rouse_pool_attach(), and in no other way.
 * @return 0; ROUSE_EINVAL, ROUSE_ESTALE, ROUSE_EWRONGTHREAD, ROUSE_ENOMEM; ROUSE_EBUSY: it is being
 *         drained; ROUSE_ENOTSUP: one of them is bridged, and theirs stays on its thread.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_pool_detach(rouse_pool from,
                                                                rouse_pool_stack **ret_stack);

/** Put them on top of this thread's pools, which may be another thread's; their names stay good.
 *  @return 0; ROUSE_EINVAL; ROUSE_ENOMEM: the stack is still the caller's.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_pool_attach(rouse_pool_stack *stack);

/* ---- Asking --------------------------------------------------------------------- */

/** `size` as in rouse_loop_options, set before the call. */
typedef struct rouse_pool_stats {
	size_t size;
	uint64_t live;     /**< Pending releases. */
	uint64_t peak;     /**< The most that were pending, of one thread, as far as was seen when a
	                        pool was drained or a chunk was full: releases of outer pools that
	                        are in the same chunk may be missing in it. */
	uint64_t released; /**< Releases made. */
	uint64_t drains;   /**< Pools drained that had something in them. */
	uint64_t missing;  /**< Autoreleases with no pool open. */
	uint64_t skipped;  /**< Pools left open, and drained with an outer one or by the thread. */
	uint64_t stale;    /**< Pops, and the like, of a pool that was not open. */
	uint64_t wrong_thread; /**< Pops, and the like, of another thread's pool. */
	uint64_t stranded;     /**< Autoreleased after the thread's last drain: never released.  Of
	                            the process only. */
	uint64_t bytes;        /**< Memory that the stack itself holds. */
} rouse_pool_stats;

/** Of the calling thread.  @return 0; ROUSE_EINVAL, ROUSE_EABI.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD int rouse_pool_stats_thread(rouse_pool_stats *stats);
/** Of all threads, those that have ended included.  What is live is what others had at their last
 *  drain, or at their last full chunk.  @return 0; ROUSE_EINVAL, ROUSE_EABI.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD int rouse_pool_stats_process(rouse_pool_stats *stats);

/** Tell this thread's pending releases, grouped by function, most first.  @return 0; ROUSE_EINVAL,
 * ROUSE_ENOMEM.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD int rouse_pool_walk(void (*group)(rouse_release_fn release, size_t live,
                                                             void *ctx),
                                               void *ctx);

/** What to do when an object is autoreleased and no pool is open. */
enum rouse_missing_pools {
	ROUSE_MISSING_COUNT = 0, /**< Only count it. */
	ROUSE_MISSING_WARN = 1,  /**< Report each call site once. */
	ROUSE_MISSING_ABORT = 2  /**< Report it, and abort. */
};

/** Called on the thread that it is about, outside all locks; must not use pools.  `caller` is the
 *  address that the autorelease returns to, or NULL where it is about a pool. */
typedef void (*rouse_pool_report_fn)(const char *what, void *caller, void *ctx);

/**
 * Set the policy of this process.  Until then it is what the environment variable
 * ROUSE_MISSING_POOLS says, "count", "warn" or "abort" (not in a set-id program).
 *
 * @param report NULL: a line on standard error.  Also told of pools over a limit.
 * @return 0; ROUSE_EINVAL.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD int rouse_pool_set_missing(enum rouse_missing_pools policy,
                                                      rouse_pool_report_fn report, void *ctx);

/**
 * Report a pool once that has more than `entries` pending releases, or stays open longer than
 * `age` (0: no limit).  The size is looked at when a chunk of the stack is full (about 4,000
 * releases) and when a pool is popped that has something in it.  The age is, too, and at each
 * autorelease; for that nothing is inlined while there is a limit, and each push asks for the
 * time.  Other threads notice it when they next push their first pool or pop one that has
 * something in it; pools that were open before have no age.
 *
 * @return 0.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD int rouse_pool_set_limits(size_t entries, rouse_ns age);

/* ---- Objective-C ------------------------------------------------------------------ */

/**
 * From now on each pool comes with one of the Objective-C runtime's, for the objects that are
 * autoreleased there: a loop's turn, a callback and a scope push it before ours and pop it after
 * ours is drained.  What is still autoreleased meanwhile, on either side, is drained, too.  For all
 * of the process, and for good.
 *
 * The runtime is the one whose functions the dynamic linker finds: Apple's or libobjc2's
 * (objc_autoreleasePoolPush() and its like), or else gcc's with GNUstep's NSAutoreleasePool.
 * Nothing is inlined any more.  Call it first: pools that are open have none of theirs, and
 * other threads notice it as they notice a limit of age, but their loops with the next turn.
 *
 * A push that gets no memory for theirs fails.  A bridged pool cannot be detached.  What theirs
 * hold is in none of our figures, and for rouse_pool_pop() alone to release.  Where the thread ends
 * with such a pool open, theirs is left to the runtime.
 *
 * @return 0; ROUSE_ENOTSUP: there is no such runtime in the process, yet.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD int rouse_pool_bridge_objc(void);

/** Release an Objective-C object, or nil: rouse_autorelease(object, rouse_release_objc) puts one
 *  into ours, with or without the bridge.  Where rouse_pool_bridge_objc() finds no runtime it is
 *  not released, and that is reported.  Returns nothing.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD void rouse_release_objc(void *object);

/* ---- Inlined -------------------------------------------------------------------- */

#if defined(ROUSE_POOL_INLINE) && defined(__GNUC__) && defined(__ELF__) &&                         \
        !defined(ROUSE_POOL_CALLS)
#ifndef ROUSE_POOL_TLS_MODEL
#define ROUSE_POOL_TLS_MODEL
#endif
ROUSE_API extern __thread struct rouse__pool_top rouse__pool_top_1 ROUSE_POOL_TLS_MODEL;

/* Always: what the library reports is the address that its own function returns to. */
#define ROUSE__POOL_INLINED static inline __attribute__((always_inline, unused))

ROUSE__POOL_INLINED rouse_pool rouse__pool_push_inline(void)
{
	struct rouse__pool_entry *at = rouse__pool_top_1.cur;
	rouse_pool pool;

	if (at == rouse__pool_top_1.end)
		return rouse_pool_push();
	pool.token = ++rouse__pool_top_1.serial;
	at->of.token = pool.token;
	at->release = ROUSE__POOL_OPEN;
	rouse__pool_top_1.newest = at;
	rouse__pool_top_1.cur = at + 1;
	return pool;
}

ROUSE__POOL_INLINED int rouse__pool_pop_inline(rouse_pool pool)
{
	struct rouse__pool_entry *last = rouse__pool_top_1.cur - 1;

	if (last->release != ROUSE__POOL_OPEN || last->of.token != pool.token)
		return rouse_pool_pop(pool);
	rouse__pool_top_1.cur = last;
	return 0;
}

ROUSE__POOL_INLINED void *rouse__autorelease_inline(void *object, rouse_release_fn release)
{
	struct rouse__pool_entry *at = rouse__pool_top_1.cur;

	if (at == rouse__pool_top_1.end || at == rouse__pool_top_1.floor)
		return rouse_autorelease(object, release);
	at->of.object = object;
	at->release = release;
	rouse__pool_top_1.cur = at + 1;
	return object;
}

#define rouse_pool_push() rouse__pool_push_inline()
#define rouse_pool_pop(pool) rouse__pool_pop_inline(pool)
#define rouse_autorelease(object, release) rouse__autorelease_inline(object, release)
#endif

/* ---- Scopes ------------------------------------------------------------------- */

/*
 * ROUSE_POOL_SCOPE { ... }: a pool around a block, which is a loop of one round: break and continue
 * leave it.  With GNU C the pool is popped however the block is left, but by longjmp();
 * elsewhere a break, return or goto out of it leaves the pool to the next outer pop, which
 * counts it.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): names, which are declared */
#define ROUSE__POOL_PASTE_(a, b) a##b
#define ROUSE__POOL_PASTE(a, b) ROUSE__POOL_PASTE_(a, b)
#if defined(__GNUC__)
static inline void rouse__pool_leave(rouse_pool *pool)
{
	(void)rouse_pool_pop(*pool);
}
#define ROUSE__POOL_SCOPE(pool, once)                                                              \
	for (rouse_pool pool __attribute__((cleanup(rouse__pool_leave))) = rouse_pool_push(),      \
	                     *once = &pool;                                                        \
	     once; once = NULL)
#define ROUSE__POOL_SCOPE_(n)                                                                      \
	ROUSE__POOL_SCOPE(ROUSE__POOL_PASTE(rouse__pool_, n), ROUSE__POOL_PASTE(rouse__once_, n))
#define ROUSE_POOL_SCOPE ROUSE__POOL_SCOPE_(__COUNTER__)
#else
#define ROUSE__POOL_SCOPE(pool, once)                                                              \
	for (rouse_pool pool = rouse_pool_push(), *once = &pool; once;                             \
	     once = NULL, (void)rouse_pool_pop(pool))
#define ROUSE__POOL_SCOPE_(n)                                                                      \
	ROUSE__POOL_SCOPE(ROUSE__POOL_PASTE(rouse__pool_, n), ROUSE__POOL_PASTE(rouse__once_, n))
#define ROUSE_POOL_SCOPE ROUSE__POOL_SCOPE_(__LINE__)
#endif
/* NOLINTEND(bugprone-macro-parentheses) */

#ifdef __cplusplus
}

namespace rouse
{
/* A pool around a call, popped however it ends.  Not a guard to keep in a variable: pools are
 * popped in reverse order, and a guard can be dropped early, moved, or forgotten. */
template <typename Callable> auto with_pool(Callable &&callable) -> decltype(callable())
{
	struct scope {
		rouse_pool pool;
		scope() : pool(rouse_pool_push())
		{
		}
		~scope()
		{
			(void)rouse_pool_pop(pool);
		}
		scope(const scope &) = delete;
		scope &operator=(const scope &) = delete;
	} in_pool;

	(void)in_pool;
	return callable();
}
} // namespace rouse
#endif
#endif
