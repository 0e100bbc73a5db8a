/* Memory by the loop's allocator. */
#ifndef ROUSE_BASE_ALLOC_H
#define ROUSE_BASE_ALLOC_H

#include <rouse/rouse.h>

extern const rouse_allocator rouse__malloc;

static inline void *rouse__alloc(const rouse_allocator *a, size_t size)
{
	return a->alloc(size, a->ctx);
}

static inline void rouse__free(const rouse_allocator *a, void *ptr, size_t size)
{
	if (ptr)
		a->free(ptr, size, a->ctx);
}

/* Zeroed. */
void *rouse__zalloc(const rouse_allocator *a, size_t size);

/* A larger array with the old one's items; the old one is freed.  NULL: nothing changed. */
void *rouse__grow(const rouse_allocator *a, void *old, size_t old_count, size_t new_count,
                  size_t item);

#endif
