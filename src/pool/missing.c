/* Autoreleases with no pool open, and how they are told of. */
#include "pool/stack.h"

#include "os/os.h"

#include <stdlib.h>
#include <string.h>

enum { SITES = 1024, TRIES = 32 }; /* call sites told of; where they are too many, none is new */

enum { UNSET = -1 };

static atomic_int policy = UNSET;
static _Atomic(void *) sites[SITES];

/* Under the lock. */
static rouse_pool_report_fn report_fn;
static void *report_ctx;

static int from_environment(void)
{
	const char *said = rouse__environment("ROUSE_MISSING_POOLS");

	if (said && !strcmp(said, "warn"))
		return ROUSE_MISSING_WARN;
	if (said && !strcmp(said, "abort"))
		return ROUSE_MISSING_ABORT;
	return ROUSE_MISSING_COUNT;
}

static int the_policy(void)
{
	int is = atomic_load_explicit(&policy, memory_order_acquire);
	int unset = UNSET;

	if (is != UNSET)
		return is;
	is = from_environment();
	if (!atomic_compare_exchange_strong_explicit(&policy, &unset, is, memory_order_acq_rel,
	                                             memory_order_acquire))
		is = unset;
	return is;
}

int rouse_pool_set_missing(enum rouse_missing_pools want, rouse_pool_report_fn report, void *ctx)
{
	if (want != ROUSE_MISSING_COUNT && want != ROUSE_MISSING_WARN &&
	    want != ROUSE_MISSING_ABORT)
		return ROUSE_EINVAL;
	rouse__lock();
	report_ctx = ctx;
	report_fn = report;
	rouse__unlock();
	atomic_store_explicit(&policy, (int)want, memory_order_release);
	return 0;
}

void rouse__pool_report(const char *what, void *caller)
{
	rouse_pool_report_fn fn;
	void *ctx;

	rouse__lock();
	fn = report_fn;
	ctx = report_ctx;
	rouse__unlock();
	if (fn)
		fn(what, caller, ctx);
	else
		rouse__complain(what, caller);
}

/* Each site once, without a lock: it takes the first free place of the few where it may stand. */
static int is_new(void *caller)
{
	size_t at = ((uintptr_t)caller >> 2) * 2654435761u;

	for (size_t i = 0; i < TRIES; i++) {
		_Atomic(void *) *site = &sites[(at + i) % SITES];
		void *there = NULL;

		if (atomic_compare_exchange_strong_explicit(
		            site, &there, caller, memory_order_acq_rel, memory_order_acquire))
			return 1;
		if (there == caller)
			return 0;
	}
	return 0;
}

void rouse__pool_missing(void *caller)
{
	static const char what[] = "autoreleased with no pool open";
	int is = the_policy();

	if (is == ROUSE_MISSING_COUNT || (is == ROUSE_MISSING_WARN && !is_new(caller)))
		return;
	rouse__pool_report(what, caller);
	if (is == ROUSE_MISSING_ABORT)
		abort();
}
