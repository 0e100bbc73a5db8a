/*
 * Wakes in number, from where they are worst: a timer's signal handler.
 *
 * The timer is not waited for by time: the counts are what ends a test, and a wake that is lost
 * hangs it.
 */
#include "env.h"

#include "core/fault.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* ---- W15: a timer's signal handler wakes, and posts a task of its own ---------------------------
 */

static struct {
	rouse_waker *waker;
	rouse_remote *remote;
	rouse_task task;
	atomic_uint signals, accepted, refused; /* counted by the handler */
	unsigned seen, served, tasks;           /* by the loop */
	unsigned single; /* so many signals, each set off by the run that answers the one before */
	uint32_t seed;
} storm;

/* In microseconds; a period of 0: once. */
static void set_timer(long first, long period)
{
	struct itimerval timer = {.it_value.tv_usec = first, .it_interval.tv_usec = period};

	assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* Every 100 microseconds: as many a second as W15 asks for.  Where the test is to do less, it is
 * all so much slower, and handlers with no time between them would let nothing else run. */
static void set_storm(unsigned *ret_signals)
{
	const unsigned signals = 2000, here = scaled(signals);
	long period = here < signals ? 100 * (long)(signals / here) : 100;

	set_timer(period, period);
	*ret_signals = here;
}

/* Soon: still in the callback, or between it and the wait, or in the wait. */
static void set_single(void)
{
	storm.seed = storm.seed * 1664525u + 1013904223u;
	set_timer(1 + (long)(storm.seed >> 24) % 60, 0);
}

static void woken(rouse_loop *loop, void *data)
{
	unsigned signals = atomic_load(&storm.signals);

	(void)loop;
	(void)data;
	storm.served++;
	if (signals != storm.seen && signals < storm.single)
		set_single();
	storm.seen = signals;
	for (unsigned i = 0; i < 20; i++)
		free(malloc(64 + (storm.served + i) % 4096));
}

static void task_run(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
	storm.tasks++;
}

/* The first write of each ring is interrupted, so that errno is touched where one rings.  It is
 * rouse's to put back, and not done here. */
static void on_alarm(int signo)
{
	int result;

	(void)signo;
	atomic_fetch_add(&storm.signals, 1);
	rouse__fault_fail(ROUSE__RING, 0, 1, EINTR);
	if (rouse_wake(storm.waker) < 0)
		atomic_fetch_add(&storm.refused, 1);
	rouse__fault_fail(ROUSE__RING, 0, 1, EINTR);
	result = rouse_post_task(storm.remote, &storm.task);
	if (result == 0)
		atomic_fetch_add(&storm.accepted, 1);
	else if (result != ROUSE_EEXIST)
		atomic_fetch_add(&storm.refused, 1);
}

static void block_alarm(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(how, &set, NULL);
}

static void storm_begin(struct env *env)
{
	struct sigaction action = {.sa_handler = on_alarm};

	memset(&storm, 0, sizeof storm);
	storm.task.run = task_run;
	assert_int_equal(rouse_waker_create(env->loop, woken, NULL, &storm.waker), 0);
	storm.remote = rouse_loop_remote(env->loop);
	rouse__fault_reset();
	env_drain(env);
	/* Without SA_RESTART: waits and the doorbell's calls end early, too. */
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
}

/* The last signal has been served, and each task that was taken has run. */
static void storm_end(struct env *env)
{
	set_timer(0, 0);
	ENV_UNTIL(env, storm.seen == atomic_load(&storm.signals));
	env_drain(env);
	/* One that is pending yet would end the program by default. */
	signal(SIGALRM, SIG_IGN);
	assert_int_equal(storm.tasks, atomic_load(&storm.accepted));
	assert_int_equal(atomic_load(&storm.refused), 0);
	assert_in_range(storm.served, 1, atomic_load(&storm.signals));
	rouse__fault_reset();
	rouse_waker_unref(storm.waker);
	rouse_remote_unref(storm.remote);
}

/* Allocates, frees and computes until a signal has come between, which leaves errno alone. */
static int interrupted_unharmed(void)
{
	unsigned before = atomic_load(&storm.signals);
	size_t size = 1;

	errno = EDOM;
	for (unsigned i = 1; atomic_load(&storm.signals) == before; i++) {
		free(malloc(size));
		size = size * 5 % 65521;
		/* There valgrind looks for signals, and without it seldom. */
		if (i % 64 == 0)
			sched_yield();
	}
	return errno == EDOM;
}

static void w15_a_signal_storm_on_the_loops_own_thread(void **state)
{
	struct env *env = *state;
	unsigned signals;

	storm_begin(env);
	set_storm(&signals);
	while (atomic_load(&storm.signals) < signals) {
		env_turn(env, ROUSE_NEVER);
		assert_true(interrupted_unharmed());
	}
	storm_end(env);
}

static atomic_int storm_over;

/* Returns what env_join() takes for a failure if it was harmed. */
static void *allocate_and_free(void *data)
{
	int harmed = 0;

	block_alarm(SIG_UNBLOCK);
	while (!atomic_load(&storm_over))
		harmed += !interrupted_unharmed();
	block_alarm(SIG_BLOCK);
	return harmed ? data : NULL;
}

/* So the loop sleeps, and is rung for from the handler. */
static void w15_a_signal_storm_on_another_thread(void **state)
{
	struct env *env = *state;
	unsigned signals;
	pthread_t thread;

	storm_begin(env);
	block_alarm(SIG_BLOCK);
	atomic_store(&storm_over, 0);
	thread = env_start(allocate_and_free, env);
	set_storm(&signals);
	ENV_UNTIL(env, atomic_load(&storm.signals) >= signals);
	/* It ends with the next signal, while the timer still runs. */
	atomic_store(&storm_over, 1);
	env_join(thread);
	storm_end(env);
	block_alarm(SIG_UNBLOCK);
}

#if defined(__SANITIZE_THREAD__)
#define HANDLERS_COME_LATE
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HANDLERS_COME_LATE
#endif
#endif

#ifndef HANDLERS_COME_LATE
/* Each signal is set off by the run that answers the one before, so that no later one makes up for
 * a wake that was lost.  (ThreadSanitizer holds handlers back while the loop falls asleep: there
 * a later one has to.) */
static void w15_single_signals_at_any_moment(void **state)
{
	struct env *env = *state;

	storm_begin(env);
	storm.single = scaled(2000);
	set_single();
	ENV_UNTIL(env, storm.seen == storm.single);
	storm_end(env);
}
#endif

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(w15_a_signal_storm_on_the_loops_own_thread),
	        env_test(w15_a_signal_storm_on_another_thread),
#ifndef HANDLERS_COME_LATE
	        env_test(w15_single_signals_at_any_moment),
#endif
	};

	return env_main(argc, argv, "storms", tests, sizeof tests / sizeof *tests);
}
