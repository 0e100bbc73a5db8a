/* What the tests of single adapters share: a loop, and an allocator that can fail. */
#ifndef ROUSE_TESTS_BARE_H
#define ROUSE_TESTS_BARE_H

#include "../display/turns.h"

#include <stdatomic.h>
#include <stdlib.h>

static inline void bare_count(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(unsigned *)data;
}

struct bare_told {
	atomic_uint times; /* which says that there is a result */
	int result;
};

static inline void bare_done(rouse_loop *loop, int result, void *data)
{
	struct bare_told *told = data;

	(void)loop;
	told->result = result;
	atomic_fetch_add(&told->times, 1);
}

struct bare_memory {
	unsigned left; /* allocations until one fails, and all after it */
	unsigned blocks;
};

static inline void *bare_alloc(size_t size, void *data)
{
	struct bare_memory *memory = data;

	if (memory->left == 0)
		return NULL;
	memory->left--;
	memory->blocks++;
	return malloc(size);
}

static inline void bare_free(void *block, size_t size, void *data)
{
	(void)size;
	((struct bare_memory *)data)->blocks--;
	free(block);
}

static inline rouse_loop *bare_loop(void)
{
	rouse_loop *loop;

	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	return loop;
}

static inline rouse_loop *bare_loop_on(struct bare_memory *memory)
{
	const rouse_allocator allocator = {bare_alloc, bare_free, memory};
	const rouse_loop_options options = {.size = sizeof options, .allocator = &allocator};
	rouse_loop *loop;

	memory->left = 1000;
	memory->blocks = 0;
	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	return loop;
}

static inline void bare_post(rouse_loop *loop, unsigned *count)
{
	rouse_remote *remote = rouse_loop_remote(loop);

	assert_true(rouse_post(remote, bare_count, count, NULL) >= 0);
	rouse_remote_unref(remote);
}

/* It is nobody's guest. */
static inline void bare_assert_own(rouse_loop *loop)
{
	assert_int_equal(rouse_loop_stop(loop), 0);
	assert_int_equal(rouse_loop_run(loop), 0);
}

#endif
