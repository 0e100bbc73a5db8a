/* Making the pending releases, newest first. */
#include "pool/stack.h"

/* 1: a boundary, at which somebody else's way down may end. */
static int skip(struct rouse__pool_thread *t, const entry *e)
{
	if (!is_boundary(e))
		return 0;
	if (marks(e) & DRAINING)
		t->moves++;
	if (marks(e) & BRIDGED)
		rouse__bridge_pop(t);
	return 1;
}

/* A drain on its way down to a pool. */
struct drain {
	uint64_t token;
	struct place at; /* its boundary */
	size_t most;     /* releases */
	size_t released;
	unsigned skipped; /* boundaries above */
	int gone;         /* a release function took the pool away */
};

/* What is left of this chunk above the boundary, or as much of it as stays the same while the
 * releases are made.  1: all of it. */
static int drain_chunk(struct rouse__pool_thread *t, struct drain *d)
{
	struct rouse__pool_top *top = t->top;
	entry *low = d->at.chunk == t->chunk ? d->at.entry + 1 : t->chunk->entries;
	entry *stop = low, *from = top->cur, *e = from;
	size_t live, pools = 0;
	uint64_t moves = t->moves;
	int changed = 0;

	if ((size_t)(from - low) > d->most - d->released)
		stop = from - (d->most - d->released);
	/* One by one, so that `end` follows. */
	if (t->watching) {
		if (stop < from - 1)
			stop = from - 1;
		top->end = stop;
	}
	while (e != stop) {
		top->cur = --e;
		if (__builtin_expect(is_special(e), 0))
			pools += (unsigned)skip(t, e);
		else
			e->release(e->of.object);
		if (top->cur != e || t->moves != moves) {
			changed = 1;
			break;
		}
	}
	if (t->moves != moves)
		d->gone = !rouse__pool_find(t, d->token, &d->at, &live, &live);
	d->released += (size_t)(from - e) - pools;
	d->skipped += (unsigned)pools;
	return e == low && !changed;
}

/* Down to the boundary, or until there were so many releases. */
static void drain_to(struct rouse__pool_thread *t, struct drain *d)
{
	size_t released = d->released;
	unsigned skipped = d->skipped;

	for (;;) {
		int all = drain_chunk(t, d);

		if (d->gone || d->released == d->most)
			break;
		if (!all)
			continue;
		if (d->at.chunk == t->chunk)
			break;
		rouse__pool_step_down(t);
	}
	count(&t->counters[RELEASED], d->released - released);
	if (d->skipped != skipped)
		count(&t->counters[SKIPPED], d->skipped - skipped);
}

/* ---- Pools ------------------------------------------------------------------------------- */

/* A pool that is about to be drained.  Seen from here: what outer pools hold in the same chunk is
 * not counted. */
static inline void note_live(struct rouse__pool_thread *t, const struct chunk *chunk, size_t live)
{
	size_t below = chunk->prev ? chunk->prev->live : 0;

	if (below < t->unowned)
		below = t->unowned;
	rouse__pool_note_live(t, below + live, below);
}

static void look(struct rouse__pool_thread *t, const struct drain *d, size_t live)
{
	rouse__pool_watch(t);
	rouse__pool_look_at_age(t, d->token);
	rouse__pool_look(d->at.entry, live);
}

/* Its releases are made, and now theirs. */
static void drain_theirs(struct rouse__pool_thread *t, struct drain *d)
{
	uint64_t moves = t->moves;
	size_t live, pools;

	set_marks(d->at.entry, marks(d->at.entry) & ~(uintptr_t)BRIDGED);
	rouse__bridge_pop(t);
	if (t->moves != moves)
		d->gone = !rouse__pool_find(t, d->token, &d->at, &live, &pools);
	if (d->gone || t->top->cur == d->at.entry + 1)
		return;
	if (rouse__bridge_push(t))
		set_marks(d->at.entry, marks(d->at.entry) | BRIDGED);
	drain_to(t, d);
}

/* Past the look at it. */
static int drain(struct rouse__pool_thread *t, struct drain *d)
{
	uintptr_t before = marks(d->at.entry);

	set_marks(d->at.entry, before | DRAINING);
	d->most = SIZE_MAX;
	drain_to(t, d);
	while (!d->gone && (marks(d->at.entry) & BRIDGED))
		drain_theirs(t, d);
	if (!d->gone) {
		t->top->cur = d->at.entry;
		/* This one was further in than another one's end. */
		if (before & DRAINING)
			t->moves++;
	}
	if (t->stamp_count)
		rouse__pool_unstamp(t, d->token);
	rouse__pool_settle(t);
	return (int)d->skipped;
}

static int pop(struct rouse__pool_thread *t, struct drain *d, size_t live)
{
	if (rouse__pool_is_limited() || t->watching)
		look(t, d, live);
	note_live(t, d->at.chunk, live);
	if (live)
		count(&t->counters[DRAINS], 1);
	return drain(t, d);
}

/* A release function has changed what there is.  It may have popped this pool. */
__attribute__((noinline)) static int pop_rest(struct rouse__pool_thread *t, uint64_t token)
{
	struct drain d = {.token = token};
	size_t live, pools;

	return rouse__pool_find(t, token, &d.at, &live, &pools) ? drain(t, &d) : 0;
}

/* The newest pool's boundary, in this chunk, if it is that of this token and of no special kind. */
static inline entry *simple_one(struct rouse__pool_thread *t, uint64_t token)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);
	entry *at = top->newest, *low = t->chunk->entries;

	if ((uintptr_t)at - (uintptr_t)low >= (uintptr_t)top->cur - (uintptr_t)low ||
	    at->of.token != token || marks(at) != OPEN) {
		at = rouse__pool_newest(low, top->cur);
		if (!at || at->of.token != token || marks(at) != OPEN)
			return NULL;
	}
	return at;
}

/* The common case of all that: the newest pool, in this chunk, whose release functions mostly leave
 * the stack as it was.  1: done; 0: it is not that case. */
__attribute__((always_inline)) static inline int pop_simply(struct rouse__pool_thread *t,
                                                            uint64_t token, int *ret_result)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);
	entry *e = top->cur, *boundary = simple_one(t, token);
	uint64_t moves = t->moves;
	size_t live;

	if (!boundary || rouse__pool_is_limited())
		return 0;
	live = (size_t)(e - boundary) - 1;
	if (__builtin_expect(live > t->noted, 0)) {
		t->noted = live;
		note_live(t, t->chunk, live);
	}
	count(&t->counters[DRAINS], 1);
	set_marks(boundary, DRAINING);
	do {
		if (__builtin_expect(is_special(--e), 0)) {
			if (e != boundary)
				e++;
			break;
		}
		top->cur = e;
		e->release(e->of.object);
	} while (top->cur == e && t->moves == moves);
	if (__builtin_expect(e == boundary, 1)) {
		count(&t->counters[RELEASED], live);
		top->cur = boundary;
	} else {
		count(&t->counters[RELEASED], live + 1 - (size_t)(e - boundary));
		*ret_result = pop_rest(t, token);
	}
	return 1;
}

__attribute__((noinline)) static int pop_far(struct rouse__pool_thread *t, uint64_t token)
{
	struct drain d = {.token = token};
	size_t live, pools;
	int skipped;

	if (!token)
		return 0;
	if (!t)
		t = rouse__pool_thread();
	if (!t || !rouse__pool_find(t, token, &d.at, &live, &pools))
		return rouse__pool_not_open(t, token);
	skipped = pop(t, &d, live);
	if (t->top->cur == t->top->floor)
		rouse__pool_trim_some(t);
	return skipped;
}

__attribute__((noinline)) static int pop_full(uint64_t token)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);
	struct rouse__pool_thread *t = top->thread;
	int skipped = 0;

	if (!t || !pop_simply(t, token, &skipped))
		return pop_far(t, token);
	if (t->untidy && top->cur == top->floor)
		rouse__pool_trim_some(t);
	return skipped;
}

int rouse_pool_pop(rouse_pool pool)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);
	entry *last = top->cur - 1;

	if (last->release != ROUSE__POOL_OPEN || last->of.token != pool.token)
		return pop_full(pool.token);
	top->cur = last;
	return 0;
}

size_t rouse_pool_drain_some(size_t max)
{
	struct rouse__pool_thread *t = ROUSE__MINE(rouse__pool_top_1)->thread;
	struct drain d = {.most = max};
	size_t live, pools;
	uintptr_t before;

	if (!t)
		return 0;
	if (!rouse__pool_find(t, 0, &d.at, &live, &pools)) {
		(void)rouse__pool_drain_all(t, max);
		return t->unowned;
	}
	d.token = d.at.entry->of.token;
	before = marks(d.at.entry);
	set_marks(d.at.entry, before | DRAINING);
	drain_to(t, &d);
	rouse__pool_settle(t);
	if (!rouse__pool_find(t, d.token, &d.at, &live, &pools))
		return 0;
	set_marks(d.at.entry, (marks(d.at.entry) & ~(uintptr_t)DRAINING) | (before & DRAINING));
	return live;
}

/* ---- A loop's ------------------------------------------------------------------------------ */

void rouse__pool_end(rouse_pool pool)
{
	struct rouse__pool_thread *t = ROUSE__MINE(rouse__pool_top_1)->thread;
	struct drain d = {.token = pool.token};
	size_t live, pools;
	int unused;

	if (!pool.token || rouse__pool_end_empty(pool))
		return;
	if (!pop_simply(t, pool.token, &unused)) {
		if (!rouse__pool_find(t, pool.token, &d.at, &live, &pools))
			return;
		(void)pop(t, &d, live);
	}
	/* Whoever has a pool around all of the loop's turns needs the memory of one turn, too. */
	if (t->untidy)
		rouse__pool_trim_some(t);
}

/* ---- A thread's ------------------------------------------------------------------------------ */

/* Here nothing is kept over a release: there may be any pools, and no more of them, after it. */
size_t rouse__pool_drain_all(struct rouse__pool_thread *t, size_t most)
{
	struct rouse__pool_top *top = t->top;
	unsigned char before = t->own_drain;
	struct drain d = {0};
	int theirs = 0;

	t->own_drain = 1;
	while (d.released < most && top->cur != t->first->entries) {
		int at_floor;
		entry e;

		/* In none of their pools, but they expect one. */
		if (!t->their_count && rouse__pool_is_bridged())
			theirs = rouse__bridge_push(t);
		if (top->cur == t->chunk->entries)
			rouse__pool_step_down(t);
		at_floor = top->cur == top->floor;
		e = *--top->cur;
		rouse__pool_settle(t);
		if (at_floor) {
			top->floor = top->cur;
			t->unowned--;
			t->noted = 0;
		}
		if (skip(t, &e)) {
			d.skipped++;
			continue;
		}
		d.released++;
		if (e.release)
			e.release(e.of.object);
	}
	if (theirs)
		rouse__bridge_pop(t);
	t->own_drain = before;
	count(&t->counters[RELEASED], d.released);
	count(&t->counters[SKIPPED], d.skipped);
	return d.released;
}

size_t rouse_pool_drain_thread(void)
{
	struct rouse__pool_thread *t = ROUSE__MINE(rouse__pool_top_1)->thread;
	size_t released = 0;

	if (!t)
		return 0;
	do
		released += rouse__pool_drain_all(t, SIZE_MAX);
	while (t->top->cur != t->first->entries);
	t->stamp_count = 0;
	set(&t->live, 0);
	return released;
}
