/* What pools cannot beat: the allocator alone. */
#include "pool_rows.h"

#include <stdlib.h>

__attribute__((noinline)) void release_nothing(void *object)
{
	__asm__ volatile("" : : "r"(object));
}

/* A bare call, and nothing to keep in mind. */
static void bare_calls(unsigned times)
{
	void (*release)(void *object) = release_nothing;

	while (times-- > 0) {
		__asm__ volatile("" : "+r"(release));
		release(&times);
	}
}

/* Freed newest first, like a pool's. */
static void array_posts(unsigned count, unsigned batch)
{
	static void *array[2 * MOST_BATCH];

	while (count > 0) {
		unsigned used = 0;

		for (unsigned i = 0; i < batch && count > 0; i++, count--) {
			array[used++] = malloc(OBJECT);
			array[used++] = malloc(OBJECT);
		}
		while (used > 0)
			free(array[--used]);
	}
}

/* By hand, at the end of each post: what no pool is. */
static void free_posts(unsigned count, unsigned batch)
{
	(void)batch;
	while (count-- > 0) {
		void *first = malloc(OBJECT), *second = malloc(OBJECT);

		__asm__ volatile("" : "+r"(first), "+r"(second));
		free(second);
		free(first);
	}
}

const struct pool_rows rows_array = {"plain array", 1, NULL, bare_calls, array_posts};
const struct pool_rows rows_free = {"malloc, free", 1, NULL, NULL, free_posts};
