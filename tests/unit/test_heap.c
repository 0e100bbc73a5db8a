/* The timers' heap against a sorted reference, and its limits against a look at every item. */
#include "unit.h"

#include "base/heap.h"

#include <stdlib.h>

#define ITEMS 100000u

struct entry {
	struct rouse__heap_item item;
	rouse_ns time;
	uint64_t order;
	int in;
};

static struct counting memory;
static struct rouse__heap heap;
static uint64_t seed;

static int setup(void **state)
{
	(void)state;
	counting_init(&memory);
	heap = (struct rouse__heap){0};
	seed = 88172645463325252u;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rouse__heap_finish(&heap, &memory.allocator);
	counting_check(&memory);
	return 0;
}

/* xorshift: the same numbers in each run. */
static uint64_t dice(uint64_t sides)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % sides;
}

static void insert(struct entry *e, rouse_ns time, rouse_ns slack)
{
	static uint64_t order;

	assert_int_equal(rouse__heap_reserve(&heap, &memory.allocator, heap.count + 1), 1);
	e->time = time;
	e->order = order++;
	e->in = 1;
	e->item.index = ROUSE__HEAP_OUT;
	rouse__heap_insert(&heap, &e->item, time, time + slack);
}

static void take_out(struct entry *e)
{
	rouse__heap_remove(&heap, &e->item);
	assert_true(e->item.index == ROUSE__HEAP_OUT);
	e->in = 0;
}

static int by_time_then_order(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct entry *pop(void)
{
	struct entry *e = (struct entry *)heap.entries[0].item;

	assert_true(rouse__heap_first(&heap) == e->time);
	take_out(e);
	return e;
}

/* Times are few, so that most of them are ties. */
static void t5_exact_order_with_ties_in_order_of_insertion(void **state)
{
	struct entry *entries = calloc(ITEMS, sizeof *entries);
	struct entry **expected = calloc(ITEMS, sizeof(*expected));
	size_t left = 0, popped = 0;

	(void)state;
	assert_true(entries && expected);
	for (size_t i = 0; i < ITEMS; i++) {
		insert(&entries[i], dice(ITEMS / 4), 0);
		/* Some are removed, and some of them set anew. */
		if (i % 3 == 0) {
			struct entry *e = &entries[dice(i + 1)];

			if (e->in)
				take_out(e);
			if (i % 2 == 0 && !e->in)
				insert(e, dice(ITEMS / 4), 0);
		}
	}
	for (size_t i = 0; i < ITEMS; i++)
		if (entries[i].in)
			expected[left++] = &entries[i];
	assert_int_equal(heap.count, left);
	assert_true(left > ITEMS / 2);
	qsort(expected, left, sizeof(*expected), by_time_then_order);

	while (heap.count) {
		/* A few go from the middle while the others fire. */
		if (popped % 5 == 0) {
			size_t i = popped + (size_t)dice(left - popped);

			if (expected[i] && expected[i]->in) {
				take_out(expected[i]);
				expected[i] = NULL;
			}
		}
		while (popped < left && !expected[popped])
			popped++;
		if (popped == left)
			break;
		if (pop() != expected[popped])
			fail_msg("item %zu is out of order", popped);
		popped++;
	}
	assert_int_equal(heap.count, 0);
	assert_true(rouse__heap_first(&heap) == ROUSE_NEVER);
	free(expected);
	free(entries);
}

static rouse_ns latest_by_looking(const struct entry *entries, size_t count)
{
	rouse_ns latest = ROUSE_NEVER;

	for (size_t i = 0; i < count; i++)
		if (entries[i].in && entries[i].item.latest < latest)
			latest = entries[i].item.latest;
	return latest;
}

static void latest_is_what_a_look_at_every_item_says(void **state)
{
	static struct entry entries[100];

	(void)state;
	assert_true(rouse__heap_latest(&heap) == ROUSE_NEVER);
	for (int step = 0; step < 20000; step++) {
		struct entry *e = &entries[dice(COUNT(entries))];

		if (e->in)
			take_out(e);
		else
			insert(e, dice(1000), dice(4) ? dice(500) : 0);
		/* Not after each change, so that the cache also meets several. */
		if (dice(3))
			assert_true(rouse__heap_latest(&heap) ==
			            latest_by_looking(entries, COUNT(entries)));
		/* Now and then down to nothing. */
		if (step % 5000 == 4999) {
			while (heap.count) {
				pop();
				assert_true(rouse__heap_latest(&heap) ==
				            latest_by_looking(entries, COUNT(entries)));
			}
		}
	}
}

static void no_limit_but_never(void **state)
{
	struct entry early = {.in = 0}, late = {.in = 0};

	(void)state;
	insert(&early, 10, ROUSE_NEVER - 10);
	assert_true(rouse__heap_latest(&heap) == ROUSE_NEVER);
	assert_true(rouse__heap_first(&heap) == 10);
	insert(&late, 20, 5);
	assert_true(rouse__heap_latest(&heap) == 25);
	take_out(&late);
	assert_true(rouse__heap_latest(&heap) == ROUSE_NEVER);
	take_out(&early);
}

static void l9_no_memory_for_more_changes_nothing(void **state)
{
	static struct entry entries[17];

	(void)state;
	counting_fail(&memory, 1);
	assert_int_equal(rouse__heap_reserve(&heap, &memory.allocator, 1), 0);
	assert_int_equal(rouse__heap_reserve(&heap, &memory.allocator, 1), 1);
	for (size_t i = 0; i < 16; i++)
		insert(&entries[i], 100 - i, i);
	/* Room that is there is never asked for. */
	assert_int_equal(memory.made, 2);
	counting_fail(&memory, 1);
	assert_int_equal(rouse__heap_reserve(&heap, &memory.allocator, 17), 0);
	assert_int_equal(heap.count, 16);
	insert(&entries[16], 1, 0);
	assert_ptr_equal(pop(), &entries[16]);
	for (size_t i = 16; i-- > 0;)
		assert_ptr_equal(pop(), &entries[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(t5_exact_order_with_ties_in_order_of_insertion,
	                                        setup, teardown),
	        cmocka_unit_test_setup_teardown(latest_is_what_a_look_at_every_item_says, setup,
	                                        teardown),
	        cmocka_unit_test_setup_teardown(no_limit_but_never, setup, teardown),
	        cmocka_unit_test_setup_teardown(l9_no_memory_for_more_changes_nothing, setup,
	                                        teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
