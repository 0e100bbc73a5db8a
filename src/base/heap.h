/*
 * A heap with four children a node, ordered by time and, among equals, by order of insertion.
 *
 * The keys stand in the array, so that sifting touches no item but the one it moves.
 */
#ifndef ROUSE_BASE_HEAP_H
#define ROUSE_BASE_HEAP_H

#include <rouse/rouse.h>

#define ROUSE__HEAP_OUT SIZE_MAX

/* Embedded in what is ordered. */
struct rouse__heap_item {
	size_t index; /* ROUSE__HEAP_OUT while in no heap */
	rouse_ns latest;
};

struct rouse__heap_entry {
	rouse_ns time;
	uint64_t order;
	struct rouse__heap_item *item;
};

struct rouse__heap {
	struct rouse__heap_entry *entries;
	size_t count, capacity;
	uint64_t order;
	rouse_ns latest; /* the cached answer of rouse__heap_latest() */
	int latest_valid;
};

void rouse__heap_finish(struct rouse__heap *h, const rouse_allocator *a);

/* Room for one item more than before, `items` in all, so that inserting never allocates.
 * 1; 0: no memory. */
int rouse__heap_reserve(struct rouse__heap *h, const rouse_allocator *a, size_t items);

/* Room must have been reserved.  `latest` >= `time`: until when the item can wait. */
void rouse__heap_insert(struct rouse__heap *h, struct rouse__heap_item *item, rouse_ns time,
                        rouse_ns latest);
void rouse__heap_remove(struct rouse__heap *h, struct rouse__heap_item *item);

/* The earliest time in the heap; ROUSE_NEVER when empty. */
static inline rouse_ns rouse__heap_first(const struct rouse__heap *h)
{
	return h->count ? h->entries[0].time : ROUSE_NEVER;
}

/* The latest moment at which no item has waited longer than it can; ROUSE_NEVER when empty. */
rouse_ns rouse__heap_latest(struct rouse__heap *h);

#endif
