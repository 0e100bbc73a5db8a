/*
 * Wakes in number, from where they are worst: a timer's signal handler, and threads that do not
 * know that the loop is gone.
 *
 * Neither the timer nor the threads are waited for by time: the counts are what ends a test, and
 * a wake that is lost hangs it.
 */
#include "env.h"

#include "core/fault.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
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

/* ---- W19: threads wake while the loop is destroyed and created anew -----------------------------
 */

enum { THREADS = 2 };

/* A waker's reference, handed to a thread. */
struct held {
	rouse_waker *waker;
	unsigned life; /* of which of the loops it is */
};

struct raced {
	_Atomic(struct held *) next;
	sem_t handed;
	atomic_uint answered, wrong;
	atomic_uint *ended; /* loops that are gone */
	atomic_int *over;
	pthread_t thread;
};

static struct held *hold(rouse_waker *waker, unsigned life)
{
	struct held *held = malloc(sizeof *held);

	assert_non_null(held);
	*held = (struct held){rouse_waker_ref(waker), life};
	return held;
}

static void let_go(struct held *held)
{
	if (held)
		rouse_waker_unref(held->waker);
	free(held);
}

/* Wakes what it was given last until that says closed, and a few times more: after the loop is
 * gone, and often as the last one to hold it. */
static void *wake_to_the_end(void *data)
{
	struct raced *r = data;
	struct held *held = NULL;
	unsigned more = 0;

	while (!atomic_load(r->over)) {
		int gone, result;

		if (!more) {
			while (sem_wait(&r->handed))
				;
			let_go(held);
			held = atomic_exchange(&r->next, NULL);
			if (!held)
				continue;
			more = 4;
		}
		gone = held->life < atomic_load(r->ended);
		result = rouse_wake(held->waker);
		if (result == ROUSE_ECLOSED)
			more--;
		else if (!gone && (result == 0 || result == 1))
			atomic_fetch_add(&r->answered, 1);
		else
			atomic_fetch_add(&r->wrong, 1);
		/* It is pending: let the loop have the processor. */
		if (result == 0)
			sched_yield();
	}
	let_go(held);
	return NULL;
}

struct life {
	int over, runs;
};

static void live(rouse_loop *loop, void *data)
{
	struct life *life = data;

	(void)loop;
	assert_false(life->over);
	life->runs++;
}

static void one_life(struct env *env, struct raced *raced, unsigned number)
{
	const unsigned turns = number % 5;
	struct life *life = calloc(1, sizeof *life);
	rouse_waker *waker;

	assert_non_null(life);
	assert_int_equal(rouse_waker_create(env->loop, live, life, &waker), 0);
	for (int i = 0; i < THREADS; i++) {
		let_go(atomic_exchange(&raced[i].next, hold(waker, number)));
		sem_post(&raced[i].handed);
	}
	/* Now and then the threads hold it alone. */
	if (turns & 1)
		waker = rouse_waker_unref(waker);
	for (unsigned i = 0; i < turns; i++)
		env_turn(env, i ? 0 : ROUSE_NEVER);
	env_close(env);
	atomic_store(raced->ended, number + 1);
	life->over = 1;
	free(life);
	if (waker)
		assert_int_equal(rouse_wake(waker), ROUSE_ECLOSED);
	rouse_waker_unref(waker);
	env_open(env, 0);
}

static unsigned answered(struct raced *raced)
{
	unsigned sum = 0;

	for (int i = 0; i < THREADS; i++)
		sum += atomic_load(&raced[i].answered);
	return sum;
}

/* A wake that has begun is overtaken by the loop's end more often than by chance. */
static void dawdle(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__SET_PENDING)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static void w19_wakes_race_the_loops_end_and_its_next_beginning(void **state)
{
	struct env *env = *state;
	struct raced raced[THREADS];
	atomic_int over = 0;
	atomic_uint ended = 0;
	unsigned wakes = scaled(20000), lives = 100 + scaled(200);

	rouse__fault_pause(dawdle, NULL);
	for (int i = 0; i < THREADS; i++) {
		memset(&raced[i], 0, sizeof raced[i]);
		raced[i].over = &over;
		raced[i].ended = &ended;
		sem_init(&raced[i].handed, 0, 0);
		raced[i].thread = env_start(wake_to_the_end, &raced[i]);
	}
	for (unsigned i = 0; i < lives || answered(raced) < wakes; i++)
		one_life(env, raced, i);
	atomic_store(&over, 1);
	for (int i = 0; i < THREADS; i++)
		sem_post(&raced[i].handed);
	for (int i = 0; i < THREADS; i++) {
		env_join(raced[i].thread);
		let_go(atomic_load(&raced[i].next));
		sem_destroy(&raced[i].handed);
		assert_int_equal(atomic_load(&raced[i].wrong), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(w15_a_signal_storm_on_the_loops_own_thread),
	        env_test(w15_a_signal_storm_on_another_thread),
#ifndef HANDLERS_COME_LATE
	        env_test(w15_single_signals_at_any_moment),
#endif
	        env_test(w19_wakes_race_the_loops_end_and_its_next_beginning),
	};

	return env_main(argc, argv, "storms", tests, sizeof tests / sizeof *tests);
}
