/* Timers to the nanosecond, on the clock that stands still between two readings. */
#include "env.h"

#define MS ((rouse_ns)1000000)

static rouse_source add(struct env *env, rouse_ns deadline, rouse_ns period, rouse_timer_fn fn,
                        void *data)
{
	rouse_source source;

	assert_int_equal(rouse_timer_add(env->loop, deadline, period, 0, fn, data, &source), 0);
	return source;
}

/* ---- T3 ------------------------------------------------------------------------------- */

struct slow {
	struct env *env;
	rouse_ns takes;
	rouse_ns deadlines[16];
	int runs;
};

static void take_long(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct slow *s = data;

	(void)self;
	s->deadlines[s->runs++ % 16] = deadline;
	assert_int_equal(rouse_null_advance(loop, s->takes), 0);
}

static uint64_t skipped(struct env *env)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_loop_stats(env->loop, &stats), 0);
	return stats.timers_skipped;
}

static void t3_missed_periods_are_skipped_and_counted(void **state)
{
	struct env *env = *state;
	struct slow s = {.env = env, .takes = 50 * MS};
	rouse_ns begin = rouse_loop_now(env->loop) + 50 * MS;
	rouse_source source;

	source = add(env, begin, 50 * MS, take_long, &s);
	for (int i = 0; i < 10; i++) {
		ENV_UNTIL(env, s.runs == i + 1);
		assert_int_equal(s.deadlines[i], begin + (rouse_ns)i * 50 * MS);
		assert_int_equal(rouse_loop_now(env->loop), begin + (rouse_ns)(i + 1) * 50 * MS);
	}
	assert_int_equal(skipped(env), 0);

	s.takes = 0;
	assert_int_equal(rouse_timer_set(env->loop, source, begin + 1000 * MS, 50 * MS, 0), 0);
	assert_int_equal(rouse_null_advance(env->loop, 1000 * MS), 0);
	s.runs = 0;
	ENV_UNTIL(env, s.runs == 1);
	assert_int_equal(s.deadlines[0], begin + 1000 * MS);
	assert_int_equal(skipped(env), (rouse_loop_now(env->loop) - begin - 1000 * MS) / (50 * MS));
	ENV_UNTIL(env, s.runs == 2);
	assert_int_equal((s.deadlines[1] - begin) % (50 * MS), 0);
	assert_int_equal(rouse_loop_now(env->loop), s.deadlines[1]);
}

static void t8_a_nanosecond_period_after_an_hour_is_one_division(void **state)
{
	struct env *env = *state;
	struct slow s = {.env = env};
	rouse_ns begin = rouse_loop_now(env->loop);

	add(env, begin, 1, take_long, &s);
	assert_int_equal(rouse_null_advance(env->loop, 3600 * 1000 * MS), 0);
	env_turn(env, 0);
	assert_int_equal(s.runs, 1);
	assert_int_equal(skipped(env), 3600 * 1000 * MS);
}

static void slack_shares_a_wakeup(void **state)
{
	struct env *env = *state;
	rouse_ns now = rouse_loop_now(env->loop);
	int runs = 0, last = 0;

	for (rouse_ns i = 0; i < 10; i++)
		assert_int_equal(rouse_timer_add(env->loop, now + MS + i * 100000, 0, 2 * MS,
		                                 count_timer, &runs, NULL),
		                 0);
	add(env, now + 2500000, 0, count_timer, &last);
	assert_int_equal(env_turn(env, ROUSE_NEVER), 11);
	assert_int_equal(rouse_loop_now(env->loop), now + 2500000);
	assert_int_equal(runs, 10);
	assert_int_equal(last, 1);
}

/* What the budget left over was due: its slack is no reason to let it sleep. */
static void timers_over_the_budget_do_not_wait_for_their_slack(void **state)
{
	struct env *env = *state;
	rouse_ns at = rouse_loop_now(env->loop) + MS;
	int runs = 0;

	env_close(env);
	env_open(env, 8);
	for (int i = 0; i < 20; i++)
		assert_int_equal(rouse_timer_add(env->loop, at, 0, i ? 1000 * MS : 0, count_timer,
		                                 &runs, NULL),
		                 0);
	ENV_UNTIL(env, runs == 20);
	assert_int_equal(rouse_loop_now(env->loop), at);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(t3_missed_periods_are_skipped_and_counted),
	        env_test(t8_a_nanosecond_period_after_an_hour_is_one_division),
	        env_test(slack_shares_a_wakeup),
	        env_test(timers_over_the_budget_do_not_wait_for_their_slack),
	};

	return env_main(argc, argv, "virtual_time", tests, sizeof tests / sizeof *tests);
}
