#include "base/slots.h"

#include "base/alloc.h"

#include <assert.h>

#define NONE UINT32_MAX

void rouse__slots_init(struct rouse__slots *t)
{
	*t = (struct rouse__slots){.first_free = NONE};
}

void rouse__slots_finish(struct rouse__slots *t, const rouse_allocator *a)
{
	rouse__free(a, t->slots, t->capacity * sizeof *t->slots);
	rouse__slots_init(t);
}

static int grow(struct rouse__slots *t, const rouse_allocator *a)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : 16;
	struct rouse__slot *slots;

	if (t->capacity > NONE / 4)
		return 0;
	slots = rouse__grow(a, t->slots, t->capacity, capacity, sizeof *slots);
	if (!slots)
		return 0;
	t->slots = slots;
	t->capacity = capacity;
	return 1;
}

uint64_t rouse__slots_take(struct rouse__slots *t, const rouse_allocator *a, void *object)
{
	uint32_t index = t->first_free;

	assert(object);
	if (index != NONE) {
		t->first_free = t->slots[index].next_free;
	} else {
		if (t->count == t->capacity && !grow(t, a))
			return 0;
		index = t->count++;
		t->slots[index].generation = 1;
	}
	t->slots[index].object = object;
	return (uint64_t)t->slots[index].generation << 32 | index;
}

void rouse__slots_give(struct rouse__slots *t, uint64_t name)
{
	uint32_t index = (uint32_t)name;
	struct rouse__slot *slot = &t->slots[index];

	assert(rouse__slots_find(t, name));
	slot->object = NULL;
	if (++slot->generation == 0)
		return;
	slot->next_free = t->first_free;
	t->first_free = index;
}
