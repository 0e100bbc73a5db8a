/*
 * The doorbell's write fails for good: that is said and counted, nothing is lost, and what was
 * queued is the loop's.
 *
 * The doorbell is replaced by a pipe's reading end: a write to it is refused, and it is never
 * readable, so that a wait ends for another reason or not at all.
 */
#include "env.h"

#include "core/fault.h"
#include "core/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define MS ((rouse_ns)1000000)

/* @return the pipe's other end, to be kept open. */
static int break_doorbell(struct env *env)
{
	int ends[2], bell = env->loop->remote->doorbell;

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(dup3(ends[0], bell, O_CLOEXEC), bell);
	close(ends[0]);
	return ends[1];
}

static uint64_t failed(struct env *env)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_loop_stats(env->loop, &stats), 0);
	return stats.wakes_failed;
}

/* Producers ring only for a loop that sleeps.  A guest's always does. */
static void fall_asleep(struct env *env)
{
	env_drain(env);
	if (env->host == UNHOSTED)
		assert_true(rouse__remote_doze(env->loop->remote));
}

/* ---- Each call, of another thread, while the loop goes to sleep --------------------------------
 */

struct caller {
	rouse_waker *waker;
	rouse_remote *remote;
	rouse_task task;
	int runs, cancels, stops;

	const struct row *row;
	int called, result, unharmed;
	atomic_int returned;
	pthread_t thread;
};

struct row {
	int (*call)(struct caller *c);
	int result;
	int signal_safe;
};

static void run(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct caller *)data)->runs++;
}

static void cancel(void *data)
{
	((struct caller *)data)->cancels++;
}

static struct caller *of_task(rouse_task *task)
{
	return ROUSE__CONTAINER(task, struct caller, task);
}

static void run_task(rouse_loop *loop, rouse_task *task)
{
	run(loop, of_task(task));
}

static void cancel_task(rouse_task *task)
{
	cancel(of_task(task));
}

static int wake(struct caller *c)
{
	return rouse_wake(c->waker);
}

static int post(struct caller *c)
{
	return rouse_post(c->remote, run, c, cancel);
}

static int post_task(struct caller *c)
{
	return rouse_post_task(c->remote, &c->task);
}

static int call(struct caller *c)
{
	return rouse_call(c->remote, run, c);
}

static int stop(struct caller *c)
{
	return rouse_remote_stop(c->remote);
}

static const struct row rows[] = {
        {wake, ROUSE_EOS, 1}, {post, 1, 0}, {post_task, 1, 1}, {stop, 1, 1}, {call, 0, 0},
};

static void caller_init(struct env *env, struct caller *c)
{
	*c = (struct caller){.task = {.run = run_task, .cancel = cancel_task}};
	assert_int_equal(rouse_waker_create(env->loop, run, c, &c->waker), 0);
	c->remote = rouse_loop_remote(env->loop);
}

static void caller_end(struct caller *c)
{
	rouse_waker_unref(c->waker);
	rouse_remote_unref(c->remote);
}

static void *make_call(void *data)
{
	struct caller *c = data;

	errno = EDOM;
	c->result = c->row->call(c);
	c->unharmed = errno == EDOM && rouse_os_error() == 0;
	atomic_store(&c->returned, 1);
	return NULL;
}

/* The call is made between the loop's mark and its wait.  rouse_call() returns later, when it has
 * run; that it has failed to ring is seen in the count. */
static void call_once(enum rouse__point point, void *data)
{
	struct env *env = ((void **)data)[0];
	struct caller *c = ((void **)data)[1];
	uint64_t before;

	if (point != ROUSE__MARKED_ASLEEP || c->called)
		return;
	c->called = 1;
	before = failed(env);
	c->thread = env_start(make_call, c);
	while (!atomic_load(&c->returned) && failed(env) == before)
		sched_yield();
}

static void w11_each_call_says_that_the_doorbell_failed(void **state)
{
	struct env *env = *state;
	int peer = break_doorbell(env);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct caller c;
		void *both[] = {env, &c};
		uint64_t before = failed(env);
		int fired = 0;

		caller_init(env, &c);
		c.row = &rows[i];
		env_drain(env);
		/* Whatever ends the next wait, here a timer. */
		assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop) + 5 * MS, 0,
		                                 0, count_timer, &fired, NULL),
		                 0);
		rouse__fault_pause(call_once, both);
		ENV_UNTIL(env, fired);
		rouse__fault_pause(NULL, NULL);
		env_join(c.thread);
		env_drain(env);
		assert_int_equal(c.result, rows[i].result);
		assert_int_equal(failed(env), before + 1);
		assert_int_equal(rouse_loop_take_stop(env->loop), rows[i].call == stop);
		assert_int_equal(c.runs, rows[i].call != stop);
		assert_int_equal(c.cancels, 0);
		if (rows[i].signal_safe)
			assert_true(c.unharmed);
		/* And it can be said again. */
		if (rows[i].call != call) {
			fall_asleep(env);
			assert_int_equal(rows[i].call(&c), rows[i].result);
			env_drain(env);
			assert_int_equal(rouse_loop_take_stop(env->loop), rows[i].call == stop);
			assert_int_equal(c.runs, 2 * (rows[i].call != stop));
		}
		caller_end(&c);
	}
	close(peer);
}

/* ---- Whose the item is -------------------------------------------------------------------------
 */

static void w11_what_was_queued_is_the_loops(void **state)
{
	struct env *env = *state;
	int peer = break_doorbell(env);
	struct caller c;

	caller_init(env, &c);
	fall_asleep(env);
	assert_int_equal(post_task(&c), 1);
	assert_int_equal(post_task(&c), ROUSE_EEXIST);
	env_drain(env);
	assert_int_equal(c.runs, 1);
	/* A post's node is not given to the next post while it is queued. */
	fall_asleep(env);
	assert_int_equal(post(&c), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(post(&c), 0);
	env_drain(env);
	assert_int_equal(c.runs, 5);
	assert_int_equal(c.cancels, 0);
	assert_int_equal(post_task(&c), env->host == UNHOSTED ? 0 : 1);
	env_drain(env);
	assert_int_equal(c.runs, 6);
	caller_end(&c);
	close(peer);
}

/* Destroying the loop ends no wait, but it is what comes next to many a loop that hears nothing. */
static void w11_destroying_the_loop_cancels_what_was_queued_once(void **state)
{
	static int (*const first[])(struct caller *) = {wake, post, post_task, stop};
	struct env *env = *state;

	for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
		int peer = break_doorbell(env);
		struct caller c;

		caller_init(env, &c);
		fall_asleep(env);
		assert_int_equal(first[i](&c), first[i] == wake ? ROUSE_EOS : 1);
		assert_int_equal(post(&c), 0);
		env_close(env);
		assert_int_equal(c.runs, 0);
		assert_int_equal(c.cancels, first[i] == post || first[i] == post_task ? 2 : 1);
		for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
			if (rows[k].call != call)
				assert_int_equal(rows[k].call(&c), ROUSE_ECLOSED);
		assert_in_range(c.cancels, 1, 2);
		caller_end(&c);
		close(peer);
		env_open(env, 0);
	}
}

/* What a turn left over needs no doorbell where the loop, or its host, asks before it waits. */
static void w11_work_left_over_is_not_left_alone(void **state)
{
	struct env *env = *state;
	struct caller c;
	int peer;

	env_close(env);
	env_open(env, 4);
	peer = break_doorbell(env);
	caller_init(env, &c);
	fall_asleep(env);
	assert_int_equal(post(&c), 1);
	for (int i = 1; i < 30; i++)
		assert_int_equal(post(&c), 0);
	assert_int_equal(env_turn(env, 0), 4);
	ENV_UNTIL(env, c.runs == 30);
	caller_end(&c);
	close(peer);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(w11_each_call_says_that_the_doorbell_failed),
	        env_test(w11_what_was_queued_is_the_loops),
	        env_test(w11_destroying_the_loop_cancels_what_was_queued_once),
	        env_test(w11_work_left_over_is_not_left_alone),
	};

	return env_main(argc, argv, "doorbell", tests, sizeof tests / sizeof *tests);
}
