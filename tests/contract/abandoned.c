/* A thread that ends with a loop of its own: whoever still holds something of it gets an answer. */
#include "owner.h"

#include "core/fault.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* This sanitizer takes what a thread leaves on its stack for objects, where it unwinds. */
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN
#endif
#endif
#ifdef WITH_ASAN
#define UNWINDS() skip()
#else
#define UNWINDS() ((void)0)
#endif

static void l10_others_are_told_that_it_is_closed(void **state)
{
	struct owner o;

	abandon(&o, *state, NULL);
	assert_closed(&o);
	drop(&o);
}

/* ---- What was queued ---------------------------------------------------------------- */

static void l10_what_was_queued_is_cancelled_once_as_the_thread_ends(void **state)
{
	rouse_stats stats = {.size = sizeof stats};
	struct owner o;

	abandon(&o, *state, queue_and_leave);
	assert_string_equal(o.order, "aabaa");
	assert_int_equal(o.elsewhere, 0);
	assert_int_equal(o.answers[0], ROUSE_ECLOSED);
	assert_int_equal(o.answers[1], ROUSE_ECLOSED);
	assert_true(o.answers[2] == ROUSE_ECLOSED || o.answers[2] == ROUSE_EWRONGTHREAD);
	assert_int_equal(rouse_remote_stats(o.remote, &stats), 0);
	assert_int_equal(stats.posts_cancelled, 6);
	assert_int_equal(stats.posts_run, 0);
	assert_closed(&o);
	drop(&o);
}

static void leave_from_inside(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	pthread_exit(NULL);
}

/* Two are gathered with the one that ends the thread, more are queued. */
static void queue_and_leave_inside(struct owner *o)
{
	if (rouse_post(o->remote, leave_from_inside, o, cancel_a))
		abort();
	for (int i = 0; i < 5; i++)
		if (rouse_post(o->remote, run_never, o, i == 2 ? cancel_b : cancel_a))
			abort();
	if (rouse_wake(o->waker) < 0)
		abort();
	(void)rouse_loop_turn(o->loop, 0);
	abort();
}

static void l10_a_thread_that_ends_in_a_callback(void **state)
{
	struct owner o;

	UNWINDS();
	abandon(&o, *state, queue_and_leave_inside);
	assert_string_equal(o.order, "aabaa");
	assert_int_equal(o.elsewhere, 0);
	assert_closed(&o);
	drop(&o);
}

static void wait_for_ever(struct owner *o)
{
	while (rouse_loop_turn(o->loop, ROUSE_NEVER) >= 0)
		;
}

#ifndef _WIN32 /* where a thread is cancelled at no wait of the system */
static atomic_int asleep;

static void note_sleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP)
		atomic_store(&asleep, 1);
}

static void l10_a_thread_that_is_cancelled_in_its_wait(void **state)
{
	struct owner o;
	pthread_t thread;
	void *result;

	UNWINDS();
	atomic_store(&asleep, 0);
	rouse__fault_pause(note_sleep, NULL);
	begin(&o, *state, wait_for_ever);
	thread = env_start(own_and_leave, &o);
	while (!atomic_load(&asleep))
		sched_yield();
	rouse__fault_pause(NULL, NULL);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_closed(&o);
	drop(&o);
}
#endif

/* ---- Who waits for it --------------------------------------------------------------- */

static void note_published(enum rouse__point point, void *data)
{
	struct owner *o = data;

	if (point == ROUSE__PUBLISHED && !pthread_equal(pthread_self(), o->thread))
		atomic_store(&o->flag, 2);
}

static void leave_once_called(struct owner *o)
{
	rouse__fault_pause(note_published, o);
	atomic_store(&o->flag, 1);
	while (atomic_load(&o->flag) != 2)
		sched_yield();
}

static void l10_a_call_that_waits_for_it_returns(void **state)
{
	struct owner o;
	pthread_t thread;

	begin(&o, *state, leave_once_called);
	thread = env_start(own_and_leave, &o);
	while (!atomic_load(&o.flag))
		sched_yield();
	assert_int_equal(rouse_call(o.remote, run_never, &o), ROUSE_ECLOSED);
	env_join(thread);
	assert_closed(&o);
	drop(&o);
}

static void wait_to_be_called(struct owner *o)
{
	atomic_store(&o->flag, 1);
	wait_for_ever(o);
}

static void l10_a_call_that_it_ends_in_returns(void **state)
{
	struct owner o;
	pthread_t thread;

	UNWINDS();
	begin(&o, *state, wait_to_be_called);
	thread = env_start(own_and_leave, &o);
	while (!atomic_load(&o.flag))
		sched_yield();
	assert_int_equal(rouse_call(o.remote, leave_from_inside, &o), ROUSE_ECLOSED);
	env_join(thread);
	assert_closed(&o);
	drop(&o);
}

static void *wake_until_closed(void *data)
{
	struct owner *o = data;
	int result;

	while ((result = rouse_wake(o->waker)) >= 0)
		sched_yield();
	if (result != ROUSE_ECLOSED)
		return o;
	while ((result = rouse_post(o->remote, run_never, o, cancel_a)) >= 0)
		;
	return result == ROUSE_ECLOSED ? NULL : o;
}

static void publish_and_go(struct owner *o)
{
	atomic_store(&o->flag, 1);
	while (atomic_load(&o->flag) != 2)
		sched_yield();
}

static void l1_abandoned_while_others_wake_it(void **state)
{
	unsigned rounds = scaled(60);

	for (unsigned round = 0; round < rounds; round++) {
		struct owner o;
		pthread_t thread, wakers[2];

		begin(&o, *state, publish_and_go);
		thread = env_start(own_and_leave, &o);
		while (!atomic_load(&o.flag))
			sched_yield();
		for (int i = 0; i < 2; i++)
			wakers[i] = env_start(wake_until_closed, &o);
		atomic_store(&o.flag, 2);
		env_join(thread);
		for (int i = 0; i < 2; i++)
			env_join(wakers[i]);
		assert_closed(&o);
		drop(&o);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(l10_others_are_told_that_it_is_closed),
	        env_test(l10_what_was_queued_is_cancelled_once_as_the_thread_ends),
	        env_test(l10_a_thread_that_ends_in_a_callback),
#ifndef _WIN32
	        env_test(l10_a_thread_that_is_cancelled_in_its_wait),
#endif
	        env_test(l10_a_call_that_waits_for_it_returns),
	        env_test(l10_a_call_that_it_ends_in_returns),
	        env_test(l1_abandoned_while_others_wake_it),
	};

	return env_main(argc, argv, "abandoned", tests, sizeof tests / sizeof *tests);
}
