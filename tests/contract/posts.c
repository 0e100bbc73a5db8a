/* Posted work: all of it, in order, once. */
#include "env.h"

#include "base/list.h"
#include "core/fault.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- Q1 ------------------------------------------------------------------------------ */

enum { PRODUCERS = 8 };

struct producer {
	rouse_remote *remote;
	unsigned count, ran, out_of_order, wrong_thread;
	pthread_t loops_thread;
};

struct numbered {
	rouse_task task;
	struct producer *producer;
	unsigned number;
};

static void run_numbered(rouse_loop *loop, rouse_task *task)
{
	struct numbered *n = ROUSE__CONTAINER(task, struct numbered, task);
	struct producer *p = n->producer;

	(void)loop;
	p->out_of_order += n->number != p->ran;
	p->wrong_thread += !pthread_equal(pthread_self(), p->loops_thread);
	p->ran++;
	free(n);
}

/* Turn by turn with the caller's node and with the library's: one order for both. */
static void run_posted(rouse_loop *loop, void *data)
{
	run_numbered(loop, &((struct numbered *)data)->task);
}

static void *produce(void *data)
{
	struct producer *p = data;

	for (unsigned i = 0; i < p->count; i++) {
		struct numbered *n = malloc(sizeof *n);

		if (!n)
			return p;
		*n = (struct numbered){.task.run = run_numbered, .producer = p, .number = i};
		if (i % 2 ? rouse_post(p->remote, run_posted, n, NULL)
		          : rouse_post_task(p->remote, &n->task))
			return p;
	}
	return NULL;
}

static void q1_a_million_posts_run_once_in_order(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	struct producer p[PRODUCERS];
	pthread_t threads[PRODUCERS];

	for (int i = 0; i < PRODUCERS; i++) {
		p[i] = (struct producer){.remote = remote,
		                         .count = scaled(1000000) / PRODUCERS,
		                         .loops_thread = pthread_self()};
		threads[i] = env_start(produce, &p[i]);
	}
	/* The first of them are posted before the loop ever ran. */
	env_join(threads[0]);
	for (int i = 0; i < PRODUCERS; i++)
		ENV_UNTIL(env, p[i].ran == p[i].count);
	for (int i = 1; i < PRODUCERS; i++)
		env_join(threads[i]);
	env_drain(env);
	for (int i = 0; i < PRODUCERS; i++) {
		assert_int_equal(p[i].ran, p[i].count);
		assert_int_equal(p[i].out_of_order, 0);
		assert_int_equal(p[i].wrong_thread, 0);
	}
	rouse_remote_unref(remote);
}

/* ---- Q2 ------------------------------------------------------------------------------ */

struct endless {
	rouse_remote *remote;
	unsigned runs;
	int stop, in_turn;
};

static void post_again(rouse_loop *loop, void *data)
{
	struct endless *e = data;

	(void)loop;
	e->runs++;
	e->in_turn++;
	if (!e->stop)
		assert_true(rouse_post(e->remote, post_again, e, NULL) >= 0);
}

static void q2_posting_from_a_callback_starves_nobody(void **state)
{
	struct env *env = *state;
	struct endless e = {.remote = rouse_loop_remote(env->loop)};
	struct channel channel;
	int timer = 0, readable = 0;

	channel_open(env, &channel);
	channel_fill(env, &channel);
	assert_int_equal(
	        rouse_fd_add(env->loop, channel.fd, ROUSE_READABLE, count_fd, &readable, NULL), 0);
	assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop) + 50000000, 0, 0,
	                                 count_timer, &timer, NULL),
	                 0);
	assert_true(rouse_post(e.remote, post_again, &e, NULL) >= 0);
	while (!timer || e.runs < 2) {
		e.in_turn = 0;
		env_turn(env, ROUSE_NEVER);
		assert_in_range(e.in_turn, 0, 1);
		/* The virtual clock stands still as long as there is something to run. */
		if (env->null)
			assert_int_equal(rouse_null_advance(env->loop, 1000000), 0);
	}
	assert_true(readable > 0);
	e.stop = 1;
	channel_empty(env, &channel);
	env_drain(env);
	channel_close(env, &channel);
	rouse_remote_unref(e.remote);
}

/* ---- Q3 ------------------------------------------------------------------------------ */

struct flooder {
	rouse_remote *remote;
	atomic_int stop;
};

static void nothing(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
}

static void *flood(void *data)
{
	struct flooder *f = data;

	while (!atomic_load(&f->stop)) {
		if (rouse_post(f->remote, nothing, NULL, NULL) < 0)
			return f;
	}
	return NULL;
}

static void q3_a_flood_of_posts_lets_descriptors_through(void **state)
{
	struct env *env = *state;
	struct flooder f = {.remote = rouse_loop_remote(env->loop)};
	struct channel channel;
	pthread_t threads[2];
	rouse_stats before = {.size = sizeof before}, after = {.size = sizeof after};
	int readable = 0;

	channel_open(env, &channel);
	channel_fill(env, &channel);
	assert_int_equal(
	        rouse_fd_add(env->loop, channel.fd, ROUSE_READABLE, count_fd, &readable, NULL), 0);
	for (int i = 0; i < 2; i++)
		threads[i] = env_start(flood, &f);
	/* Readable all the time: it is called in every turn, whatever is posted. */
	for (int i = 1; i <= 200; i++) {
		assert_int_equal(rouse_loop_stats(env->loop, &before), 0);
		env_turn(env, ROUSE_NEVER);
		assert_int_equal(rouse_loop_stats(env->loop, &after), 0);
		assert_in_range(after.posts_run - before.posts_run, 0, ROUSE_DEFAULT_BATCH);
		assert_int_equal(readable, i);
	}
	atomic_store(&f.stop, 1);
	for (int i = 0; i < 2; i++)
		env_join(threads[i]);
	channel_empty(env, &channel);
	env_drain(env);
	channel_close(env, &channel);
	rouse_remote_unref(f.remote);
}

/* ---- Q4 ------------------------------------------------------------------------------ */

static void stop(rouse_loop *loop, void *data)
{
	(void)data;
	assert_int_equal(rouse_loop_stop(loop), 0);
}

struct burst {
	rouse_remote *remote;
	int ran;
};

static void post_burst(rouse_loop *loop, void *data)
{
	struct burst *b = data;

	(void)loop;
	for (int i = 0; i < 300; i++)
		assert_true(rouse_post(b->remote, count_run, &b->ran, NULL) >= 0);
	assert_true(rouse_post(b->remote, stop, NULL, NULL) >= 0);
}

static void q4_what_the_budget_leaves_over_runs_without_a_further_wake(void **state)
{
	struct env *env = *state;
	struct burst b = {0};
	int before = 0, stopped = 0;

	env_close(env);
	env_open(env, 128);
	b.remote = rouse_loop_remote(env->loop);
	assert_true(rouse_post(b.remote, post_burst, &b, NULL) >= 0);
	while (!stopped) {
		env_turn(env, ROUSE_NEVER);
		assert_in_range(b.ran - before, 0, 128);
		before = b.ran;
		stopped = rouse_loop_take_stop(env->loop);
	}
	assert_int_equal(b.ran, 300);
	rouse_remote_unref(b.remote);
}

/* ---- Q5 ------------------------------------------------------------------------------ */

struct fate {
	rouse_remote *remote;
	atomic_uint posted;
	unsigned ran, cancelled;
	atomic_int closed;
};

static void fate_run(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct fate *)data)->ran++;
}

static void fate_cancel(void *data)
{
	((struct fate *)data)->cancelled++;
}

static void *post_until_closed(void *data)
{
	struct fate *f = data;
	int result;

	while ((result = rouse_post(f->remote, fate_run, f, fate_cancel)) >= 0) {
		atomic_fetch_add(&f->posted, 1);
		sched_yield();
	}
	atomic_fetch_add(&f->closed, result == ROUSE_ECLOSED);
	return NULL;
}

static void q5_destroy_runs_or_cancels_each_post_once(void **state)
{
	struct env *env = *state;

	for (int round = 0; round < 20; round++) {
		struct fate f = {.remote = rouse_loop_remote(env->loop)};
		pthread_t threads[2];

		for (int i = 0; i < 1000; i++)
			assert_true(rouse_post(f.remote, fate_run, &f, fate_cancel) >= 0);
		atomic_fetch_add(&f.posted, 1000);
		for (int i = 0; i < 2; i++)
			threads[i] = env_start(post_until_closed, &f);
		if (round % 2)
			env_turn(env, ROUSE_NEVER);
		env_close(env);
		for (int i = 0; i < 2; i++)
			env_join(threads[i]);
		assert_int_equal(atomic_load(&f.closed), 2);
		assert_int_equal(f.ran + f.cancelled, atomic_load(&f.posted));
		assert_int_equal(rouse_post(f.remote, fate_run, &f, fate_cancel), ROUSE_ECLOSED);
		rouse_remote_unref(f.remote);
		env_open(env, 0);
	}
}

struct order {
	struct {
		rouse_task task;
		struct order *order;
	} nodes[5];
	int cancelled;
	int sequence[5];
};

static void order_run(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
	fail();
}

static struct order *current;

static void order_cancel(rouse_task *task)
{
	for (int i = 0; i < 5; i++)
		if (task == &current->nodes[i].task)
			current->sequence[current->cancelled++] = i;
}

static void q5_cancels_come_in_the_order_of_the_posts(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	struct order order = {0};

	current = &order;
	for (int i = 0; i < 5; i++) {
		order.nodes[i].task = (rouse_task){.run = order_run, .cancel = order_cancel};
		assert_true(rouse_post_task(remote, &order.nodes[i].task) >= 0);
	}
	assert_int_equal(rouse_post_task(remote, &order.nodes[0].task), ROUSE_EEXIST);
	env_close(env);
	assert_int_equal(order.cancelled, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(order.sequence[i], i);
	rouse_remote_unref(remote);
}

/* ---- Q6 ------------------------------------------------------------------------------ */

struct caller {
	rouse_remote *remote;
	int ran, result, seen;
	atomic_int returned;
	pthread_t thread;
};

static void *call_from_outside(void *data)
{
	struct caller *c = data;

	c->result = rouse_call(c->remote, count_run, &c->ran);
	c->seen = c->ran;
	atomic_store(&c->returned, 1);
	return NULL;
}

static void q6_a_call_has_run_when_it_returns(void **state)
{
	struct env *env = *state;
	struct caller c = {.remote = rouse_loop_remote(env->loop)};
	pthread_t thread = env_start(call_from_outside, &c);

	/* No end of the wait is asked for but by the call itself. */
	ENV_UNTIL(env, c.ran);
	env_join(thread);
	assert_int_equal(c.result, 0);
	assert_int_equal(c.seen, 1);
	rouse_remote_unref(c.remote);
}

static void q6_a_call_on_the_loops_own_thread_runs_inline(void **state)
{
	struct env *env = *state;
	struct caller c = {.remote = rouse_loop_remote(env->loop)};
	int posted = 0;

	assert_true(rouse_post(c.remote, count_run, &posted, NULL) >= 0);
	assert_int_equal(rouse_call(c.remote, count_run, &c.ran), 0);
	assert_int_equal(c.ran, 1);
	assert_int_equal(posted, 0);
	ENV_UNTIL(env, posted == 1);
	rouse_remote_unref(c.remote);
}

static atomic_int published;

static void note_published(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__PUBLISHED)
		atomic_store(&published, 1);
}

static void q6_a_call_of_a_loop_being_destroyed_returns(void **state)
{
	struct env *env = *state;
	struct caller c = {.remote = rouse_loop_remote(env->loop)};
	pthread_t thread;

	atomic_store(&published, 0);
	rouse__fault_pause(note_published, NULL);
	thread = env_start(call_from_outside, &c);
	while (!atomic_load(&published))
		sched_yield();
	env_close(env);
	env_join(thread);
	assert_int_equal(c.result, ROUSE_ECLOSED);
	assert_int_equal(c.ran, 0);
	assert_int_equal(rouse_call(c.remote, count_run, &c.ran), ROUSE_ECLOSED);
	rouse_remote_unref(c.remote);
}

static void slow_answer(rouse_loop *loop, void *data)
{
	struct caller *c = data;

	(void)loop;
	/* It waits for us; its cancellation is pending by now. */
	assert_int_equal(pthread_cancel(c->thread), 0);
	c->ran++;
}

static void *call_and_be_cancelled(void *data)
{
	struct caller *c = data;

	c->thread = pthread_self();
	c->result = rouse_call(c->remote, slow_answer, c);
	atomic_store(&c->returned, 1);
	pthread_testcancel();
	return NULL;
}

static void q6_a_caller_is_not_cancelled_while_its_call_is_queued(void **state)
{
	struct env *env = *state;
	struct caller c = {.remote = rouse_loop_remote(env->loop), .result = -1};
	pthread_t thread = env_start(call_and_be_cancelled, &c);
	void *result;

	ENV_UNTIL(env, c.ran);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(atomic_load(&c.returned), 1);
	assert_int_equal(c.result, 0);
	rouse_remote_unref(c.remote);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(q1_a_million_posts_run_once_in_order),
	        env_test(q2_posting_from_a_callback_starves_nobody),
	        env_test(q3_a_flood_of_posts_lets_descriptors_through),
	        env_test(q4_what_the_budget_leaves_over_runs_without_a_further_wake),
	        env_test(q5_destroy_runs_or_cancels_each_post_once),
	        env_test(q5_cancels_come_in_the_order_of_the_posts),
	        env_test(q6_a_call_has_run_when_it_returns),
	        env_test(q6_a_call_on_the_loops_own_thread_runs_inline),
	        env_test(q6_a_caller_is_not_cancelled_while_its_call_is_queued),
	        env_test(q6_a_call_of_a_loop_being_destroyed_returns),
	};

	return env_main(argc, argv, "posts", tests, sizeof tests / sizeof *tests);
}
