/* Which threads use pools: their beginning and their end. */
#include "pool/stack.h"

#include "os/os.h"

#include <stdlib.h>

/* Where a thread that has not begun looks down: at no boundary. */
static entry nothing[1];
#define UNUSED                                                                                     \
	{                                                                                          \
		nothing + 1, nothing + 1, nothing + 1, nothing, 0, NULL                            \
	}

ROUSE__LOCAL struct rouse__pool_top rouse__pool_top_1 = UNUSED;

static ROUSE__LOCAL unsigned char over; /* past the last round of this thread's end */

static _Atomic(struct rouse__pool_thread *) threads;
static _Atomic uint64_t stranded;

struct rouse__pool_thread *rouse__pool_threads(void)
{
	return atomic_load_explicit(&threads, memory_order_acquire);
}

/* ---- Beginning --------------------------------------------------------------------- */

static struct rouse__pool_thread *adopt(void)
{
	for (struct rouse__pool_thread *t = rouse__pool_threads(); t; t = t->next) {
		unsigned no = 0;

		if (atomic_load_explicit(&t->taken, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong_explicit(&t->taken, &no, 1, memory_order_acquire,
		                                            memory_order_relaxed))
			return t;
	}
	return NULL;
}

static struct rouse__pool_thread *create(void)
{
	struct rouse__pool_thread *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	atomic_init(&t->taken, 1);
	t->next = rouse__pool_threads();
	do {
		t->index = t->next ? t->next->index + 1 : 1;
		t->serial = t->index << COUNT_BITS;
		if (t->index > MOST_THREADS) {
			free(t);
			return NULL;
		}
	} while (!atomic_compare_exchange_weak_explicit(&threads, &t->next, t, memory_order_acq_rel,
	                                                memory_order_acquire));
	return t;
}

static void give_back(struct rouse__pool_thread *t)
{
	atomic_store_explicit(&t->taken, 0, memory_order_release);
}

/* What loops have pushed so far, outermost first. */
static void push_lazy(struct rouse__pool_thread *t, uint64_t lazy)
{
	for (uint64_t token = 1; token <= lazy; token++) {
		entry e = {.of.token = token, .release = ROUSE__POOL_OPEN};

		if (!rouse__pool_put(t, e))
			break;
	}
}

static void ending(int last);

static int begin(struct rouse__pool_thread *t)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);
	uint64_t lazy = top->serial;

	if (rouse__at_thread_end(ROUSE__POOLS_END, ending))
		return 0;
	t->top = top;
	if (!rouse__pool_first_chunk(t)) {
		rouse__not_at_thread_end(ROUSE__POOLS_END);
		return 0;
	}
	for (int i = 0; i < COUNTERS; i++)
		t->before[i] = counted(&t->counters[i]);
	top->floor = top->cur;
	top->serial = t->serial;
	top->thread = t;
	t->unowned = 0;
	t->own_drain = t->watching = 0;
	push_lazy(t, lazy);
	rouse__pool_watch(t);
	rouse__pool_settle(t);
	return 1;
}

struct rouse__pool_thread *rouse__pool_thread(void)
{
	struct rouse__pool_thread *t = ROUSE__MINE(rouse__pool_top_1)->thread;

	if (t || *ROUSE__MINE(over))
		return t;
	t = adopt();
	if (!t)
		t = create();
	if (t && !begin(t)) {
		give_back(t);
		t = NULL;
	}
	return t;
}

/* ---- End ---------------------------------------------------------------------------- */

int rouse__pool_strand(void)
{
	if (*ROUSE__MINE(over))
		atomic_fetch_add_explicit(&stranded, 1, memory_order_relaxed);
	return *ROUSE__MINE(over);
}

uint64_t rouse__pool_stranded(void)
{
	return counted(&stranded);
}

static void leave(struct rouse__pool_thread *t)
{
	uint64_t peak = counted(&t->peak);

	t->serial = t->top->serial;
	rouse__pool_finish(t);
	*t->top = (struct rouse__pool_top)UNUSED;
	set(&t->live, 0);
	if (peak > counted(&t->peak_before))
		set(&t->peak_before, peak);
	set(&t->peak, 0);
	*ROUSE__MINE(over) = 1;
	give_back(t);
}

/* Called in each round of the thread's end: what other destructors autorelease after this one
 * is drained in the next, and after the last nobody comes any more. */
static void ending(int last)
{
	struct rouse__pool_thread *t = ROUSE__MINE(rouse__pool_top_1)->thread;

	t->own_drain = 1;
	rouse__bridge_leave(t);
	(void)rouse_pool_drain_thread();
	if (last)
		leave(t);
}
