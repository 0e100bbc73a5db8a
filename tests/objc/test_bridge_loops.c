/* A loop's pools, bridged: nobody opens one of the runtime's. */
#include "../pool/pool_test.h"

#include "objects.h"

static rouse_loop *loop;
static rouse_remote *remote;

static int setup(void **state, unsigned policy)
{
	rouse_loop_options options = {.size = sizeof options, .pool = policy};

	(void)state;
	return rouse_loop_create(&options, &loop) || !(remote = rouse_loop_remote(loop));
}

static int setup_per_turn(void **state)
{
	return setup(state, ROUSE_POOL_PER_TURN);
}

static int setup_per_callback(void **state)
{
	return setup(state, ROUSE_POOL_PER_CALLBACK);
}

static int setup_none(void **state)
{
	return setup(state, ROUSE_POOL_NONE);
}

static int teardown(void **state)
{
	(void)state;
	rouse_remote_unref(remote);
	return rouse_loop_destroy(loop) || objects_alive();
}

static int alive_then;

static void their_add(rouse_loop *same, void *data)
{
	(void)same, (void)data;
	object_autorelease(object_new(NULL, NULL));
}

static void look_and_add(rouse_loop *same, void *data)
{
	alive_then = objects_alive();
	their_add(same, data);
}

static void two_callbacks(void)
{
	alive_then = -1;
	assert_int_equal(rouse_post(remote, their_add, NULL, NULL), 0);
	assert_int_equal(rouse_post(remote, look_and_add, NULL, NULL), 0);
	assert_int_equal(rouse_loop_turn(loop, ROUSE_NEVER), 2);
}

static void p13_theirs_around_a_turn(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		two_callbacks();
		assert_int_equal(alive_then, 1);
		assert_int_equal(objects_alive(), 0);
	}
}

static void p13_theirs_around_each_callback(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		two_callbacks();
		assert_int_equal(alive_then, 0);
		assert_int_equal(objects_alive(), 0);
	}
}

static void p13_no_policy_no_pool_of_theirs(void **state)
{
	void *theirs = their_pool();

	(void)state;
	two_callbacks();
	assert_int_equal(alive_then, 1);
	assert_int_equal(objects_alive(), 2);
	their_pool_drain(theirs);
	assert_int_equal(objects_alive(), 0);
	ROUSE_POOL_SCOPE
	{
		two_callbacks();
		assert_int_equal(objects_alive(), 2);
	}
}

static void p13_nothing_of_ours_is_missing_or_live(void **state)
{
	(void)state;
	two_callbacks();
	assert_int_equal(thread_stats().missing, 0);
	assert_int_equal(thread_stats().live, 0);
	assert_int_equal(thread_stats().skipped, 0);
	assert_int_equal(thread_stats().released, 0);
}

static void by_timer(rouse_loop *same, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self, (void)deadline;
	their_add(same, data);
}

static void cancelled(void *data)
{
	their_add(NULL, data);
}

static void p13_timers_wakers_and_cancels(void **state)
{
	rouse_waker *waker;

	(void)state;
	assert_int_equal(rouse_timer_add(loop, 0, 0, 0, by_timer, NULL, NULL), 0);
	assert_int_equal(rouse_waker_create(loop, their_add, NULL, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	assert_true(rouse_loop_turn(loop, ROUSE_NEVER) > 0);
	assert_int_equal(objects_alive(), 0);
	rouse_waker_unref(waker);
	assert_int_equal(rouse_post(remote, their_add, &waker, cancelled), 0);
	assert_int_equal(rouse_cancel_posts(loop, &waker), 1);
	assert_int_equal(objects_alive(), 0);
}

/* On a thread that has no stack of ours: it gets one. */
static void turn_on_a_new_thread(void)
{
	rouse_loop *own;
	rouse_remote *to;

	EXPECT(rouse_loop_create(NULL, &own) == 0);
	to = rouse_loop_remote(own);
	EXPECT(thread_stats().bytes == 0);
	EXPECT(rouse_post(to, their_add, NULL, NULL) == 0);
	EXPECT(rouse_loop_turn(own, ROUSE_NEVER) == 1);
	EXPECT(objects_alive() == 0);
	EXPECT(thread_stats().bytes != 0);
	rouse_remote_unref(to);
	EXPECT(rouse_loop_destroy(own) == 0);
}

static void p13_on_a_new_thread(void **state)
{
	(void)state;
	on_a_thread(turn_on_a_new_thread);
}

static int cancels;

static void count_cancel(void *data)
{
	(void)data;
	ROUSE_POOL_SCOPE
	{
		their_add(NULL, NULL);
	}
	their_add(NULL, NULL);
	cancels++;
}

/* Its posts are cancelled as the thread ends, when the runtime has left it already. */
static void leave_a_loop(void)
{
	rouse_loop *own;
	rouse_remote *to;

	EXPECT(rouse_loop_create(NULL, &own) == 0);
	to = rouse_loop_remote(own);
	EXPECT(rouse_post(to, their_add, NULL, NULL) == 0);
	EXPECT(rouse_loop_turn(own, ROUSE_NEVER) == 1);
	EXPECT(rouse_post(to, their_add, NULL, count_cancel) == 0);
	rouse_remote_unref(to);
}

static void p10_a_loop_that_its_thread_leaves(void **state)
{
	(void)state;
	cancels = 0;
	on_a_thread(leave_a_loop);
	assert_int_equal(cancels, 1);
	assert_int_equal(objects_alive(), 0);
}

int main(void)
{
#define LOOP_TEST(fn, setup) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
	        LOOP_TEST(p13_theirs_around_a_turn, setup_per_turn),
	        LOOP_TEST(p13_theirs_around_each_callback, setup_per_callback),
	        LOOP_TEST(p13_no_policy_no_pool_of_theirs, setup_none),
	        LOOP_TEST(p13_nothing_of_ours_is_missing_or_live, setup_per_turn),
	        LOOP_TEST(p13_timers_wakers_and_cancels, setup_per_turn),
	        LOOP_TEST(p13_timers_wakers_and_cancels, setup_per_callback),
	        cmocka_unit_test(p13_on_a_new_thread),
	        cmocka_unit_test(p10_a_loop_that_its_thread_leaves),
	};

	if (!objects_begin())
		return 77;
	if (rouse_pool_bridge_objc())
		return 1;
	return cmocka_run_group_tests_name("bridge_loops", tests, NULL, NULL);
}
