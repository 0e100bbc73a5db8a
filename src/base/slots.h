/*
 * A generation table: names for objects that may be gone.
 *
 * A name is a slot's number and the generation in which it was given out.  Giving a slot
 * back raises its generation, so an old name finds nothing.  Generations start at 1 and a
 * slot whose generation would wrap is retired, so no name is ever given out twice and 0 is
 * never one.
 */
#ifndef ROUSE_BASE_SLOTS_H
#define ROUSE_BASE_SLOTS_H

#include <rouse/rouse.h>

struct rouse__slot {
	void *object; /* NULL while free */
	uint32_t generation;
	uint32_t next_free;
};

struct rouse__slots {
	struct rouse__slot *slots;
	uint32_t count, capacity;
	uint32_t first_free;
};

void rouse__slots_init(struct rouse__slots *t);
void rouse__slots_finish(struct rouse__slots *t, const rouse_allocator *a);

/* 0 when there is no memory. */
uint64_t rouse__slots_take(struct rouse__slots *t, const rouse_allocator *a, void *object);
/* The name must be live. */
void rouse__slots_give(struct rouse__slots *t, uint64_t name);

static inline void *rouse__slots_find(const struct rouse__slots *t, uint64_t name)
{
	uint32_t index = (uint32_t)name;

	if (index >= t->count || t->slots[index].generation != (uint32_t)(name >> 32))
		return NULL;
	return t->slots[index].object;
}

#endif
