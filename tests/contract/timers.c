/* Timers: in order, on time, never twice. */
#include "env.h"

#include "base/list.h"

#include <pthread.h>
#include <stdlib.h>

#define MS ((rouse_ns)1000000)

static rouse_source add(struct env *env, rouse_ns deadline, rouse_ns period, rouse_timer_fn fn,
                        void *data)
{
	rouse_source source;

	assert_int_equal(rouse_timer_add(env->loop, deadline, period, 0, fn, data, &source), 0);
	return source;
}

/* ---- T1 ------------------------------------------------------------------------------- */

struct adder {
	rouse_remote *remote;
	int fired, result;
};

static void add_near(rouse_loop *loop, void *data)
{
	struct adder *a = data;

	a->result = rouse_timer_add(loop, rouse_loop_now(loop) + MS, 0, 0, count_timer, &a->fired,
	                            NULL);
}

static void *post_near(void *data)
{
	struct adder *a = data;

	return rouse_post(a->remote, add_near, a, NULL) < 0 ? a : NULL;
}

static void t1_an_earlier_timer_shortens_the_wait(void **state)
{
	struct env *env = *state;
	struct adder a = {.remote = rouse_loop_remote(env->loop)};
	rouse_ns begin = rouse_loop_now(env->loop);
	pthread_t thread;
	void *failed;
	int far = 0;

	add(env, begin + 100000 * MS, 0, count_timer, &far);
	assert_int_equal(pthread_create(&thread, NULL, post_near, &a), 0);
	if (env->null)
		pthread_join(thread, &failed);
	ENV_UNTIL(env, a.fired);
	if (!env->null)
		pthread_join(thread, &failed);
	assert_null(failed);
	assert_int_equal(a.result, 0);
	assert_int_equal(far, 0);
	assert_true(rouse_loop_now(env->loop) < begin + 100000 * MS);
	rouse_remote_unref(a.remote);
}

static void t1_removing_the_earliest_fires_nothing_early(void **state)
{
	struct env *env = *state;
	rouse_ns now = rouse_loop_now(env->loop);
	int first = 0, second = 0;
	rouse_source source = add(env, now + MS, 0, count_timer, &first);

	add(env, now + 3 * MS, 0, count_timer, &second);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	/* count() checks that its time has come. */
	ENV_UNTIL(env, second == 1);
	assert_int_equal(first, 0);
}

/* ---- T2 ------------------------------------------------------------------------------- */

struct rearm {
	int runs, in_turn, stop;
};

static void rearm_now(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct rearm *r = data;

	(void)deadline;
	r->runs++;
	r->in_turn++;
	if (!r->stop)
		assert_int_equal(rouse_timer_set(loop, self, rouse_loop_now(loop), 0, 0), 0);
}

static void t2_a_timer_rearmed_to_now_runs_once_a_turn(void **state)
{
	struct env *env = *state;
	struct rearm r = {0};
	struct channel channel;
	int readable = 0;

	channel_open(env, &channel);
	channel_fill(env, &channel);
	assert_int_equal(
	        rouse_fd_add(env->loop, channel.fd, ROUSE_READABLE, count_fd, &readable, NULL), 0);
	add(env, rouse_loop_now(env->loop), 0, rearm_now, &r);
	for (int i = 0; r.runs < 50; i++) {
		r.in_turn = 0;
		env_turn(env, ROUSE_NEVER);
		assert_in_range(r.in_turn, 0, 1);
		assert_int_equal(readable, i + 1);
	}
	r.stop = 1;
	channel_empty(env, &channel);
	env_drain(env);
	channel_close(env, &channel);
}

/* ---- T4 ------------------------------------------------------------------------------- */

struct sibling {
	rouse_source other;
	int runs;
};

static void remove_other(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct sibling *s = data;

	(void)self;
	(void)deadline;
	s->runs++;
	assert_int_equal(rouse_remove(loop, s->other), 0);
}

static void disarm_other(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct sibling *s = data;

	(void)self;
	(void)deadline;
	s->runs++;
	assert_int_equal(rouse_timer_set(loop, s->other, ROUSE_NEVER, 0, 0), 0);
}

static void t4_a_timer_cancelled_by_a_sibling_does_not_run(void **state)
{
	static const rouse_timer_fn cancels[] = {remove_other, disarm_other};
	struct env *env = *state;

	for (int i = 0; i < 2; i++) {
		struct sibling s = {0};
		rouse_ns now = rouse_loop_now(env->loop);
		int other = 0;

		add(env, now, 0, cancels[i], &s);
		s.other = add(env, now, 0, count_timer, &other);
		ENV_UNTIL(env, s.runs == 1);
		env_drain(env);
		assert_int_equal(other, 0);
	}
}

/* ---- T5 ------------------------------------------------------------------------------- */

struct expected {
	rouse_ns deadline;
	unsigned order;
	rouse_source source;
	int removed;
};

struct sequence {
	struct expected *timers; /* as sorted */
	unsigned next, wrong;
};

struct entry {
	struct sequence *sequence;
	unsigned order;
};

static int by_deadline(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->deadline != y->deadline)
		return x->deadline < y->deadline ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void check_order(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct entry *e = data;
	struct sequence *s = e->sequence;

	(void)loop;
	(void)self;
	while (s->timers[s->next].removed)
		s->next++;
	s->wrong += s->timers[s->next].order != e->order || s->timers[s->next].deadline != deadline;
	s->next++;
}

static void t5_many_timers_fire_by_deadline_then_by_insertion(void **state)
{
	struct env *env = *state;
	unsigned total = scaled(100000), left = 0;
	rouse_ns begin = rouse_loop_now(env->loop);
	struct expected *timers = calloc(total, sizeof *timers);
	struct entry *entries = calloc(total, sizeof *entries);
	struct sequence sequence = {.timers = timers};

	assert_non_null(timers);
	assert_non_null(entries);
	srand(5);
	for (unsigned i = 0; i < total; i++) {
		/* Few different deadlines, so that there are many ties. */
		timers[i] = (struct expected){.deadline = begin + (rouse_ns)(rand() % 1000) * 10000,
		                              .order = i};
		entries[i] = (struct entry){&sequence, i};
		assert_int_equal(rouse_timer_add(env->loop, timers[i].deadline, 0, 0, check_order,
		                                 &entries[i], &timers[i].source),
		                 0);
		if (rand() % 3 == 0) {
			struct expected *gone = &timers[rand() % (int)(i + 1)];

			if (!gone->removed)
				assert_int_equal(rouse_remove(env->loop, gone->source), 0);
			gone->removed = 1;
		}
	}
	for (unsigned i = 0; i < total; i++)
		left += !timers[i].removed;
	qsort(timers, total, sizeof *timers, by_deadline);
	for (unsigned fired = 0; fired < left;)
		fired += (unsigned)env_turn(env, ROUSE_NEVER);
	assert_int_equal(sequence.wrong, 0);
	assert_int_equal(env_drain(env), 0);
	free(timers);
	free(entries);
}

/* ---- T8 ------------------------------------------------------------------------------- */

static void t8_ends_of_the_range_saturate(void **state)
{
	struct env *env = *state;
	rouse_ns now = rouse_loop_now(env->loop);
	int runs = 0, never = 0;
	rouse_source source = add(env, now, ROUSE_NEVER - 1, count_timer, &runs);
	rouse_source late;

	add(env, ROUSE_NEVER, 0, count_timer, &never);
	assert_int_equal(rouse_timer_add(env->loop, ROUSE_NEVER - 1, ROUSE_NEVER, ROUSE_NEVER,
	                                 count_timer, &never, &late),
	                 0);
	/* One that is due waits for its slack; one without slack takes it along. */
	assert_int_equal(rouse_timer_add(env->loop, now, 0, ROUSE_NEVER, count_timer, &runs, NULL),
	                 0);
	ENV_UNTIL(env, runs == 2);
	env_drain(env);
	assert_int_equal(never, 0);
	assert_int_equal(rouse_timer_set(env->loop, source, 0, ROUSE_NEVER, ROUSE_NEVER), 0);
	assert_int_equal(rouse_timer_set(env->loop, late, 0, 0, 0), 0);
	ENV_UNTIL(env, never == 1);
	assert_int_equal(runs, 3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(t1_an_earlier_timer_shortens_the_wait),
	        env_test(t1_removing_the_earliest_fires_nothing_early),
	        env_test(t2_a_timer_rearmed_to_now_runs_once_a_turn),
	        env_test(t4_a_timer_cancelled_by_a_sibling_does_not_run),
	        env_test(t5_many_timers_fire_by_deadline_then_by_insertion),
	        env_test(t8_ends_of_the_range_saturate),
	};

	return env_main(argc, argv, "timers", tests, sizeof tests / sizeof *tests);
}
