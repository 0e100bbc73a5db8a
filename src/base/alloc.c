#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *malloc_alloc(size_t size, void *ctx)
{
	(void)ctx;
	return malloc(size);
}

static void malloc_free(void *ptr, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	free(ptr);
}

const rouse_allocator rouse__malloc = {malloc_alloc, malloc_free, NULL};

void *rouse__zalloc(const rouse_allocator *a, size_t size)
{
	void *ptr = rouse__alloc(a, size);

	if (ptr)
		memset(ptr, 0, size);
	return ptr;
}

void *rouse__grow(const rouse_allocator *a, void *old, size_t old_count, size_t new_count,
                  size_t item)
{
	void *ptr;

	if (new_count > SIZE_MAX / item)
		return NULL;
	ptr = rouse__alloc(a, new_count * item);
	if (!ptr)
		return NULL;
	if (old_count)
		memcpy(ptr, old, old_count * item);
	rouse__free(a, old, old_count * item);
	return ptr;
}
