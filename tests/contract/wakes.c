/* Wakes: none lost, none late, few sent. */
#include "env.h"

#include "core/doorbell.h"
#include "core/fault.h"
#include "core/loop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static rouse_waker *waker_for(struct env *env, rouse_wake_fn fn, void *data)
{
	rouse_waker *waker;

	assert_int_equal(rouse_waker_create(env->loop, fn, data, &waker), 0);
	return waker;
}

/* ---- W1 ---------------------------------------------------------------------------- */

struct slot {
	rouse_waker *waker;
	atomic_uint written;
	unsigned rounds, seen;
};

static void *write_and_wake(void *data)
{
	struct slot *slot = data;

	for (unsigned i = 1; i <= slot->rounds; i++) {
		atomic_store_explicit(&slot->written, i, memory_order_relaxed);
		if (rouse_wake(slot->waker) < 0)
			return slot;
	}
	return NULL;
}

static void read_slot(rouse_loop *loop, void *data)
{
	struct slot *slot = data;

	(void)loop;
	slot->seen = atomic_load_explicit(&slot->written, memory_order_relaxed);
}

static void w1_last_value_of_each_slot_is_seen(void **state)
{
	struct env *env = *state;
	struct slot slots[4] = {0};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		slots[i].rounds = scaled(250000);
		slots[i].waker = waker_for(env, read_slot, &slots[i]);
	}
	for (int i = 0; i < 4; i++)
		threads[i] = env_start(write_and_wake, &slots[i]);
	for (int i = 0; i < 4; i++)
		ENV_UNTIL(env, slots[i].seen == slots[i].rounds);
	for (int i = 0; i < 4; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
		rouse_waker_unref(slots[i].waker);
	}
}

/* ---- W4, W5, W6 --------------------------------------------------------------------- */

static void w4_wake_before_the_loop_ever_ran(void **state)
{
	struct env *env = *state;
	int runs = 0;
	rouse_waker *waker = waker_for(env, count_run, &runs);

	assert_true(rouse_wake(waker) >= 0);
	assert_int_equal(env_turn(env, ROUSE_NEVER), 1);
	assert_int_equal(runs, 1);
	assert_int_equal(env_drain(env), 0);
	rouse_waker_unref(waker);
}

static void w5_one_wake_is_one_delivery(void **state)
{
	struct env *env = *state;
	int runs = 0;
	rouse_waker *waker = waker_for(env, count_run, &runs);

	for (int i = 1; i <= 100; i++) {
		assert_true(rouse_wake(waker) >= 0);
		assert_int_equal(rouse_wake(waker), 0);
		env_turn(env, 0);
		env_turn(env, 1000000);
		assert_int_equal(runs, i);
	}
	rouse_waker_unref(waker);
}

struct rewake {
	rouse_waker *waker;
	int runs;
};

static void wake_once_more(rouse_loop *loop, void *data)
{
	struct rewake *r = data;

	(void)loop;
	if (r->runs++ == 0)
		assert_true(rouse_wake(r->waker) >= 0);
}

static void w6_wake_inside_its_callback_is_one_more_run_later(void **state)
{
	struct env *env = *state;
	struct rewake r = {0};

	r.waker = waker_for(env, wake_once_more, &r);
	assert_true(rouse_wake(r.waker) >= 0);
	assert_int_equal(env_turn(env, ROUSE_NEVER), 1);
	assert_int_equal(r.runs, 1);
	ENV_UNTIL(env, r.runs == 2);
	assert_int_equal(env_drain(env), 0);
	rouse_waker_unref(r.waker);
}

static void null_callback_just_ends_the_wait(void **state)
{
	struct env *env = *state;
	rouse_waker *waker = waker_for(env, NULL, NULL);

	assert_true(rouse_wake(waker) >= 0);
	assert_int_equal(env_turn(env, ROUSE_NEVER), 0);
	assert_int_equal(rouse_waker_close(waker), 0);
	assert_int_equal(rouse_wake(waker), ROUSE_ECLOSED);
	rouse_waker_unref(waker);
}

/* ---- W7: each call of another thread ends a wait that has no deadline ----------------- */

struct across {
	rouse_waker *waker;
	rouse_remote *remote;
	rouse_task task;
	atomic_int called;
	int result;
	void (*call)(struct across *a);
};

static struct across *across_of_task(rouse_task *task)
{
	return ROUSE__CONTAINER(task, struct across, task);
}

static void called(rouse_loop *loop, void *data)
{
	(void)loop;
	atomic_store(&((struct across *)data)->called, 1);
}

static void task_called(rouse_loop *loop, rouse_task *task)
{
	called(loop, across_of_task(task));
}

static void call_wake(struct across *a)
{
	a->result = rouse_wake(a->waker);
}

static void call_post(struct across *a)
{
	a->result = rouse_post(a->remote, called, a, NULL);
}

static void call_post_task(struct across *a)
{
	a->task = (rouse_task){.run = task_called};
	a->result = rouse_post_task(a->remote, &a->task);
}

static void call_call(struct across *a)
{
	a->result = rouse_call(a->remote, called, a);
}

static void call_stop(struct across *a)
{
	a->result = rouse_remote_stop(a->remote);
}

static atomic_int asleep;

static void note_sleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP)
		atomic_store(&asleep, 1);
}

static void *when_asleep(void *data)
{
	struct across *a = data;

	while (!atomic_load(&asleep))
		sched_yield();
	a->call(a);
	return NULL;
}

static void w7_every_call_ends_a_wait_without_deadline(void **state)
{
	static void (*const calls[])(struct across *) = {call_wake, call_post, call_post_task,
	                                                 call_call, call_stop};
	struct env *env = *state;

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		struct across a = {.call = calls[i]};
		pthread_t thread;

		a.waker = waker_for(env, called, &a);
		a.remote = rouse_loop_remote(env->loop);
		atomic_store(&asleep, 0);
		rouse__fault_pause(note_sleep, NULL);
		thread = env_start(when_asleep, &a);
		ENV_UNTIL(env, atomic_load(&a.called) || rouse_loop_take_stop(env->loop));
		rouse__fault_pause(NULL, NULL);
		pthread_join(thread, NULL);
		assert_true(a.result >= 0);
		assert_int_equal(atomic_load(&a.called), a.call != call_stop);
		rouse_waker_unref(a.waker);
		rouse_remote_unref(a.remote);
	}
}

/* ---- W8, W9, W10 ---------------------------------------------------------------------- */

struct flood {
	rouse_waker *waker;
	rouse_remote *remote;
	unsigned rounds;
	int runs;
	pthread_t thread;
	void *(*flood)(void *);
};

static void *flood_wakes(void *data)
{
	struct flood *f = data;

	for (unsigned i = 0; i < f->rounds; i++)
		if (rouse_wake(f->waker) < 0)
			return f;
	return NULL;
}

static void count_flood(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct flood *)data)->runs++;
}

static void *flood_posts(void *data)
{
	struct flood *f = data;

	for (unsigned i = 0; i < f->rounds; i++)
		if (rouse_post(f->remote, count_flood, f, NULL) < 0)
			return f;
	return NULL;
}

static void busy_while_flooded(rouse_loop *loop, void *data)
{
	struct flood *f = data;
	pthread_t thread;
	void *failed;

	(void)loop;
	if (f->runs++ > 0)
		return;
	thread = env_start(f->flood, f);
	pthread_join(thread, &failed);
	assert_null(failed);
}

static void w8_a_million_wakes_of_a_busy_loop_are_few_callbacks(void **state)
{
	struct env *env = *state;
	struct flood f = {.rounds = scaled(1000000), .flood = flood_wakes};
	unsigned rings;

	f.waker = waker_for(env, busy_while_flooded, &f);
	env_drain(env);
	rouse__fault_reset();
	assert_true(rouse_wake(f.waker) >= 0);
	ENV_UNTIL(env, f.runs > 0);
	env_drain(env);
	rings = rouse__fault_count(ROUSE__RING);
	assert_in_range(f.runs, 2, 3);
	assert_in_range(rings, 0, env->host == UNHOSTED ? 0 : 4 + 3 * env_own_rings(env));
	rouse_waker_unref(f.waker);
}

static void w9_posts_to_a_busy_loop_ring_at_most_once(void **state)
{
	struct env *env = *state;
	struct flood f = {.rounds = 1000, .flood = flood_posts};
	rouse_waker *waker = waker_for(env, busy_while_flooded, &f);

	f.remote = rouse_loop_remote(env->loop);
	env_drain(env);
	assert_true(rouse_wake(waker) >= 0);
	rouse__fault_reset();
	env_turn(env, ROUSE_NEVER);
	assert_in_range(rouse__fault_count(ROUSE__RING), 0,
	                env->host == UNHOSTED ? 0 : 1 + env_own_rings(env));
	ENV_UNTIL(env, f.runs == 1001);
	rouse_waker_unref(waker);
	rouse_remote_unref(f.remote);
}

#ifndef _WIN32 /* where the doorbell counts nothing that could be full */
static void *wake_when_asleep(void *data)
{
	while (!atomic_load(&asleep))
		sched_yield();
	return rouse_wake(data) < 0 ? data : NULL;
}

static void w10_a_full_doorbell_still_wakes(void **state)
{
	struct env *env = *state;
	const uint64_t full = UINT64_MAX - 1;
	int runs = 0;
	rouse_waker *waker = waker_for(env, count_run, &runs);
	pthread_t thread;
	void *failed;

	env_drain(env);
	rouse__doorbell_absorb(env->loop->remote->doorbell);
	assert_int_equal(write(env->loop->remote->doorbell, &full, sizeof full), sizeof full);
	/* The edge of that write is used up here, where edges are what counts. */
	env_drain(env);
	atomic_store(&asleep, 0);
	rouse__fault_pause(note_sleep, NULL);
	thread = env_start(wake_when_asleep, waker);
	ENV_UNTIL(env, runs == 1);
	pthread_join(thread, &failed);
	assert_null(failed);
	rouse_waker_unref(waker);
}
#endif

static void w10_wakes_of_a_loop_that_never_runs_return(void **state)
{
	struct env *env = *state;
	struct flood f = {.rounds = 200000, .waker = waker_for(env, count_flood, &f)};

	assert_null(flood_wakes(&f));
	assert_int_equal(f.runs, 0);
	rouse_waker_unref(f.waker);
}

/* ---- A producer that is cancelled ---------------------------------------------------------- */

static void *wake_while_cancelled(void *data)
{
	/* Acted on at the next point of cancellation: there must be none before the ring. */
	pthread_cancel(pthread_self());
	(void)rouse_wake(data);
	pthread_testcancel();
	return NULL;
}

static void a_cancelled_thread_still_rings(void **state)
{
	struct env *env = *state;
	int runs = 0;
	rouse_waker *waker = waker_for(env, count_run, &runs);
	void *result;
	pthread_t thread;

	env_drain(env);
	/* Asleep as far as producers know. */
	if (env->host == UNHOSTED)
		assert_true(rouse__remote_doze(env->loop->remote));
	thread = env_start(wake_while_cancelled, waker);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	rouse__fault_reset();
	if (env->host == UNHOSTED)
		assert_int_equal(rouse__look(env->loop, ROUSE_NEVER), 0);
	ENV_UNTIL(env, runs == 1);
	rouse_waker_unref(waker);
}

/* ---- W21 -------------------------------------------------------------------------------- */

/* What a host does instead of rouse_loop_run(). */
static void run(struct env *env)
{
	if (env->host == UNHOSTED) {
		assert_int_equal(rouse_loop_run(env->loop), 0);
		return;
	}
	assert_int_equal(rouse_loop_run(env->loop), ROUSE_EBUSY);
	ENV_UNTIL(env, rouse_loop_take_stop(env->loop));
}

static void w21_stop_is_used_up_by_one_run(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	struct across a = {.remote = remote, .call = call_stop};
	pthread_t thread;

	assert_int_equal(rouse_loop_stop(env->loop), 0);
	run(env);
	assert_true(rouse_remote_stop(remote) >= 0);
	run(env);
	assert_int_equal(rouse_loop_take_stop(env->loop), 0);
	atomic_store(&asleep, 0);
	rouse__fault_pause(note_sleep, NULL);
	thread = env_start(when_asleep, &a);
	run(env);
	assert_int_equal(atomic_load(&asleep), 1);
	env_join(thread);
	assert_true(a.result >= 0);
	rouse_remote_unref(remote);
}

static rouse_ns stop_once(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	int *stops = data;

	(void)self;
	(void)flags;
	if (*stops > 0) {
		--*stops;
		assert_int_equal(rouse_loop_stop(loop), 0);
	}
	return ROUSE_NEVER;
}

static void w21_a_stop_in_a_prepare_ends_its_run(void **state)
{
	struct env *env = *state;
	int stops = 0, fired = 0, turns;
	rouse_ns deadline;
	rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .prepare = stop_once};

	assert_int_equal(rouse_hook_add(env->loop, &hook, &stops, NULL), 0);
	env_drain(env);
	stops = 1;
	/* Nothing else would end the wait.  A descriptor's host prepares when it has touched it. */
	if (env->host == DESCRIPTOR) {
		assert_int_equal(rouse_loop_prepare(env->loop, 0, NULL), 0);
		env_turn(env, ROUSE_NEVER);
	}
	run(env);
	assert_int_equal(stops, 0);
	assert_int_equal(rouse_loop_take_stop(env->loop), 0);
	/* One that nobody uses is no reason not to wait. */
	assert_int_equal(rouse_loop_stop(env->loop), 0);
	deadline = rouse_loop_now(env->loop) + 20000000;
	assert_int_equal(rouse_timer_add(env->loop, deadline, 0, 0, count_timer, &fired, NULL), 0);
	/* A host that counts in milliseconds looks again and again in the last one. */
	for (turns = 0; rouse_loop_now(env->loop) + 2000000 < deadline; turns++)
		env_turn(env, ROUSE_NEVER);
	/* A wait may end early, for a ring that came late. */
	assert_true(turns <= 4);
	ENV_UNTIL(env, fired);
	assert_int_equal(rouse_loop_take_stop(env->loop), 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(w1_last_value_of_each_slot_is_seen),
	        env_test(w4_wake_before_the_loop_ever_ran),
	        env_test(w5_one_wake_is_one_delivery),
	        env_test(w6_wake_inside_its_callback_is_one_more_run_later),
	        env_test(null_callback_just_ends_the_wait),
	        env_test(w7_every_call_ends_a_wait_without_deadline),
	        env_test(w8_a_million_wakes_of_a_busy_loop_are_few_callbacks),
	        env_test(w9_posts_to_a_busy_loop_ring_at_most_once),
#ifndef _WIN32
	        env_test(w10_a_full_doorbell_still_wakes),
#endif
	        env_test(w10_wakes_of_a_loop_that_never_runs_return),
	        env_test(a_cancelled_thread_still_rings),
	        env_test(w21_stop_is_used_up_by_one_run),
	        env_test(w21_a_stop_in_a_prepare_ends_its_run),
	};

	return env_main(argc, argv, "wakes", tests, sizeof tests / sizeof *tests);
}
