#include "base/heap.h"

#include "base/alloc.h"

#include <assert.h>

#define ARITY 4

void rouse__heap_finish(struct rouse__heap *h, const rouse_allocator *a)
{
	rouse__free(a, h->entries, h->capacity * sizeof *h->entries);
	*h = (struct rouse__heap){0};
}

int rouse__heap_reserve(struct rouse__heap *h, const rouse_allocator *a, size_t items)
{
	struct rouse__heap_entry *entries;
	size_t capacity = h->capacity ? h->capacity * 2 : 16;

	if (items <= h->capacity)
		return 1;
	entries = rouse__grow(a, h->entries, h->capacity, capacity, sizeof *entries);
	if (!entries)
		return 0;
	h->entries = entries;
	h->capacity = capacity;
	return 1;
}

static int before(const struct rouse__heap_entry *a, const struct rouse__heap_entry *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void place(struct rouse__heap *h, size_t i, struct rouse__heap_entry entry)
{
	h->entries[i] = entry;
	entry.item->index = i;
}

static void sift_up(struct rouse__heap *h, size_t i, struct rouse__heap_entry entry)
{
	while (i > 0) {
		size_t parent = (i - 1) / ARITY;

		if (!before(&entry, &h->entries[parent]))
			break;
		place(h, i, h->entries[parent]);
		i = parent;
	}
	place(h, i, entry);
}

static void sift_down(struct rouse__heap *h, size_t i, struct rouse__heap_entry entry)
{
	for (;;) {
		size_t child = i * ARITY + 1;
		size_t end = child + ARITY < h->count ? child + ARITY : h->count;
		size_t least = child;

		if (child >= h->count)
			break;
		for (size_t c = child + 1; c < end; c++)
			if (before(&h->entries[c], &h->entries[least]))
				least = c;
		if (!before(&h->entries[least], &entry))
			break;
		place(h, i, h->entries[least]);
		i = least;
	}
	place(h, i, entry);
}

void rouse__heap_insert(struct rouse__heap *h, struct rouse__heap_item *item, rouse_ns time,
                        rouse_ns latest)
{
	struct rouse__heap_entry entry = {time, h->order++, item};

	assert(item->index == ROUSE__HEAP_OUT && h->count < h->capacity && latest >= time);
	item->latest = latest;
	if (latest < h->latest)
		h->latest = latest;
	sift_up(h, h->count++, entry);
}

void rouse__heap_remove(struct rouse__heap *h, struct rouse__heap_item *item)
{
	size_t i = item->index;
	struct rouse__heap_entry last = h->entries[--h->count];

	assert(i <= h->count && (i == h->count || h->entries[i].item == item));
	if (item->latest <= h->latest)
		h->latest_valid = 0;
	item->index = ROUSE__HEAP_OUT;
	if (i == h->count)
		return;
	if (i > 0 && before(&last, &h->entries[(i - 1) / ARITY]))
		sift_up(h, i, last);
	else
		sift_down(h, i, last);
}

/*
 * Items are ordered by when they want to be served, not by until when they can wait, but no
 * item's limit is below its time: so a subtree whose root is not before the best limit so far
 * cannot better it.  Where nobody can wait at all, the first item is the answer at once.
 */
static rouse_ns least_latest(const struct rouse__heap *h, size_t i, rouse_ns best)
{
	if (i >= h->count || h->entries[i].time >= best)
		return best;
	if (h->entries[i].item->latest < best)
		best = h->entries[i].item->latest;
	for (size_t c = i * ARITY + 1; c <= i * ARITY + ARITY; c++)
		best = least_latest(h, c, best);
	return best;
}

rouse_ns rouse__heap_latest(struct rouse__heap *h)
{
	if (!h->latest_valid) {
		h->latest = least_latest(h, 0, ROUSE_NEVER);
		h->latest_valid = 1;
	}
	return h->latest;
}
