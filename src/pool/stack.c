/* Adding to a thread's stack, and finding a pool in it. */
#include "pool/stack.h"

/* The fast paths keep no register for it. */
#define NOINLINE __attribute__((noinline))

/* ---- Adding ---------------------------------------------------------------------- */

int rouse__pool_put(struct rouse__pool_thread *t, entry e)
{
	struct rouse__pool_top *top = t->top;

	if (top->cur == t->chunk->end && !rouse__pool_next_chunk(t))
		return 0;
	if (is_boundary(&e))
		top->newest = top->cur;
	*top->cur++ = e;
	rouse__pool_settle(t);
	return 1;
}

NOINLINE static rouse_pool push_slowly(void)
{
	struct rouse__pool_thread *t = rouse__pool_thread();
	rouse_pool none = {0}, pool;
	uintptr_t how = OPEN;
	entry e;

	if (!t)
		return none;
	rouse__pool_watch(t);
	if (rouse__pool_is_bridged()) {
		if (!rouse__bridge_push(t))
			return none;
		how |= BRIDGED;
	}
	pool.token = ++t->top->serial;
	if (t->watching) {
		how |= WATCHED;
		rouse__pool_stamp(t, pool.token);
	}
	e.of.token = pool.token;
	set_marks(&e, how);
	if (rouse__pool_put(t, e))
		return pool;
	rouse__pool_unstamp(t, pool.token);
	if (how & BRIDGED)
		rouse__bridge_pop(t);
	return none;
}

rouse_pool rouse_pool_push(void)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);
	rouse_pool pool;

	if (top->cur == top->end)
		return push_slowly();
	pool.token = ++top->serial;
	top->cur->of.token = pool.token;
	top->cur->release = ROUSE__POOL_OPEN;
	top->newest = top->cur++;
	return pool;
}

NOINLINE static void *add_slowly(void *object, rouse_release_fn release, void *caller)
{
	struct rouse__pool_thread *t = rouse__pool_thread();
	int missing = t && t->top->cur == t->top->floor;

	if (!t && rouse__pool_strand())
		return object;
	if (!t || !rouse__pool_put(t, (entry){{object}, release})) {
		if (release)
			release(object);
		return NULL;
	}
	if (missing) {
		t->top->floor = t->top->cur;
		t->unowned++;
		t->noted = 0;
	}
	if (missing && !t->own_drain) {
		count(&t->counters[MISSING], 1);
		rouse__pool_missing(caller);
	}
	if (t->watching)
		rouse__pool_look_at_age(t, 0);
	return object;
}

void *rouse_autorelease(void *object, rouse_release_fn release)
{
	struct rouse__pool_top *top = ROUSE__MINE(rouse__pool_top_1);

	if (top->cur == top->end || top->cur == top->floor)
		return add_slowly(object, release, __builtin_return_address(0));
	*top->cur++ = (entry){{object}, release};
	return object;
}

entry rouse__pool_take(struct rouse__pool_thread *t)
{
	entry e;

	if (t->top->cur == t->chunk->entries)
		rouse__pool_step_down(t);
	e = *--t->top->cur;
	rouse__pool_settle(t);
	return e;
}

/* ---- Finding ----------------------------------------------------------------------- */

/* Boundaries lead from one to the next below; in full chunks the newest is noted.  Below the floor
 * there is none. */
int rouse__pool_find(const struct rouse__pool_thread *t, uint64_t token, struct place *ret_at,
                     size_t *ret_live, size_t *ret_pools)
{
	struct chunk *chunk = t->chunk;
	entry *from = t->top->cur;
	size_t live = 0, pools = 0;

	for (;;) {
		entry *e = rouse__pool_newest(chunk->entries, from);

		live += (size_t)(from - (e ? e + 1 : chunk->entries));
		if (e && (!token || e->of.token == token)) {
			*ret_at = (struct place){chunk, e};
			*ret_live = live;
			*ret_pools = pools;
			return 1;
		}
		from = e;
		if (e) {
			pools++;
			continue;
		}
		chunk = chunk->prev;
		if (!chunk || !chunk->newest.entry)
			return 0;
		for (; chunk != chunk->newest.chunk; chunk = chunk->prev)
			live += (size_t)(chunk->end - chunk->entries);
		from = chunk->end;
	}
}

int rouse__pool_not_open(struct rouse__pool_thread *t, uint64_t token)
{
	int strange = !t || token >> COUNT_BITS != t->index;

	if (t)
		count(&t->counters[strange ? WRONG_THREAD : STALE], 1);
	return strange ? ROUSE_EWRONGTHREAD : ROUSE_ESTALE;
}
