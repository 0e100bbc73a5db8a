/* Structs of callers who are older or newer than this library. */
#include "unit.h"

#include "base/sized.h"

#include <string.h>

/* What a later version of each struct may look like. */
struct newer_options {
	rouse_loop_options now;
	uint64_t later[2];
};

struct newer_hook {
	rouse_hook now;
	uint64_t later;
};

struct newer_stats {
	rouse_stats now;
	uint64_t later[2];
};

static void a_shorter_struct_reads_as_zero_past_its_end(void **state)
{
	struct {
		size_t size;
		uint32_t a, b, c;
	} ours = {1, 2, 3, 4}, theirs = {0, 5, 6, 7};
	const size_t least = offsetof(struct newer_stats, now) + sizeof(size_t);

	(void)state;
	assert_int_equal(rouse__sized_in(&ours, sizeof ours, &theirs, least + 4, least), 0);
	assert_int_equal(ours.a, 5);
	assert_int_equal(ours.b, 0);
	assert_int_equal(ours.c, 0);
	assert_int_equal(rouse__sized_in(&ours, sizeof ours, &theirs, sizeof ours, least), 0);
	assert_int_equal(ours.c, 7);
	assert_int_equal(rouse__sized_in(&ours, sizeof ours, &theirs, least - 1, least),
	                 ROUSE_EINVAL);
	assert_int_equal(ours.c, 7);
}

static void tails_are_looked_at_to_their_last_byte(void **state)
{
	unsigned char tail[24] = {0};

	(void)state;
	memset(tail, 0xff, 16);
	assert_int_equal(rouse__sized_tail_zero(tail, sizeof tail, 16), 1);
	assert_int_equal(rouse__sized_tail_zero(tail, 8, 16), 1);
	tail[23] = 1;
	assert_int_equal(rouse__sized_tail_zero(tail, sizeof tail, 16), 0);
	assert_int_equal(rouse__sized_tail_zero(tail, 23, 16), 1);
	tail[23] = 0;
	tail[16] = 1;
	assert_int_equal(rouse__sized_tail_zero(tail, sizeof tail, 16), 0);
}

static int create(const void *options)
{
	rouse_loop *const untouched = (rouse_loop *)&create;
	rouse_loop *loop = untouched;
	int result = rouse_loop_create(options, &loop);

	if (result == 0)
		assert_int_equal(rouse_loop_destroy(loop), 0);
	else
		assert_ptr_equal(loop, untouched);
	return result;
}

static void options_of_every_size(void **state)
{
	struct newer_options options = {.now.poller = "null"};

	(void)state;
	assert_int_equal(create(NULL), 0);
	for (size_t size = 0; size < sizeof options.now; size++) {
		options.now.size = size;
		assert_int_equal(create(&options), ROUSE_EINVAL);
	}
	options.now.size = sizeof options.now;
	assert_int_equal(create(&options), 0);
	/* What lies behind is not looked at. */
	options.later[0] = 1;
	assert_int_equal(create(&options), 0);

	options.now.size = sizeof options;
	assert_int_equal(create(&options), ROUSE_EABI);
	options.later[0] = 0;
	assert_int_equal(create(&options), 0);
	options.later[1] = UINT64_C(1) << 63;
	assert_int_equal(create(&options), ROUSE_EABI);
}

static void hooks_of_every_size(void **state)
{
	const rouse_source untouched = {42};
	struct newer_hook hook = {.now.fd = ROUSE_NO_FD};
	rouse_loop *loop = loop_on("null", NULL);
	rouse_source source = untouched;

	(void)state;
	for (size_t size = 0; size < sizeof hook.now; size++) {
		hook.now.size = size;
		assert_int_equal(rouse_hook_add(loop, &hook.now, NULL, &source), ROUSE_EINVAL);
	}
	hook.now.size = sizeof hook;
	hook.later = 1;
	assert_int_equal(rouse_hook_add(loop, &hook.now, NULL, &source), ROUSE_EABI);
	assert_true(source.id == untouched.id);

	hook.later = 0;
	assert_int_equal(rouse_hook_add(loop, &hook.now, NULL, &source), 0);
	assert_int_equal(rouse_remove(loop, source), 0);
	hook.now.size = sizeof hook.now;
	assert_int_equal(rouse_hook_add(loop, &hook.now, NULL, &source), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void stats_fill_what_the_caller_has(void **state)
{
	rouse_loop *loop = loop_on("null", NULL);
	struct newer_stats stats;

	(void)state;
	assert_int_equal(rouse_loop_turn(loop, 0), 0);
	for (size_t size = sizeof(size_t); size <= sizeof stats.now; size += sizeof(uint64_t)) {
		memset(&stats, 0xa5, sizeof stats);
		stats.now.size = size;
		assert_int_equal(rouse_loop_stats(loop, &stats.now), 0);
		assert_int_equal(stats.now.size, size);
		if (size > offsetof(rouse_stats, turns))
			assert_int_equal(stats.now.turns, 1);
		for (size_t i = size; i < sizeof stats; i++)
			assert_int_equal(((unsigned char *)&stats)[i], 0xa5);
	}
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void stats_of_sizes_that_are_refused(void **state)
{
	rouse_loop *loop = loop_on("null", NULL);
	struct newer_stats stats = {.now.turns = 42}, before;

	(void)state;
	assert_int_equal(rouse_loop_turn(loop, 0), 0);
	for (size_t size = 0; size < sizeof(size_t); size++) {
		stats.now.size = size;
		assert_int_equal(rouse_loop_stats(loop, &stats.now), ROUSE_EINVAL);
		assert_int_equal(stats.now.turns, 42);
	}
	stats.now.size = sizeof stats;
	stats.later[1] = 1;
	before = stats;
	assert_int_equal(rouse_loop_stats(loop, &stats.now), ROUSE_EABI);
	assert_memory_equal(&stats, &before, sizeof stats);

	stats.later[1] = 0;
	assert_int_equal(rouse_loop_stats(loop, &stats.now), 0);
	assert_int_equal(stats.now.size, sizeof stats);
	assert_int_equal(stats.now.turns, 1);
	assert_int_equal(stats.later[0] | stats.later[1], 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_shorter_struct_reads_as_zero_past_its_end),
	        cmocka_unit_test(tails_are_looked_at_to_their_last_byte),
	        cmocka_unit_test(options_of_every_size),
	        cmocka_unit_test(hooks_of_every_size),
	        cmocka_unit_test(stats_fill_what_the_caller_has),
	        cmocka_unit_test(stats_of_sizes_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
