/* Objects that are counted: what is measured is how many of them are really there. */
#include "emitter.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_long live;

void *object_create(size_t size)
{
	void *object = calloc(1, size);

	if (object)
		atomic_fetch_add(&live, 1);
	return object;
}

void object_release(void *object)
{
	if (!object)
		return;
	free(object);
	atomic_fetch_sub(&live, 1);
}

long objects_live(void)
{
	return atomic_load(&live);
}
