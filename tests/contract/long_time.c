/* Timers that are hours away, hours that pass at once, and the clock that counts them. */
#include "env.h"

#include "core/fault.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#define MS ((rouse_ns)1000000)
#define HOUR (3600 * 1000 * MS)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static rouse_source add(struct env *env, rouse_ns deadline, rouse_ns period, rouse_timer_fn fn,
                        void *data)
{
	rouse_source source;

	assert_int_equal(rouse_timer_add(env->loop, deadline, period, 0, fn, data, &source), 0);
	return source;
}

static rouse_stats stats_of(struct env *env)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_loop_stats(env->loop, &stats), 0);
	return stats;
}

/* ---- T6 ---------------------------------------------------------------------------------------
 */

static void t6_an_hour_ends_neither_early_nor_late(void **state)
{
	struct env *env = *state;
	const rouse_ns begin = rouse_loop_now(env->loop);
	const int day = 24;
	int once = 0, hourly = 0;
	uint64_t turns;

	if (!env->null)
		skip();
	add(env, begin + HOUR, 0, count_timer, &once);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(env_turn(env, HOUR - 1), 0);
	assert_int_equal(rouse_loop_now(env->loop), begin + HOUR - 1);
	assert_int_equal(env_turn(env, ROUSE_NEVER), 1);
	assert_int_equal(rouse_loop_now(env->loop), begin + HOUR);
	assert_int_equal(once, 1);

	add(env, begin + 2 * HOUR, HOUR, count_timer, &hourly);
	turns = stats_of(env).turns;
	for (int i = 1; i <= day; i++) {
		assert_int_equal(env_turn(env, ROUSE_NEVER), 1);
		assert_int_equal(rouse_loop_now(env->loop), begin + (rouse_ns)(i + 1) * HOUR);
	}
	assert_int_equal(hourly, day);
	/* As a bracket's host the test looks twice: before time passes, and after. */
	assert_int_equal(stats_of(env).turns - turns, env->host == BRACKET ? 2 * day : day);
	assert_int_equal(stats_of(env).timers_skipped, 0);
}

static atomic_int asleep;

static void note_sleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP)
		atomic_store(&asleep, 1);
}

/* The pause orders nothing: it is the time in which a loop that does not sleep would turn. */
static void *wake_some_time_later(void *waker)
{
	while (!atomic_load(&asleep))
		sched_yield();
	(void)nanosleep(&(struct timespec){.tv_nsec = 200 * 1000 * 1000}, NULL);
	return rouse_wake(waker) < 0 ? waker : NULL;
}

static unsigned waits(void)
{
	return rouse__fault_count(ROUSE__EPOLL_WAIT) + rouse__fault_count(ROUSE__EPOLL_PWAIT2) +
	       rouse__fault_count(ROUSE__POLL) + rouse__fault_count(ROUSE__PORT_WAIT);
}

/* Also where a count of milliseconds, or of 32 bits of them, would wrap. */
static void t6_a_loop_with_a_far_timer_sleeps(void **state)
{
	static const rouse_ns away[] = {HOUR, 25 * 24 * HOUR, 50 * 24 * HOUR};
	struct env *env = *state;

	if (env->null)
		skip();
	for (size_t i = 0; i < COUNT(away); i++) {
		rouse_ns deadline = rouse_loop_now(env->loop) + away[i];
		int fired = 0, woken = 0, host_turns = 0;
		rouse_source timer = add(env, deadline, 0, count_timer, &fired);
		rouse_waker *waker;
		pthread_t thread;
		unsigned before;
		uint64_t turns;

		assert_int_equal(rouse_waker_create(env->loop, count_run, &woken, &waker), 0);
		assert_int_equal(env_drain(env), 0);
		if (env->host == BRACKET) {
			rouse_ns told;

			assert_int_equal(rouse_loop_prepare(env->loop, 0, &told), 0);
			assert_true(told == deadline);
		}
		before = waits();
		turns = stats_of(env).turns;
		atomic_store(&asleep, 0);
		rouse__fault_pause(note_sleep, NULL);
		thread = env_start(wake_some_time_later, waker);
		while (!woken) {
			env_turn(env, ROUSE_NEVER);
			host_turns++;
		}
		rouse__fault_pause(NULL, NULL);
		env_join(thread);
		/* Where a call is not to be had here, asking for it once is no wait. */
		assert_in_range(waits() - before, 1, 2);
		assert_int_equal(stats_of(env).turns - turns, 1);
		assert_int_equal(host_turns, 1);
		assert_int_equal(fired, 0);
		assert_int_equal(rouse_remove(env->loop, timer), 0);
		rouse_waker_unref(waker);
	}
}

/* The callback compares the clock with its deadline. */
static void t6_no_timer_is_early_by_any_fraction_of_a_millisecond(void **state)
{
	struct env *env = *state;
	const int count = 100;
	rouse_ns begin = rouse_loop_now(env->loop);
	int fired = 0;

	for (int i = 0; i < count; i++)
		add(env, begin + (rouse_ns)i * 123457, 0, count_timer, &fired);
	ENV_UNTIL(env, fired == count);
}

/* ---- T7 ---------------------------------------------------------------------------------------
 */

enum { MOST = 400 };

struct jump {
	struct env *env;
	int fired[MOST];
	rouse_ns deadlines[MOST];
	int order[MOST], count;
};
struct periodic {
	struct jump *jump;
	int index;
	rouse_ns period;
};

static void record(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct periodic *p = data;
	struct jump *j = p->jump;

	(void)self;
	assert_true(rouse_loop_now(loop) >= deadline);
	j->fired[p->index]++;
	j->deadlines[p->index] = deadline;
	assert_in_range(j->count, 0, MOST - 1);
	j->order[j->count++] = p->index;
}

/* Many periods, from a nanosecond to longer than the jump; two share each deadline. */
static rouse_ns period_of(int i)
{
	static const rouse_ns periods[] = {1, 17, 1000, MS, 50 * MS, 1000 * MS, HOUR, 10 * HOUR};

	return periods[(size_t)i % COUNT(periods)];
}

static rouse_ns first_of(rouse_ns begin, int i)
{
	/* Not in the order in which they are added. */
	return begin + 1 + (rouse_ns)(i / 2 * 37 % 101) * MS;
}

static void jump_over_hours(struct env *env, int count)
{
	const rouse_ns begin = rouse_loop_now(env->loop), hours = 5 * HOUR;
	struct jump j = {.env = env};
	struct periodic timers[MOST];
	uint64_t skipped = 0, skipped_before = stats_of(env).timers_skipped;
	rouse_ns now, next[MOST];

	for (int i = 0; i < count; i++) {
		timers[i] = (struct periodic){&j, i, period_of(i)};
		add(env, first_of(begin, i), timers[i].period, record, &timers[i]);
	}
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(rouse_null_advance(env->loop, hours), 0);
	assert_int_equal(env_drain(env), count);
	now = rouse_loop_now(env->loop);
	assert_int_equal(now, begin + hours);
	for (int i = 0; i < count; i++) {
		rouse_ns first = first_of(begin, i), missed = (now - first) / timers[i].period;

		assert_int_equal(j.fired[i], 1);
		assert_int_equal(j.deadlines[i], first);
		skipped += missed;
		next[i] = first + (missed + 1) * timers[i].period;
	}
	assert_int_equal(stats_of(env).timers_skipped - skipped_before, skipped);
	/* By deadline, and ties as they were added. */
	for (int i = 1; i < count; i++) {
		int a = j.order[i - 1], b = j.order[i];
		rouse_ns before = first_of(begin, a), after = first_of(begin, b);

		assert_true(before < after || (before == after && a < b));
	}
	/* And on from there, in step with the first deadline. */
	j.count = 0;
	assert_int_equal(rouse_null_advance(env->loop, HOUR), 0);
	env_drain(env);
	for (int i = 0; i < count; i++) {
		int again = next[i] <= now + HOUR;

		assert_int_equal(j.fired[i], 1 + again);
		assert_int_equal(j.deadlines[i], again ? next[i] : first_of(begin, i));
	}
}

static void t7_a_jump_of_hours_is_one_firing_each(void **state)
{
	struct env *env = *state;

	if (!env->null)
		skip();
	jump_over_hours(env, 16);
}

/* More than a turn may run: the rest comes in the next ones, and none a second time. */
static void t7_a_jump_over_more_timers_than_the_budget(void **state)
{
	struct env *env = *state;

	if (!env->null)
		skip();
	jump_over_hours(env, MOST);
}

/* A machine that was suspended while the loop was in a callback. */
static void jump_inside(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	record(loop, self, deadline, data);
	if (((struct periodic *)data)->jump->count == 1)
		assert_int_equal(rouse_null_advance(loop, 3 * HOUR), 0);
}

static void t7_a_jump_in_a_callback_is_one_firing_each(void **state)
{
	struct env *env = *state;
	const rouse_ns begin = rouse_loop_now(env->loop);
	struct jump j = {.env = env};
	struct periodic timers[3];

	if (!env->null)
		skip();
	for (int i = 0; i < 3; i++) {
		timers[i] = (struct periodic){&j, i, 10 * MS};
		add(env, begin + (rouse_ns)(i + 1) * MS, 10 * MS, jump_inside, &timers[i]);
	}
	ENV_UNTIL(env, j.count);
	assert_int_equal(env_drain(env) + 1, 4);
	/* The first was not late when it ran, so that it runs for the period that passed then. */
	assert_int_equal(j.fired[0], 2);
	assert_int_equal(j.fired[1], 1);
	assert_int_equal(j.fired[2], 1);
	assert_int_equal(j.deadlines[0], begin + 11 * MS);
}

/* ---- T7: which clock --------------------------------------------------------------------------
 */

#ifndef _WIN32
static rouse_ns read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (rouse_ns)t.tv_sec * 1000 * MS + (rouse_ns)t.tv_nsec;
}

static int is_ours(clockid_t clock)
{
	rouse_ns before = read_clock(clock), now = rouse_now();

	return before <= now && now <= read_clock(clock);
}

static void t7_the_clock_stands_still_while_the_machine_does(void **state)
{
	(void)state;
	assert_true(is_ours(CLOCK_MONOTONIC));
}
#endif

#ifdef CLONE_NEWTIME
static void fired(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self;
	*(int *)data = rouse_loop_now(loop) >= deadline ? 1 : -1;
}

/* As on a machine that was suspended for ten hours: there the two clocks are so far apart. */
static int after_suspend(const char *poller)
{
	rouse_loop_options options = {.size = sizeof options, .poller = poller};
	rouse_stats stats = {.size = sizeof stats};
	rouse_loop *loop;
	rouse_source far;
	int done = 0, late = 0;

	if (read_clock(CLOCK_BOOTTIME) - read_clock(CLOCK_MONOTONIC) < 9 * HOUR)
		return 77;
	if (!is_ours(CLOCK_MONOTONIC) || is_ours(CLOCK_BOOTTIME))
		return 1;
	if (rouse_loop_create(&options, &loop) ||
	    rouse_timer_add(loop, rouse_now() + 20 * MS, 0, 0, fired, &done, NULL) ||
	    rouse_timer_add(loop, rouse_now() + HOUR, 0, 0, fired, &late, &far))
		return 2;
	while (!done)
		if (rouse_loop_turn(loop, ROUSE_NEVER) < 0)
			return 3;
	if (done != 1 || late || rouse_loop_stats(loop, &stats) || stats.turns > 3)
		return 4;
	return rouse_loop_destroy(loop) ? 5 : 0;
}

/* In a time namespace, which a process's next child enters.  77: not to be had here. */
static int in_namespace(const char *poller)
{
	static const char offset[] = "7 36000 0\n"; /* CLOCK_BOOTTIME, seconds, nanoseconds */
	int file, status;
	pid_t child;

	if (unshare(CLONE_NEWTIME) && unshare(CLONE_NEWUSER | CLONE_NEWTIME))
		return 77;
	file = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, offset, sizeof offset - 1) < 0)
		return 77;
	child = fork();
	if (child < 0)
		return 77;
	if (child == 0) {
		alarm(250);
		_exit(after_suspend(poller));
	}
	if (waitpid(child, &status, 0) != child)
		return 6;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 7;
}

static void t7_timers_follow_that_clock_after_a_suspend(void **state)
{
	struct env *env = *state;
	int status;
	pid_t child;

	if (env->null)
		skip();
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(in_namespace(rouse_loop_poller(env->loop)));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}
#endif

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(t6_an_hour_ends_neither_early_nor_late),
	        env_test(t6_a_loop_with_a_far_timer_sleeps),
	        env_test(t6_no_timer_is_early_by_any_fraction_of_a_millisecond),
	        env_test(t7_a_jump_of_hours_is_one_firing_each),
	        env_test(t7_a_jump_over_more_timers_than_the_budget),
	        env_test(t7_a_jump_in_a_callback_is_one_firing_each),
#ifndef _WIN32
	        env_test(t7_the_clock_stands_still_while_the_machine_does),
#endif
#ifdef CLONE_NEWTIME
	        env_test_in(t7_timers_follow_that_clock_after_a_suspend, UNHOSTED),
#endif
	};

	return env_main(argc, argv, "long_time", tests, sizeof tests / sizeof *tests);
}
