/*
 * Forks in a process with threads: what they were in the middle of, in the child, where they are
 * not.
 */
#include "held.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- A thread in the middle of a wake, a post or a stop ----------------------------- */

static void *wake(void *data)
{
	(void)data;
	h.result = rouse_wake(h.waker);
	return NULL;
}

static void wakes_of_the_childs_own(void *data)
{
	(void)data;
	rouse__fault_pause(NULL, NULL);
	forked_repair(h.env);
	/* Whether the held one counts: it may run, once. */
	assert_in_range(env_drain(h.env), 0, 1);
	for (int i = 0; i < 3; i++) {
		int before = h.runs;

		assert_true(rouse_wake(h.waker) >= 0);
		ENV_UNTIL(h.env, h.runs == before + 1);
		assert_int_equal(env_drain(h.env), 0);
	}
	assert_int_equal(rouse_waker_close(h.waker), 0);
	env_close(h.env);
}

static void f10_a_thread_about_to_queue_its_wake(void **state)
{
	pthread_t thread;

	begin(*state, ROUSE__SET_PENDING);
	thread = start_and_hold(wake);
	in_child(wakes_of_the_childs_own, NULL);
	let_go(thread);
	assert_true(h.result >= 0);
	ENV_UNTIL(h.env, h.runs == 1);
	assert_int_equal(env_drain(h.env), 0);
	finish();
}

static void f10_a_thread_about_to_ring(void **state)
{
	pthread_t thread;

	begin(*state, ROUSE__PUBLISHED);
	thread = start_and_hold(wake);
	in_child(wakes_of_the_childs_own, NULL);
	let_go(thread);
	assert_true(h.result >= 0);
	ENV_UNTIL(h.env, h.runs == 1);
	assert_int_equal(env_drain(h.env), 0);
	finish();
}

static void *post(void *data)
{
	(void)data;
	h.result = rouse_post(h.remote, count_run, &h.runs, cancel_held);
	return NULL;
}

static void the_post_runs_here_too(void *data)
{
	(void)data;
	rouse__fault_pause(NULL, NULL);
	forked_repair(h.env);
	/* Nobody rings for it any more. */
	ENV_UNTIL(h.env, h.runs == 1);
	assert_int_equal(env_drain(h.env), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(rouse_post(h.remote, count_run, &h.runs, cancel_held), 0);
	ENV_UNTIL(h.env, h.runs == 101);
	assert_int_equal(rouse_post(h.remote, count_run, &h.runs, cancel_held), 0);
	env_close(h.env);
	assert_int_equal(h.cancelled, 1);
}

static void f10_a_thread_that_queued_a_post_and_did_not_ring_yet(void **state)
{
	pthread_t thread;

	begin(*state, ROUSE__PUBLISHED);
	thread = start_and_hold(post);
	in_child(the_post_runs_here_too, NULL);
	let_go(thread);
	assert_int_equal(h.result, 0);
	ENV_UNTIL(h.env, h.runs == 1);
	assert_int_equal(env_drain(h.env), 0);
	finish();
}

static void stop_of_the_childs_own(void *data)
{
	/* As a thread leaves it that was about to queue it. */
	h.env->loop->remote->stop.reserved = 1;
	forked_repair(h.env);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rouse_remote_stop(h.remote), 0);
		while (!rouse_loop_take_stop(h.env->loop))
			env_turn(h.env, ROUSE_NEVER);
	}
	assert_int_equal(env_drain(h.env), 0);
	assert_int_equal(rouse_loop_take_stop(h.env->loop), 0);
	(void)data;
}

static void f10_a_thread_about_to_queue_a_stop(void **state)
{
	begin(*state, ROUSE__POINTS);
	in_child(stop_of_the_childs_own, NULL);
	finish();
}

/* ---- Whatever they are in the middle of --------------------------------------------- */

/* Threads that wake and post all the time. */
static atomic_int stop;

static void *wake_and_post(void *data)
{
	while (!atomic_load(&stop))
		if (rouse_wake(h.waker) < 0 ||
		    rouse_post(h.remote, count_run, data, cancel_held) < 0)
			return data;
	return NULL;
}

static void still_works(void *data)
{
	int before, posted = 0;

	(void)data;
	forked_repair(h.env);
	env_drain(h.env);
	for (int i = 0; i < 3; i++) {
		before = h.runs;
		assert_true(rouse_wake(h.waker) >= 0);
		ENV_UNTIL(h.env, h.runs > before);
		for (int n = 0; n < 200; n++)
			assert_int_equal(rouse_post(h.remote, count_run, &posted, NULL), 0);
		ENV_UNTIL(h.env, posted == 200 * (i + 1));
		assert_int_equal(env_drain(h.env), 0);
	}
	env_close(h.env);
}

static void f10_forked_while_others_wake_and_post(void **state)
{
	pthread_t threads[2];
	int posts[2] = {0};

	if (forked_under_asan())
		skip();
	begin(*state, ROUSE__POINTS);
	for (unsigned round = 0; round < scaled(10); round++) {
		atomic_store(&stop, 0);
		for (int i = 0; i < 2; i++)
			threads[i] = env_start(wake_and_post, &posts[i]);
		ENV_UNTIL(h.env, posts[0] > 10 && posts[1] > 10);
		in_child(still_works, NULL);
		atomic_store(&stop, 1);
		for (int i = 0; i < 2; i++)
			env_join(threads[i]);
		env_drain(h.env);
	}
	finish();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f10_a_thread_about_to_queue_its_wake),
	        env_test(f10_a_thread_about_to_ring),
	        env_test(f10_a_thread_that_queued_a_post_and_did_not_ring_yet),
	        env_test(f10_a_thread_about_to_queue_a_stop),
	        env_test(f10_forked_while_others_wake_and_post),
	};

	return env_main(argc, argv, "fork_threads", tests, sizeof tests / sizeof *tests);
}
