/* What a loop counts of itself. */
#include "unit.h"

static struct counting memory;

static int setup(void **state)
{
	(void)state;
	counting_init(&memory);
	return 0;
}

static void posts_tasks_and_calls_are_counted(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_remote *remote = rouse_loop_remote(loop);
		int ran = 0;

		assert_int_equal(rouse_post(remote, count_call, &ran, NULL), 0);
		assert_int_equal(rouse_call(remote, count_call, &ran), 0);
		assert_int_equal(stats_of(loop).posts_run, 1);
		assert_int_equal(stats_of(loop).callbacks, 1);
		assert_int_equal(rouse_remote_stop(remote), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(ran, 2);
		/* A stop is nobody's callback. */
		assert_int_equal(stats_of(loop).posts_run, 2);
		assert_int_equal(stats_of(loop).callbacks, 2);
		assert_int_equal(stats_of(loop).turns, 1);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

/* A guest's queue always says that it sleeps, so that each first push rings. */
static void only_rings_for_nothing_are_spurious(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_waker *waker;
		rouse_ns deadline;

		assert_int_equal(rouse_waker_create(loop, NULL, NULL, &waker), 0);
		assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
		/* Neither runs a callback, but both were what the ring was for. */
		assert_int_equal(rouse_wake(waker), 1);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		assert_int_equal(rouse_remote_stop(remote), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		assert_int_equal(stats_of(loop).wakes_spurious, 0);
		assert_int_equal(stats_of(loop).wakes_served, 1);
		assert_int_equal(stats_of(loop).wakes_sent, 2);

		/* Taken without a look: the ring comes late, and counts once. */
		assert_int_equal(rouse_wake(waker), 1);
		assert_int_equal(rouse_loop_check(loop, 0), 1);
		assert_int_equal(rouse_loop_dispatch(loop), 0);
		assert_int_equal(rouse_loop_check(loop, 1), 0);
		assert_int_equal(rouse_loop_dispatch(loop), 0);
		assert_int_equal(rouse_loop_dispatch(loop), 0);
		assert_int_equal(rouse_loop_check(loop, 0), 0);
		assert_int_equal(stats_of(loop).wakes_spurious, 1);
		assert_int_equal(stats_of(loop).wakes_served, 2);
		rouse_waker_unref(waker);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(posts_tasks_and_calls_are_counted, setup),
	        cmocka_unit_test_setup(only_rings_for_nothing_are_spurious, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
