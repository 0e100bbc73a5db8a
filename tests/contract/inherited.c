#include "inherited.h"

#include "core/loop.h"

#include <pthread.h>
#include <signal.h>

struct everything e;

void ignore_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)signo;
	++*(int *)data;
}

static void ignore_child(rouse_loop *loop, rouse_source self, rouse_process process,
                         const rouse_exit *how, void *data)
{
	(void)loop;
	(void)self;
	(void)process;
	(void)how;
	(void)data;
}

static rouse_stats stats_of(struct env *env)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_loop_stats(env->loop, &stats), 0);
	return stats;
}

static int count_hook(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)self;
	(void)budget;
	count_run(loop, data);
	return 1;
}

void cancel_post(void *data)
{
	(void)data;
	e.cancelled++;
}

void build(struct env *env)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .dispatch = count_hook};

	e = (struct everything){.env = env, .remote = rouse_loop_remote(env->loop)};
	if (env->outer >= 0)
		assert_int_equal(rouse_loop_fd(env->loop, &e.guest), 0);
	channel_open(env, &e.channel);
	assert_int_equal(rouse_waker_create(env->loop, count_run, &e.woken, &e.waker), 0);
	assert_int_equal(
	        rouse_fd_add(env->loop, e.channel.fd, ROUSE_READABLE, count_fd, &e.ready, &e.fd),
	        0);
	assert_int_equal(
	        rouse_timer_add(env->loop, ROUSE_NEVER, 0, 0, count_timer, &e.fired, &e.timer), 0);
	assert_int_equal(rouse_hook_add(env->loop, &hook, &e.hooks, &e.hook), 0);
	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, ignore_signal, &e.signals, &e.signal),
	                 0);
	env_drain(env);
}

static void *call_from_thread(void *data)
{
	return rouse_call(e.remote, count_run, data) ? data : NULL;
}

static void *wake_from_thread(void *data)
{
	return rouse_wake(e.waker) < 0 ? data : NULL;
}

void assert_everything_works(void)
{
	struct env *env = e.env;
	struct everything before = e;
	int called = 0;
	pthread_t thread;

	assert_true(rouse_wake(e.waker) >= 0);
	ENV_UNTIL(env, e.woken == before.woken + 1);
	thread = env_start(wake_from_thread, &e);
	ENV_UNTIL(env, e.woken == before.woken + 2);
	env_join(thread);
	assert_int_equal(rouse_post(e.remote, count_run, &e.posted, cancel_post), 0);
	ENV_UNTIL(env, e.posted == before.posted + 1);
	thread = env_start(call_from_thread, &called);
	ENV_UNTIL(env, called);
	env_join(thread);
	assert_int_equal(
	        rouse_timer_set(env->loop, e.timer, rouse_loop_now(env->loop) + 1000000, 0, 0), 0);
	ENV_UNTIL(env, e.fired == before.fired + 1);
	raise(SIGUSR1);
	ENV_UNTIL(env, e.signals == before.signals + 1);
	channel_fill(env, &e.channel);
	ENV_UNTIL(env, e.ready > before.ready);
	channel_empty(env, &e.channel);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(e.woken, before.woken + 2);
	assert_int_equal(e.posted, before.posted + 1);
	assert_int_equal(e.fired, before.fired + 1);
	assert_int_equal(e.signals, before.signals + 1);
	assert_int_equal(e.cancelled, before.cancelled);
}

void finish(void)
{
	rouse_waker_unref(e.waker);
	rouse_remote_unref(e.remote);
	e.waker = NULL;
	e.remote = NULL;
	assert_int_equal(rouse_remove(e.env->loop, e.signal), 0);
	assert_int_equal(rouse_remove(e.env->loop, e.fd), 0);
	channel_close(e.env, &e.channel);
}

struct row {
	const char *name;
	int answer;
};

static void run_task(rouse_loop *loop, rouse_task *ran)
{
	(void)loop;
	(void)ran;
}

void assert_all_refused(int expected)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};
	rouse_stats stats = {.size = sizeof stats};
	rouse_loop *loop = e.env->loop;
	rouse_source out = {42};
	rouse_waker *waker = NULL;
	rouse_ns deadline = 42;
	rouse_fd fd = 42;

	rouse_task task = {.run = run_task};
#define ROW(call)                                                                                  \
	{                                                                                          \
#call, call                                                                        \
	}
	const struct row rows[] = {
	        ROW(rouse_wake(e.waker)),
	        ROW(rouse_post(e.remote, count_run, &e.posted, cancel_post)),
	        ROW(rouse_post_task(e.remote, &task)),
	        ROW(rouse_call(e.remote, count_run, &e.posted)),
	        ROW(rouse_remote_stop(e.remote)),
	        ROW(rouse_remote_stats(e.remote, &stats)),
	        ROW(rouse_loop_run(loop)),
	        ROW(rouse_loop_turn(loop, 0)),
	        ROW(rouse_loop_stop(loop)),
	        ROW(rouse_loop_fd(loop, &fd)),
	        ROW(rouse_loop_prepare(loop, 0, &deadline)),
	        ROW(rouse_loop_prepare(loop, 0, NULL)),
	        ROW(rouse_loop_check(loop, 1)),
	        ROW(rouse_loop_check(loop, 0)),
	        ROW(rouse_loop_dispatch(loop)),
	        ROW(rouse_loop_take_stop(loop)),
	        ROW(rouse_waker_create(loop, count_run, &e.woken, &waker)),
	        ROW(rouse_waker_close(e.waker)),
	        ROW(rouse_cancel_posts(loop, &e.posted)),
	        ROW(rouse_fd_add(loop, 0, ROUSE_READABLE, count_fd, &e.ready, &out)),
	        ROW(rouse_fd_set_events(loop, e.fd, 0)),
	        ROW(rouse_timer_add(loop, 1, 0, 0, count_timer, &e.fired, &out)),
	        ROW(rouse_timer_set(loop, e.timer, 1, 0, 0)),
	        ROW(rouse_signal_add(loop, SIGUSR2, ignore_signal, &e.signals, &out)),
	        ROW(rouse_child_add(loop, 1, ignore_child, NULL, &out)),
	        ROW(rouse_hook_add(loop, &hook, NULL, &out)),
	        ROW(rouse_remove(loop, e.fd)),
	        ROW(rouse_remove(loop, e.signal)),
	        ROW(rouse_loop_stats(loop, &stats)),
	        ROW(rouse_null_script(loop, 0, 3, ROUSE_READABLE)),
	        ROW(rouse_null_advance(loop, 1)),
	        ROW(rouse_loop_destroy(loop)),
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].answer != expected)
			fail_msg("%s: %d", rows[i].name, rows[i].answer);
	/* And nothing was written, begun or counted. */
	assert_true(out.id == 42 && deadline == 42 && fd == 42 && !waker && stats.turns == 0);
	assert_int_equal(task.reserved, 0);
	assert_int_equal(e.posted + e.cancelled, 0);
}

/* As far as producers know, the parent sleeps: whoever queues anything rings. */
static void pretend_to_sleep(struct env *env)
{
	env_drain(env);
	if (env->host == UNHOSTED)
		assert_true(rouse__remote_doze(env->loop->remote));
}

void assert_untouched(struct env *env, void (*fn)(void *data))
{
	rouse_stats before, after;
	const char *descriptors;

	pretend_to_sleep(env);
	before = stats_of(env);
	descriptors = forked_descriptors();
	in_child(fn, NULL);
	after = stats_of(env);
	assert_memory_equal(&after, &before, sizeof after);
	assert_string_equal(forked_descriptors(), descriptors);
	/* Nothing was asked of us. */
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(e.woken + e.posted + e.ready + e.signals + e.cancelled, 0);
	assert_everything_works();
}
