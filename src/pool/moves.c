/* Entries that change their place: into an outer pool, off the thread, and back on one. */
#include "pool/stack.h"

#include <stdlib.h>
#include <string.h>

/* ---- Into an outer pool --------------------------------------------------------------- */

/* The next boundary above this place; there is one. */
static struct place boundary_above(const struct rouse__pool_thread *t, struct place from)
{
	struct chunk *chunk = from.chunk;
	entry *e = from.entry + 1;

	for (;;) {
		const entry *end = chunk == t->chunk ? t->top->cur : chunk->end;

		while (e < end && !is_boundary(e))
			e++;
		if (e < end || chunk == t->chunk)
			return (struct place){chunk, e};
		chunk = chunk->next;
		e = chunk->entries;
	}
}

/* Everything from here on goes one place up; the topmost, pushed already, is overwritten. */
static void insert(struct rouse__pool_thread *t, struct place place, entry what)
{
	struct chunk *chunk = place.chunk;
	entry *at = place.entry;

	t->moves++;
	t->top->newest = NULL;
	t->noted = 0;
	for (;;) {
		entry *end = chunk == t->chunk ? t->top->cur : chunk->end;
		entry last = end[-1];

		memmove(at + 1, at, (size_t)(end - 1 - at) * sizeof *at);
		*at = what;
		if (chunk == t->chunk)
			return;
		rouse__pool_note_full(chunk);
		what = last;
		chunk = chunk->next;
		at = chunk->entries;
	}
}

int rouse_autorelease_to(rouse_pool pool, void *object, rouse_release_fn release)
{
	struct rouse__pool_thread *t;
	entry what = {{object}, release};
	struct place at;
	size_t live, pools;

	if (!release || !pool.token)
		return ROUSE_EINVAL;
	t = rouse__pool_thread();
	if (!t || !rouse__pool_find(t, pool.token, &at, &live, &pools))
		return rouse__pool_not_open(t, pool.token);
	if (!rouse__pool_put(t, what))
		return ROUSE_ENOMEM;
	if (pools)
		insert(t, boundary_above(t, at), what);
	return 0;
}

/* ---- Fibers ------------------------------------------------------------------------------- */

struct rouse_pool_stack {
	size_t count;
	entry entries[];
};

/* Of all boundaries from here on. */
static uintptr_t marks_from(const struct rouse__pool_thread *t, struct place from)
{
	const struct chunk *chunk = from.chunk;
	const entry *e = from.entry;
	uintptr_t all = 0;

	for (;;) {
		const entry *end = chunk == t->chunk ? t->top->cur : chunk->end;

		for (; e < end; e++)
			if (is_boundary(e))
				all |= marks(e);
		if (chunk == t->chunk)
			return all;
		chunk = chunk->next;
		e = chunk->entries;
	}
}

int rouse_pool_detach(rouse_pool from, rouse_pool_stack **ret_stack)
{
	struct rouse__pool_thread *t;
	rouse_pool_stack *stack;
	struct place at;
	size_t live, pools, n;
	uintptr_t marked;

	if (!ret_stack || !from.token)
		return ROUSE_EINVAL;
	t = rouse__pool_thread();
	if (!t || !rouse__pool_find(t, from.token, &at, &live, &pools))
		return rouse__pool_not_open(t, from.token);
	marked = marks_from(t, at);
	if (marked & DRAINING)
		return ROUSE_EBUSY;
	if (marked & BRIDGED)
		return ROUSE_ENOTSUP;
	n = live + pools + 1;
	stack = malloc(sizeof *stack + n * sizeof(entry));
	if (!stack)
		return ROUSE_ENOMEM;
	stack->count = n;
	while (n-- > 0)
		stack->entries[n] = rouse__pool_take(t);
	rouse__pool_unstamp(t, from.token);
	*ret_stack = stack;
	return 0;
}

int rouse_pool_attach(rouse_pool_stack *stack)
{
	struct rouse__pool_thread *t;

	if (!stack)
		return ROUSE_EINVAL;
	t = rouse__pool_thread();
	if (!t)
		return ROUSE_ENOMEM;
	for (size_t i = 0; i < stack->count; i++) {
		entry e = stack->entries[i];

		if (is_boundary(&e))
			set_marks(&e,
			          (marks(&e) & ~(uintptr_t)WATCHED) | (t->watching ? WATCHED : 0));
		if (rouse__pool_put(t, e))
			continue;
		while (i-- > 0)
			(void)rouse__pool_take(t);
		return ROUSE_ENOMEM;
	}
	free(stack);
	return 0;
}
