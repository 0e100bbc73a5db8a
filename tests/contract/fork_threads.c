/*
 * Forks in a process with threads: what they were in the middle of, in the child, where they are
 * not.
 */
#include "forked.h"

#include "core/fault.h"
#include "core/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A thread that is held where a fork would rather not find it -------------------- */

static struct held {
	struct env *env;
	rouse_waker *waker;
	rouse_remote *remote;
	rouse_task task;
	enum rouse__point at;
	pthread_t main;
	atomic_int reached, go;
	int result, runs, cancelled;
} h;

static void hold(enum rouse__point point, void *data)
{
	(void)data;
	if (point != h.at || pthread_equal(pthread_self(), h.main))
		return;
	atomic_store(&h.reached, 1);
	while (!atomic_load(&h.go))
		sched_yield();
}

static void begin(struct env *env, enum rouse__point at)
{
	h = (struct held){.env = env, .at = at, .main = pthread_self(), .result = -100};
	h.remote = rouse_loop_remote(env->loop);
	assert_int_equal(rouse_waker_create(env->loop, count_run, &h.runs, &h.waker), 0);
	env_drain(env);
	/* As far as producers know. */
	if (env->host == UNHOSTED)
		assert_true(rouse__remote_doze(env->loop->remote));
}

static void finish(void)
{
	rouse__fault_pause(NULL, NULL);
	rouse_waker_unref(h.waker);
	rouse_remote_unref(h.remote);
}

static pthread_t start_and_hold(void *(*fn)(void *))
{
	pthread_t thread;

	rouse__fault_pause(hold, NULL);
	thread = env_start(fn, NULL);
	while (!atomic_load(&h.reached))
		sched_yield();
	return thread;
}

static void let_go(pthread_t thread)
{
	atomic_store(&h.go, 1);
	env_join(thread);
	rouse__fault_pause(NULL, NULL);
}

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

static void cancel_held(void *data)
{
	(void)data;
	h.cancelled++;
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

/* ---- Calls of threads that are not there -------------------------------------------- */

static void *call(void *data)
{
	(void)data;
	h.result = rouse_call(h.remote, count_run, &h.runs);
	return NULL;
}

static void the_call_is_dropped(void *data)
{
	int posted = *(int *)data;

	rouse__fault_pause(NULL, NULL);
	forked_repair(h.env);
	for (int turns = 0; turns < 5; turns++)
		env_turn(h.env, 0);
	/* What was posted around it runs. */
	assert_int_equal(h.runs, posted);
	assert_int_equal(rouse_post(h.remote, count_run, &h.runs, cancel_held), 0);
	ENV_UNTIL(h.env, h.runs == posted + 1);
	assert_int_equal(rouse_post(h.remote, count_run, &h.runs, cancel_held), 0);
	env_close(h.env);
	assert_int_equal(h.runs, posted + 1);
	assert_int_equal(h.cancelled, 1);
}

/* First it is queued when the fork comes, then left over by a turn. */
static void f10_a_call_of_a_thread_that_is_gone_is_dropped(void **state)
{
	for (int left_over = 0; left_over < 2; left_over++) {
		int posted = 2, before = 0;
		pthread_t thread;

		env_close(*state);
		env_open(*state, 1);
		begin(*state, ROUSE__PUBLISHED);
		if (left_over)
			assert_int_equal(rouse_post(h.remote, count_run, &before, NULL), 0);
		assert_int_equal(rouse_post(h.remote, count_run, &h.runs, NULL), 0);
		thread = start_and_hold(call);
		assert_int_equal(rouse_post(h.remote, count_run, &h.runs, NULL), 0);
		while (left_over && !before)
			env_turn(h.env, 0);
		assert_int_equal(h.runs, 0);
		in_child(the_call_is_dropped, &posted);
		atomic_store(&h.go, 1);
		ENV_UNTIL(h.env, h.runs == 3);
		env_join(thread);
		assert_int_equal(h.result, 0);
		finish();
	}
}

/* ---- A called function forks --------------------------------------------------------- */

enum { CALLERS = 3 };

static struct forking {
	pid_t child;
	int ran, later;
	pthread_t threads[CALLERS];
	atomic_int stop, spun;
} f;

/* On the stack of a caller, who is not there: the system gives them to the next threads. */
static void *use_its_stack(void *data)
{
	volatile unsigned char mine[16384];
	int intact = 1;

	(void)data;
	for (size_t i = 0; i < sizeof mine; i++)
		mine[i] = 0x5a;
	atomic_fetch_add(&f.spun, 1);
	while (!atomic_load(&f.stop))
		sched_yield();
	for (size_t i = 0; i < sizeof mine; i++)
		intact &= mine[i] == 0x5a;
	return intact ? NULL : &f;
}

static void start_and_await(void)
{
	for (int i = 0; i < CALLERS; i++)
		f.threads[i] = env_start(use_its_stack, NULL);
	while (atomic_load(&f.spun) < CALLERS)
		sched_yield();
}

/* `data`: start a thread before the caller would be let go, not after. */
static void fork_when_called(rouse_loop *loop, void *data)
{
	f.ran++;
	if (f.child >= 0)
		return;
	f.child = forked();
	if (f.child > 0)
		return;
	assert_int_equal(rouse_loop_after_fork(loop), 0);
	if (data)
		start_and_await();
}

static void *call_and_fork(void *data)
{
	return rouse_call(h.remote, fork_when_called, data) ? &f : NULL;
}

static void *call_later(void *data)
{
	return rouse_call(h.remote, count_run, &f.later) ? data : NULL;
}

static void calls_of_the_childs_own(void)
{
	forked_rehost(h.env);
	env_drain(h.env);
	/* The one that was being run, and no other. */
	assert_int_equal(f.ran, 1);
	for (int i = 0; i < 3; i++) {
		pthread_t caller = env_start(call_later, &f);

		ENV_UNTIL(h.env, f.later == i + 1);
		env_join(caller);
	}
	atomic_store(&f.stop, 1);
	for (int i = 0; i < CALLERS; i++)
		env_join(f.threads[i]);
	env_close(h.env);
}

/* The callers are not there, and where they were, others may be. */
static void f10_forked_by_a_called_function(void **state)
{
	if (forked_under_tsan() || forked_under_asan())
		skip();
	for (int early = 0; early < 2; early++) {
		pthread_t threads[CALLERS];

		begin(*state, ROUSE__POINTS);
		f = (struct forking){.child = -1};
		for (int i = 0; i < CALLERS; i++)
			threads[i] = env_start(call_and_fork, early ? &f : NULL);
		ENV_UNTIL(h.env, f.child >= 0);
		if (f.child == 0) {
			if (!early)
				start_and_await();
			calls_of_the_childs_own();
			forked_passed();
		}
		ENV_UNTIL(h.env, f.ran == CALLERS);
		for (int i = 0; i < CALLERS; i++)
			env_join(threads[i]);
		forked_wait(f.child);
		finish();
	}
}

/* ---- Who forks ---------------------------------------------------------------------- */

static void *fork_elsewhere(void *data)
{
	pid_t *child = data;
	rouse_stats stats = {.size = sizeof stats};
	int answer;

	*child = fork();
	if (*child != 0)
		return NULL;
	alarm(100);
	answer = rouse_loop_turn(h.env->loop, 0);
	if (answer != ROUSE_EFORKED && answer != ROUSE_EWRONGTHREAD)
		_exit(1);
	answer = rouse_loop_destroy(h.env->loop);
	if (answer != ROUSE_EFORKED && answer != ROUSE_EWRONGTHREAD)
		_exit(2);
	if (rouse_wake(h.waker) != ROUSE_EFORKED)
		_exit(3);
	if (rouse_post(h.remote, count_run, &h.runs, NULL) != ROUSE_EFORKED)
		_exit(4);
	if (rouse_call(h.remote, count_run, &h.runs) != ROUSE_EFORKED)
		_exit(5);
	if (rouse_remote_stats(h.remote, &stats) != ROUSE_EFORKED)
		_exit(6);
	if (rouse_loop_after_fork(h.env->loop) != ROUSE_EWRONGTHREAD)
		_exit(7);
	if (rouse_wake(h.waker) != ROUSE_EFORKED)
		_exit(8);
	_exit(0);
}

static void f10_forked_by_another_thread_it_stays_refused(void **state)
{
	const char *descriptors;
	pid_t child = -1;

	begin(*state, ROUSE__POINTS);
	descriptors = forked_descriptors();
	env_join(env_start(fork_elsewhere, &child));
	assert_true(child > 0);
	forked_wait(child);
	assert_string_equal(forked_descriptors(), descriptors);
	assert_true(rouse_wake(h.waker) >= 0);
	ENV_UNTIL(h.env, h.runs == 1);
	finish();
}

/* ---- A loop whose thread is not there ----------------------------------------------- */

static struct other {
	struct env env;
	rouse_remote *remote;
	rouse_waker *waker;
	atomic_int ready, end;
	int runs;
} other;

static void *own(void *data)
{
	(void)data;
	env_open(&other.env, 0);
	other.remote = rouse_loop_remote(other.env.loop);
	if (rouse_waker_create(other.env.loop, count_run, &other.runs, &other.waker))
		return &other;
	atomic_store(&other.ready, 1);
	ENV_UNTIL(&other.env, atomic_load(&other.end));
	env_close(&other.env);
	return NULL;
}

static void end_other(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	atomic_store(&other.end, 1);
}

static void without_its_thread(void *data)
{
	(void)data;
	assert_int_equal(rouse_wake(other.waker), ROUSE_EFORKED);
	assert_int_equal(rouse_post(other.remote, end_other, NULL, NULL), ROUSE_EFORKED);
	assert_int_equal(rouse_call(other.remote, end_other, NULL), ROUSE_EFORKED);
	assert_int_equal(rouse_loop_after_fork(other.env.loop), ROUSE_EWRONGTHREAD);
	/* Ours can be repaired; nothing of that reaches the other. */
	forked_repair(h.env);
	assert_true(rouse_wake(h.waker) >= 0);
	ENV_UNTIL(h.env, h.runs);
	assert_int_equal(rouse_wake(other.waker), ROUSE_EFORKED);
	rouse_waker_unref(other.waker);
	rouse_remote_unref(other.remote);
}

static void f10_a_loop_of_a_thread_that_is_gone(void **state)
{
	pthread_t thread;

	other = (struct other){0};
	begin(*state, ROUSE__POINTS);
	thread = env_start(own, NULL);
	while (!atomic_load(&other.ready))
		sched_yield();
	in_child(without_its_thread, NULL);
	assert_int_equal(rouse_call(other.remote, count_run, &other.runs), 0);
	assert_int_equal(other.runs, 1);
	assert_int_equal(rouse_post(other.remote, end_other, NULL, NULL), 0);
	env_join(thread);
	rouse_waker_unref(other.waker);
	rouse_remote_unref(other.remote);
	finish();
}

/* Threads that wake and post all the time, whatever they are in the middle of. */
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
	        env_test(f10_a_call_of_a_thread_that_is_gone_is_dropped),
	        env_test(f10_forked_by_a_called_function),
	        env_test(f10_forked_by_another_thread_it_stays_refused),
	        env_test(f10_a_loop_of_a_thread_that_is_gone),
	        env_test(f10_forked_while_others_wake_and_post),
	};

	return env_main(argc, argv, "fork_threads", tests, sizeof tests / sizeof *tests);
}
