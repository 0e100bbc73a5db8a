/*
 * Pools that are too large, or open for too long.
 *
 * The size is looked at where the stack comes by anyway.  For the age somebody has to look at the
 * clock when a pool is pushed, so while that is asked for nothing is inlined: `end` follows
 * `cur`, and the boundaries' marks keep the inlined pop from them.
 */
#include "pool/stack.h"

#include "os/os.h"

#include <stdlib.h>

struct stamp {
	uint64_t token;
	rouse_ns at;
	int told;
};

static _Atomic size_t most_entries;
static _Atomic rouse_ns most_age;

_Atomic int rouse__pool_limited;

/* Popped inlined, those that are open would leave `end` behind. */
static void mark_open_pools(struct rouse__pool_thread *t)
{
	for (struct chunk *c = t->first; c; c = c == t->chunk ? NULL : c->next) {
		entry *end = c == t->chunk ? t->top->cur : c->end;

		for (entry *e = c->entries; e < end; e++)
			if (is_boundary(e))
				set_marks(e, marks(e) | WATCHED);
	}
}

void rouse__pool_watch(struct rouse__pool_thread *t)
{
	unsigned char before = t->watching;

	t->watching = (rouse__pool_is_limited() & (LIMITED_AGE | BRIDGED_BY_OBJC)) != 0;
	if (!t->watching || before)
		return;
	mark_open_pools(t);
	/* A drain that is under way goes on one by one. */
	t->moves++;
}

void rouse__pool_watch_here(void)
{
	struct rouse__pool_thread *t = ROUSE__MINE(rouse__pool_top_1)->thread;

	if (!t)
		return;
	rouse__pool_watch(t);
	rouse__pool_settle(t);
}

int rouse_pool_set_limits(size_t entries, rouse_ns age)
{
	int limited = (entries ? LIMITED_SIZE : 0) | (age ? LIMITED_AGE : 0);

	atomic_store_explicit(&most_entries, entries, memory_order_relaxed);
	atomic_store_explicit(&most_age, age, memory_order_relaxed);
	atomic_fetch_and_explicit(&rouse__pool_limited, limited | BRIDGED_BY_OBJC,
	                          memory_order_relaxed);
	atomic_fetch_or_explicit(&rouse__pool_limited, limited, memory_order_relaxed);
	rouse__pool_watch_here();
	return 0;
}

void rouse__pool_look(entry *boundary, size_t live)
{
	size_t limit = atomic_load_explicit(&most_entries, memory_order_relaxed);

	if (!limit || live <= limit || (marks(boundary) & TOLD))
		return;
	set_marks(boundary, marks(boundary) | TOLD);
	rouse__pool_report("a pool has more pending releases than the limit", NULL);
}

/* ---- Age ---------------------------------------------------------------------------- */

/* Without memory it has no age. */
void rouse__pool_stamp(struct rouse__pool_thread *t, uint64_t token)
{
	if (!atomic_load_explicit(&most_age, memory_order_relaxed))
		return;
	if (t->stamp_count == t->stamp_room) {
		size_t room = t->stamp_room ? t->stamp_room * 2 : 16;
		struct stamp *grown = realloc(t->stamps, room * sizeof *grown);

		if (!grown)
			return;
		t->stamps = grown;
		t->stamp_room = room;
	}
	t->stamps[t->stamp_count++] = (struct stamp){.token = token, .at = rouse__clock()};
}

/* Tokens of this thread's own grow; others, of pools that were attached, have no stamp. */
void rouse__pool_unstamp(struct rouse__pool_thread *t, uint64_t token)
{
	while (t->stamp_count && token >> COUNT_BITS == t->index &&
	       t->stamps[t->stamp_count - 1].token >= token)
		t->stamp_count--;
}

void rouse__pool_look_at_age(struct rouse__pool_thread *t, uint64_t token)
{
	rouse_ns limit = atomic_load_explicit(&most_age, memory_order_relaxed);
	size_t n = t->stamp_count;
	struct stamp *stamp;

	while (n && token && t->stamps[n - 1].token != token)
		n--;
	if (!n || !limit)
		return;
	stamp = &t->stamps[n - 1];
	if (stamp->told || rouse__clock() - stamp->at <= limit)
		return;
	stamp->told = 1;
	rouse__pool_report("a pool is open for longer than the limit", NULL);
}
