/* Nodes that any thread takes and one gives back: none twice, none lost. */
#include "unit.h"

#include "core/slab.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 64 /* in the first chunk; each further one is twice as large */

struct item {
	struct rouse__slab_node node;
	struct item *link;
	unsigned taker; /* plain, so that a sanitizer sees two who have it at once */
};

static struct counting memory;
static struct rouse__slab slab;

static int setup(void **state)
{
	(void)state;
	counting_init(&memory);
	rouse__slab_init(&slab, &memory.allocator, sizeof(struct item));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rouse__slab_finish(&slab);
	counting_check(&memory);
	return 0;
}

static void give(struct item **items, size_t count)
{
	struct rouse__slab_chain chain = {0};

	for (size_t i = 0; i < count; i++)
		rouse__slab_collect(&chain, &items[i]->node);
	rouse__slab_give(&slab, &chain);
	assert_null(chain.first);
	assert_null(chain.last);
}

static int by_address(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t) * (struct item *const *)a;
	uintptr_t y = (uintptr_t) * (struct item *const *)b;

	return x < y ? -1 : x > y;
}

static void take_distinct(struct item **items, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		items[i] = rouse__slab_take(&slab);
		assert_non_null(items[i]);
		assert_int_equal((uintptr_t)items[i] % alignof(struct item), 0);
		items[i]->taker = 0;
	}
	qsort(items, count, sizeof(*items), by_address);
	for (size_t i = 1; i < count; i++)
		assert_true((char *)items[i] - (char *)items[i - 1] >=
		            (ptrdiff_t)sizeof(struct item));
}

static void nothing_until_the_first_take(void **state)
{
	(void)state;
	assert_int_equal(memory.made, 0);
	give(NULL, 0);
	assert_int_equal(memory.made, 0);
}

static void chunks_double_and_are_used_up_first(void **state)
{
	static struct item *items[FIRST * 7];

	(void)state;
	take_distinct(items, FIRST);
	assert_int_equal(memory.made, 1);
	take_distinct(items + FIRST, FIRST * 2);
	assert_int_equal(memory.made, 2);
	take_distinct(items + FIRST * 3, FIRST * 4);
	assert_int_equal(memory.made, 3);
	/* All of them again, from one chain, without a further chunk. */
	give(items, COUNT(items));
	take_distinct(items, COUNT(items));
	assert_int_equal(memory.made, 3);
	assert_non_null(rouse__slab_take(&slab));
	assert_int_equal(memory.made, 4);
}

static void chains_of_every_length_come_back(void **state)
{
	static struct item *items[FIRST];

	(void)state;
	for (size_t length = 1; length <= COUNT(items); length++) {
		take_distinct(items, COUNT(items));
		for (size_t at = 0; at < COUNT(items); at += length)
			give(items + at, length < COUNT(items) - at ? length : COUNT(items) - at);
	}
	assert_int_equal(memory.made, 1);
}

/* A taker who was held up between reading the head and exchanging it must not find it as it was:
 * the node below may be somebody's by now. */
static void each_take_changes_the_head(void **state)
{
	struct item *items[2];
	uint64_t before;

	(void)state;
	take_distinct(items, 2);
	give(items, 2);
	before = atomic_load(&slab.head);
	items[1] = rouse__slab_take(&slab);
	items[0] = rouse__slab_take(&slab);
	give(&items[1], 1);
	assert_true((uint32_t)atomic_load(&slab.head) == (uint32_t)before);
	assert_true(atomic_load(&slab.head) != before);
}

static void q8_no_memory_is_said_and_passes(void **state)
{
	static struct item *items[FIRST];

	(void)state;
	counting_fail(&memory, 1);
	assert_null(rouse__slab_take(&slab));
	take_distinct(items, COUNT(items));
	counting_fail(&memory, 1);
	assert_null(rouse__slab_take(&slab));
	give(items, 1);
	assert_ptr_equal(rouse__slab_take(&slab), items[0]);
	assert_non_null(rouse__slab_take(&slab));
}

/* ---- Threads ------------------------------------------------------------------ */

#define TAKERS 4
#define ROUNDS 40000u

/* What was taken, on its way to the giver. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct item *bag;
static atomic_uint twice;

static void put_in_bag(struct item *first, struct item *last)
{
	pthread_mutex_lock(&mutex);
	last->link = bag;
	bag = first;
	pthread_mutex_unlock(&mutex);
}

static void *taker(void *arg)
{
	unsigned id = *(const unsigned *)arg;

	for (unsigned done = 0; done < ROUNDS;) {
		unsigned burst = ROUNDS - done < 3 ? 1 : 1 + done % 3;
		struct item *first = NULL, *last = NULL;

		for (unsigned i = 0; i < burst; i++, done++) {
			struct item *item = rouse__slab_take(&slab);

			if (item->taker)
				atomic_fetch_add(&twice, 1);
			item->taker = id;
			item->link = first;
			last = first ? last : item;
			first = item;
		}
		for (struct item *item = first; item; item = item == last ? NULL : item->link)
			if (item->taker != id)
				atomic_fetch_add(&twice, 1);
		put_in_bag(first, last);
	}
	return NULL;
}

static unsigned give_what_is_in_the_bag(void)
{
	struct rouse__slab_chain chain = {0};
	unsigned count = 0;
	struct item *item;

	pthread_mutex_lock(&mutex);
	item = bag;
	bag = NULL;
	pthread_mutex_unlock(&mutex);
	while (item) {
		struct item *next = item->link;

		item->taker = 0;
		rouse__slab_collect(&chain, &item->node);
		/* Short chains: the more often a node is on top again, the better. */
		if (++count % 2)
			rouse__slab_give(&slab, &chain);
		item = next;
	}
	rouse__slab_give(&slab, &chain);
	return count;
}

static void *alloc_zeroed(size_t size, void *ctx)
{
	void *ptr = memory.allocator.alloc(size, ctx);

	return ptr ? memset(ptr, 0, size) : NULL;
}

static void no_node_is_handed_out_twice(void **state)
{
	rouse_allocator zeroing = {alloc_zeroed, memory.allocator.free, &memory};
	pthread_t threads[TAKERS];
	unsigned ids[TAKERS], given = 0;

	(void)state;
	rouse__slab_init(&slab, &zeroing, sizeof(struct item));
	for (unsigned i = 0; i < TAKERS; i++) {
		ids[i] = i + 1;
		assert_int_equal(pthread_create(&threads[i], NULL, taker, &ids[i]), 0);
	}
	while (given < TAKERS * ROUNDS)
		given += give_what_is_in_the_bag();
	for (unsigned i = 0; i < TAKERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(given, TAKERS * ROUNDS);
	assert_int_equal(atomic_load(&twice), 0);
	rouse__slab_finish(&slab);
	rouse__slab_init(&slab, &memory.allocator, sizeof(struct item));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(nothing_until_the_first_take, setup, teardown),
	        cmocka_unit_test_setup_teardown(chunks_double_and_are_used_up_first, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(chains_of_every_length_come_back, setup, teardown),
	        cmocka_unit_test_setup_teardown(each_take_changes_the_head, setup, teardown),
	        cmocka_unit_test_setup_teardown(q8_no_memory_is_said_and_passes, setup, teardown),
	        cmocka_unit_test_setup_teardown(no_node_is_handed_out_twice, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
