/*
 * Forks in a process with threads: the calls that they wait for, and the loops that they own,
 * in the child, where they are not.
 */
#include "held.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

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
	alarm(250);
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f10_a_call_of_a_thread_that_is_gone_is_dropped),
	        env_test(f10_forked_by_a_called_function),
	        env_test(f10_forked_by_another_thread_it_stays_refused),
	        env_test(f10_a_loop_of_a_thread_that_is_gone),
	};

	return env_main(argc, argv, "fork_absent", tests, sizeof tests / sizeof *tests);
}
