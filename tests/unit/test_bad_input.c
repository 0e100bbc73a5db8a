/* Arguments that are NULL or out of range: refused, and nothing done. */
#include "unit.h"

#include <rouse/null.h>
#include <rouse/version.h>

#include <limits.h>
#include <string.h>

#define BAD_EVENT (1u << 4)

static const rouse_source untouched = {UINT64_C(0x5a5a5a5a5a5a5a5a)};

static struct counting memory;

static void take_nothing(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
}

#define refused(expr) assert_int_equal(expr, ROUSE_EINVAL)

static void no_loop_no_waker_no_remote(void **state)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};
	rouse_task task = {.run = take_nothing};
	rouse_stats stats = {.size = sizeof stats};
	rouse_source source = untouched;
	rouse_waker *waker = NULL;
	rouse_ns deadline = 42;
	rouse_fd fd = 42;
	int ran = 0;

	(void)state;
	refused(rouse_loop_create(NULL, NULL));
	refused(rouse_loop_run(NULL));
	refused(rouse_loop_turn(NULL, 0));
	refused(rouse_loop_stop(NULL));
	refused(rouse_loop_fd(NULL, &fd));
	refused(rouse_loop_prepare(NULL, 0, &deadline));
	refused(rouse_loop_check(NULL, 1));
	refused(rouse_loop_dispatch(NULL));
	refused(rouse_loop_take_stop(NULL));
	refused(rouse_waker_create(NULL, count_call, &ran, &waker));
	refused(rouse_wake(NULL));
	refused(rouse_waker_close(NULL));
	refused(rouse_post(NULL, count_call, &ran, count_cancel));
	refused(rouse_post_task(NULL, &task));
	refused(rouse_call(NULL, count_call, &ran));
	refused(rouse_remote_stop(NULL));
	refused(rouse_fd_add(NULL, 0, ROUSE_READABLE, ignore_fd, NULL, &source));
	refused(rouse_fd_set_events(NULL, source, 0));
	refused(rouse_timer_add(NULL, 0, 0, 0, ignore_timer, NULL, &source));
	refused(rouse_timer_set(NULL, source, 0, 0, 0));
	refused(rouse_remove(NULL, source));
	refused(rouse_hook_add(NULL, &hook, NULL, &source));
	refused(rouse_loop_stats(NULL, &stats));
	refused(rouse_null_script(NULL, 0, 0, 0));
	refused(rouse_null_advance(NULL, 1));
	assert_int_equal(ran, 0);
	assert_true(source.id == untouched.id && !waker && deadline == 42 && fd == 42);

	assert_int_equal(rouse_loop_destroy(NULL), 0);
	assert_null(rouse_loop_remote(NULL));
	assert_null(rouse_remote_ref(NULL));
	assert_null(rouse_remote_unref(NULL));
	assert_null(rouse_waker_ref(NULL));
	assert_null(rouse_waker_unref(NULL));
	assert_null(rouse_loop_poller(NULL));
	assert_null(rouse_loop_allocator(NULL));
	assert_int_equal(rouse_loop_caps(NULL), 0);
	assert_true(rouse_loop_now(NULL) == 0);
}

static void nothing_to_write_to_or_to_call(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_task task = {.run = NULL};
		rouse_source source = untouched;
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_remote *remote = rouse_loop_remote(loop);
		unsigned made = memory.made;

		refused(rouse_loop_fd(loop, NULL));
		refused(rouse_waker_create(loop, NULL, NULL, NULL));
		refused(rouse_post(remote, NULL, NULL, count_cancel));
		refused(rouse_post_task(remote, NULL));
		refused(rouse_post_task(remote, &task));
		refused(rouse_call(remote, NULL, NULL));
		refused(rouse_fd_add(loop, 0, ROUSE_READABLE, NULL, NULL, &source));
		refused(rouse_timer_add(loop, 0, 0, 0, NULL, NULL, &source));
		refused(rouse_hook_add(loop, NULL, NULL, &source));
		refused(rouse_loop_stats(loop, NULL));
		assert_true(source.id == untouched.id);
		assert_int_equal(task.reserved, 0);
		assert_int_equal(memory.made, made);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

static int create(const char *poller, const rouse_allocator *allocator, unsigned max_batch)
{
	rouse_loop_options options = {.size = sizeof options,
	                              .poller = poller,
	                              .allocator = allocator,
	                              .max_batch = max_batch};
	rouse_loop *const nobody = (rouse_loop *)&memory;
	rouse_loop *loop = nobody;
	int result = rouse_loop_create(&options, &loop);

	if (result)
		assert_ptr_equal(loop, nobody);
	else
		assert_int_equal(rouse_loop_destroy(loop), 0);
	return result;
}

static void options_out_of_range(void **state)
{
	rouse_allocator a = memory.allocator;
	unsigned before = memory.made;

	(void)state;
	assert_int_equal(create("kqueue-of-the-future", &a, 0), ROUSE_ENOTSUP);
	assert_int_equal(create("", &a, 0), ROUSE_ENOTSUP);
	assert_int_equal(create("EPOLL", &a, 0), ROUSE_ENOTSUP);
	assert_int_equal(create("null ", &a, 0), ROUSE_ENOTSUP);
	assert_int_equal(create(NULL, &a, 65537), ROUSE_EINVAL);
	assert_int_equal(create(NULL, &a, UINT_MAX), ROUSE_EINVAL);
	a.free = NULL;
	assert_int_equal(create(NULL, &a, 0), ROUSE_EINVAL);
	a.free = memory.allocator.free;
	a.alloc = NULL;
	assert_int_equal(create(NULL, &a, 0), ROUSE_EINVAL);
	assert_int_equal(memory.made, before);
	EACH_POLLER(poller)
	{
		assert_int_equal(create(poller, &memory.allocator, 65536), 0);
		assert_int_equal(create(poller, &memory.allocator, 1), 0);
	}
	counting_check(&memory);
}

static void guests_where_that_cannot_be(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_ns deadline = 42;
		rouse_fd fd = 42;

		refused(rouse_loop_prepare(loop, 2, &deadline));
		refused(rouse_loop_prepare(loop, ~0u, NULL));
		if (!(rouse_loop_caps(loop) & ROUSE_CAP_POLLABLE)) {
			assert_int_equal(rouse_loop_fd(loop, &fd), ROUSE_ENOTSUP);
			assert_int_equal(rouse_loop_prepare(loop, 0, NULL), ROUSE_ENOTSUP);
		}
		if (!can_be_guest(poller)) {
			assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), ROUSE_ENOTSUP);
		}
		/* Still no guest of anybody's. */
		refused(rouse_loop_check(loop, 1));
		refused(rouse_loop_dispatch(loop));
		assert_true(deadline == 42 && fd == 42);
		assert_int_equal(rouse_loop_stop(loop), 0);
		assert_int_equal(rouse_loop_run(loop), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

static void scripts_are_for_null_loops(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		int scripted = !strcmp(poller, "null");

		assert_int_equal(rouse_null_script(loop, 0, 0, 0), scripted ? 0 : ROUSE_EINVAL);
		assert_int_equal(rouse_null_advance(loop, 1), scripted ? 0 : ROUSE_EINVAL);
		refused(rouse_null_script(loop, 0, ROUSE_NO_FD, ROUSE_READABLE));
		refused(rouse_null_script(loop, 0, ROUSE_NULL_MAX_FD + 1, ROUSE_READABLE));
		refused(rouse_null_script(loop, ROUSE_NEVER, 0, BAD_EVENT));
		assert_int_equal(rouse_null_script(loop, 0, ROUSE_NULL_MAX_FD, ROUSE_READABLE),
		                 scripted ? 0 : ROUSE_EINVAL);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

static void words_for_every_error(void **state)
{
	const char *unknown = rouse_strerror(ROUSE_EDEADLOCK - 1);

	(void)state;
	assert_string_equal(rouse_strerror(0), rouse_strerror(1));
	for (int error = ROUSE_OK; error >= ROUSE_EDEADLOCK; error--) {
		assert_non_null(rouse_strerror(error));
		assert_string_not_equal(rouse_strerror(error), unknown);
		for (int other = ROUSE_OK; other > error; other--)
			assert_string_not_equal(rouse_strerror(error), rouse_strerror(other));
	}
	assert_string_equal(rouse_strerror(INT_MIN), unknown);
	assert_non_null(rouse_strerror(INT_MAX));
}

static void pollers_have_names(void **state)
{
	rouse_loop *loop;
	unsigned count = 0;

	(void)state;
	EACH_POLLER(poller)
	{
		loop = loop_on(poller, NULL);
		assert_string_equal(rouse_loop_poller(loop), poller);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		count++;
	}
	assert_true(count > 0);
	assert_null(rouse_poller_name(count));
	assert_null(rouse_poller_name(UINT_MAX));
	/* The best one is the default. */
	loop = loop_on(NULL, NULL);
	assert_string_equal(rouse_loop_poller(loop), rouse_poller_name(0));
	assert_int_equal(rouse_loop_destroy(loop), 0);
	assert_int_equal(rouse_version(), ROUSE_VERSION);
}

/* One division, not a loop. */
static void t8_a_nanosecond_after_an_hour(void **state)
{
	const rouse_ns hour = 3600 * 1000 * MS;
	rouse_loop *loop = loop_on("null", &memory);

	(void)state;
	assert_int_equal(rouse_timer_add(loop, ROUSE_NULL_EPOCH, 1, 0, ignore_timer, NULL, NULL),
	                 0);
	assert_int_equal(rouse_null_advance(loop, hour), 0);
	assert_int_equal(rouse_loop_turn(loop, 0), 1);
	assert_true(stats_of(loop).timers_skipped == hour);
	assert_int_equal(rouse_loop_turn(loop, 0), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	counting_check(&memory);
}

static void t8_ends_of_range(void **state)
{
	const rouse_ns ends[] = {0, 1, ROUSE_NEVER - 1, ROUSE_NEVER};

	(void)state;
	for (size_t d = 0; d < COUNT(ends); d++)
		for (size_t p = 0; p < COUNT(ends); p++)
			for (size_t s = 0; s < COUNT(ends); s++) {
				rouse_loop *loop = loop_on("null", &memory);
				int due = ends[d] != ROUSE_NEVER;

				assert_int_equal(rouse_timer_add(loop, ends[d], ends[p], ends[s],
				                                 ignore_timer, NULL, NULL),
				                 0);
				assert_int_equal(rouse_null_advance(loop, ROUSE_NEVER), 0);
				assert_int_equal(rouse_loop_turn(loop, 0), due);
				/* Past the end of time there is no further one. */
				assert_int_equal(rouse_loop_turn(loop, 0), 0);
				assert_int_equal(rouse_loop_destroy(loop), 0);
			}
	counting_check(&memory);
}

static int setup(void **state)
{
	(void)state;
	counting_init(&memory);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(no_loop_no_waker_no_remote, setup),
	        cmocka_unit_test_setup(nothing_to_write_to_or_to_call, setup),
	        cmocka_unit_test_setup(options_out_of_range, setup),
	        cmocka_unit_test_setup(guests_where_that_cannot_be, setup),
	        cmocka_unit_test_setup(scripts_are_for_null_loops, setup),
	        cmocka_unit_test_setup(words_for_every_error, setup),
	        cmocka_unit_test_setup(pollers_have_names, setup),
	        cmocka_unit_test_setup(t8_a_nanosecond_after_an_hour, setup),
	        cmocka_unit_test_setup(t8_ends_of_range, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
