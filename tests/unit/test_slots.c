/* Names that are never reused for something else. */
#include "unit.h"

#include "base/slots.h"

static struct counting memory;
static struct rouse__slots table;

static int setup(void **state)
{
	(void)state;
	counting_init(&memory);
	rouse__slots_init(&table);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rouse__slots_finish(&table, &memory.allocator);
	counting_check(&memory);
	return 0;
}

static uint64_t take(void *object)
{
	return rouse__slots_take(&table, &memory.allocator, object);
}

static uint32_t index_of(uint64_t name)
{
	return (uint32_t)name;
}

static void zero_is_never_live(void **state)
{
	int object;

	(void)state;
	assert_null(rouse__slots_find(&table, 0));
	for (int i = 0; i < 100; i++) {
		assert_int_not_equal(take(&object), 0);
		assert_null(rouse__slots_find(&table, 0));
	}
}

static void each_name_finds_its_object(void **state)
{
	static int objects[1000];
	static uint64_t names[1000];

	(void)state;
	for (size_t i = 0; i < COUNT(objects); i++)
		names[i] = take(&objects[i]);
	for (size_t i = 0; i < COUNT(objects); i++)
		assert_ptr_equal(rouse__slots_find(&table, names[i]), &objects[i]);
	assert_null(rouse__slots_find(&table, names[0] + COUNT(objects)));
	assert_null(rouse__slots_find(&table, UINT64_MAX));
}

static void l8_a_reused_slot_has_a_new_name(void **state)
{
	int first, second;
	uint64_t old = take(&first), name;

	(void)state;
	rouse__slots_give(&table, old);
	assert_null(rouse__slots_find(&table, old));
	name = take(&second);
	assert_int_equal(index_of(name), index_of(old));
	assert_int_not_equal(name, old);
	assert_null(rouse__slots_find(&table, old));
	assert_ptr_equal(rouse__slots_find(&table, name), &second);
}

static void given_slots_are_all_reused(void **state)
{
	uint64_t names[16];
	unsigned made;
	int object;

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		names[i] = take(&object);
	made = memory.made;
	for (int round = 0; round < 100; round++) {
		for (size_t i = 0; i < COUNT(names); i++)
			rouse__slots_give(&table, names[i]);
		for (size_t i = 0; i < COUNT(names); i++)
			names[i] = take(&object);
	}
	assert_int_equal(memory.made, made);
	assert_int_equal(table.count, COUNT(names));
}

static void a_slot_that_would_wrap_is_retired(void **state)
{
	int object, other;
	uint64_t last, next;

	(void)state;
	last = take(&object);
	rouse__slots_give(&table, last);
	/* Four billion removals later. */
	table.slots[index_of(last)].generation = UINT32_MAX;
	last = take(&object);
	assert_true(last == ((uint64_t)UINT32_MAX << 32 | index_of(last)));
	rouse__slots_give(&table, last);
	assert_null(rouse__slots_find(&table, last));

	next = take(&other);
	assert_int_not_equal(index_of(next), index_of(last));
	assert_null(rouse__slots_find(&table, 0));
	assert_null(rouse__slots_find(&table, (uint64_t)1 << 32 | index_of(last)));
	assert_ptr_equal(rouse__slots_find(&table, next), &other);
}

static void l9_no_memory_gives_no_name(void **state)
{
	int object;
	uint64_t first;

	(void)state;
	counting_fail(&memory, 1);
	assert_int_equal(take(&object), 0);
	first = take(&object);
	assert_int_not_equal(first, 0);

	while (table.count < table.capacity)
		assert_int_not_equal(take(&object), 0);
	counting_fail(&memory, 1);
	assert_int_equal(take(&object), 0);
	assert_ptr_equal(rouse__slots_find(&table, first), &object);
	assert_int_not_equal(take(&object), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(zero_is_never_live, setup, teardown),
	        cmocka_unit_test_setup_teardown(each_name_finds_its_object, setup, teardown),
	        cmocka_unit_test_setup_teardown(l8_a_reused_slot_has_a_new_name, setup, teardown),
	        cmocka_unit_test_setup_teardown(given_slots_are_all_reused, setup, teardown),
	        cmocka_unit_test_setup_teardown(a_slot_that_would_wrap_is_retired, setup, teardown),
	        cmocka_unit_test_setup_teardown(l9_no_memory_gives_no_name, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
