/* Forks in callbacks, and of children that forked. */
#include "inherited.h"

#include "core/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- F10: in a callback ------------------------------------------------------------- */

static pid_t child;

static void fork_now(struct env *env)
{
	if (child >= 0)
		return;
	child = forked();
	if (child > 0)
		return;
	assert_int_equal(rouse_loop_turn(env->loop, 0), ROUSE_EFORKED);
	assert_int_equal(rouse_loop_after_fork(env->loop), 0);
}

static void fork_in_post(rouse_loop *loop, void *data)
{
	(void)loop;
	fork_now(data);
}

static void fork_in_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	fork_now(data);
}

static void fork_in_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                       void *data)
{
	(void)fd;
	(void)events;
	fork_now(data);
	assert_int_equal(rouse_remove(loop, self), 0);
}

static void fork_in_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)signo;
	fork_now(data);
	assert_int_equal(rouse_remove(loop, self), 0);
}

static int fork_in_hook(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)budget;
	fork_now(data);
	assert_int_equal(rouse_remove(loop, self), 0);
	return 1;
}

enum place { POST, WAKE, TIMER, FD, SIGNAL, HOOK, PLACES };

static void arrange(struct env *env, enum place place, struct channel *channel,
                    rouse_waker **ret_waker)
{
	rouse_hook hook = {.size = sizeof hook, .events = ROUSE_READABLE, .dispatch = fork_in_hook};
	rouse_loop *loop = env->loop;

	if (place == FD || place == HOOK) {
		channel_open(env, channel);
		channel_fill(env, channel);
	}
	switch (place) {
	case POST:
		assert_int_equal(rouse_post(e.remote, fork_in_post, env, NULL), 0);
		break;
	case WAKE:
		assert_int_equal(rouse_waker_create(loop, fork_in_post, env, ret_waker), 0);
		assert_true(rouse_wake(*ret_waker) >= 0);
		break;
	case TIMER:
		assert_int_equal(
		        rouse_timer_add(loop, rouse_loop_now(loop), 0, 0, fork_in_timer, env, NULL),
		        0);
		break;
	case FD:
		assert_int_equal(
		        rouse_fd_add(loop, channel->fd, ROUSE_READABLE, fork_in_fd, env, NULL), 0);
		break;
	case SIGNAL:
		assert_int_equal(rouse_signal_add(loop, SIGUSR2, fork_in_signal, env, NULL), 0);
		raise(SIGUSR2);
		break;
	default:
		hook.fd = channel->fd;
		assert_int_equal(rouse_hook_add(loop, &hook, env, NULL), 0);
	}
}

static void f10_repaired_in_a_callback(void **state)
{
	struct env *env = *state;

	for (int place = 0; place < PLACES; place++) {
		struct channel channel = {.fd = -1};
		rouse_waker *waker = NULL;
		int after = 0;

		build(env);
		child = -1;
		arrange(env, (enum place)place, &channel, &waker);
		while (child < 0)
			env_turn(env, ROUSE_NEVER);
		/* They share the pipe: one after the other. */
		if (child == 0)
			forked_rehost(env);
		else
			forked_wait(child);
		assert_int_equal(rouse_post(e.remote, count_run, &after, NULL), 0);
		ENV_UNTIL(env, after);
		assert_everything_works();
		if (child == 0)
			forked_passed();
		rouse_waker_unref(waker);
		if (channel.fd >= 0)
			channel_close(env, &channel);
		finish();
	}
}

static int answers[3];

static void repair_in_pass(rouse_loop *loop, int index)
{
	pid_t pid;

	if (answers[index])
		return;
	pid = forked();
	if (pid == 0) {
		assert_int_equal(rouse_loop_after_fork(loop), ROUSE_EBUSY);
		forked_passed();
	}
	forked_wait(pid);
	answers[index] = 1;
}

static rouse_ns repair_in_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)self;
	(void)flags;
	(void)data;
	repair_in_pass(loop, 0);
	return ROUSE_NEVER;
}

static int repair_in_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)self;
	(void)ready;
	(void)data;
	repair_in_pass(loop, 1);
	return 0;
}

static void repair_in_release(rouse_loop *loop, void *data)
{
	(void)data;
	repair_in_pass(loop, 2);
}

static void f10_not_in_a_hooks_passes(void **state)
{
	const rouse_hook hook = {.size = sizeof hook,
	                         .fd = ROUSE_NO_FD,
	                         .prepare = repair_in_prepare,
	                         .check = repair_in_check,
	                         .release = repair_in_release};
	struct env *env = *state;
	rouse_source source;

	memset(answers, 0, sizeof answers);
	assert_int_equal(rouse_hook_add(env->loop, &hook, NULL, &source), 0);
	env_turn(env, 0);
	env_turn(env, 0);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	/* A guest's turn without a wait need not prepare. */
	assert_true(answers[0] || env->host == DESCRIPTOR);
	assert_int_equal(answers[1], 1);
	assert_int_equal(answers[2], 1);
}

/* ---- F10: a child that goes on in the pass it was forked in -------------------------------- */

static rouse_waker *twice;
static int nested;

/* In the child it returns as in the parent: what is left of the turn must not ring. */
static void fork_and_go_on(void)
{
	child = forked();
	if (child == 0)
		rouse__fault_reset();
}

static void expect_no_ring_in_the_child(struct env *env)
{
	if (child > 0) {
		forked_wait(child);
		return;
	}
	assert_int_equal(rouse__fault_count(ROUSE__RING), 0);
	assert_int_equal(rouse_loop_turn(env->loop, 0), ROUSE_EFORKED);
	forked_passed();
}

static void wake_itself_in_a_nested_turn(rouse_loop *loop, void *data)
{
	(void)data;
	if (nested++)
		return;
	assert_true(rouse_wake(twice) >= 0);
	/* It takes the node, and puts it off until this callback returns. */
	assert_true(rouse_loop_turn(loop, 0) >= 0);
	fork_and_go_on();
}

static void f10_a_waker_woken_in_its_own_callback(void **state)
{
	struct env *env = *state;

	nested = 0;
	child = -1;
	assert_int_equal(rouse_waker_create(env->loop, wake_itself_in_a_nested_turn, NULL, &twice),
	                 0);
	assert_true(rouse_wake(twice) >= 0);
	while (child < 0)
		(void)rouse_loop_turn(env->loop, 0);
	expect_no_ring_in_the_child(env);
	ENV_UNTIL(env, nested == 2);
	rouse_waker_unref(twice);
}

static int fork_in_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)loop;
	(void)self;
	(void)ready;
	(void)data;
	if (child < 0)
		fork_and_go_on();
	return 1;
}

static void f10_a_check_that_says_work(void **state)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .check = fork_in_check};
	struct env *env = *state;

	child = 0;
	assert_int_equal(rouse_hook_add(env->loop, &hook, NULL, NULL), 0);
	env_turn(env, 0);
	child = -1;
	while (child < 0)
		(void)rouse_loop_turn(env->loop, 0);
	expect_no_ring_in_the_child(env);
}

/* ---- F10: generations --------------------------------------------------------------- */

static void grandchild(void *data)
{
	assert_all_refused(ROUSE_EFORKED);
	forked_repair(e.env);
	assert_everything_works();
	(void)data;
}

static void repaired_parent(void *data)
{
	forked_repair(e.env);
	in_child(grandchild, data);
	assert_everything_works();
}

static void unrepaired_parent(void *data)
{
	in_child(grandchild, data);
	assert_all_refused(ROUSE_EFORKED);
}

static void f10_grandchildren(void **state)
{
	build(*state);
	in_child(repaired_parent, NULL);
	in_child(unrepaired_parent, NULL);
	assert_everything_works();
	finish();
}

static void own_loop(void *data)
{
	struct env own;
	struct everything inherited = e;
	struct sigaction now;
	rouse_source source;
	int signals = 0;

	(void)data;
	env_open(&own, 0);
	raise(SIGUSR1);
	/* The inherited loop is only memory: its signal is free. */
	assert_int_equal(rouse_signal_add(own.loop, SIGUSR1, ignore_signal, &signals, &source), 0);
	raise(SIGUSR1);
	ENV_UNTIL(&own, signals);
	assert_int_equal(rouse_remove(own.loop, source), 0);
	/* What was there before the parent's source. */
	assert_int_equal(sigaction(SIGUSR1, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, SIG_DFL);
	build(&own);
	assert_everything_works();
	finish();
	env_close(&own);
	e = inherited;
	assert_all_refused(ROUSE_EFORKED);
}

static void f10_a_child_makes_a_loop_of_its_own(void **state)
{
	build(*state);
	assert_untouched(*state, own_loop);
	finish();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f10_repaired_in_a_callback),
	        env_test(f10_not_in_a_hooks_passes),
	        env_test_in(f10_a_waker_woken_in_its_own_callback, DESCRIPTOR | BRACKET),
	        env_test_in(f10_a_check_that_says_work, DESCRIPTOR),
	        env_test(f10_grandchildren),
	        env_test(f10_a_child_makes_a_loop_of_its_own),
	};

	return env_main(argc, argv, "fork_passes", tests, sizeof tests / sizeof *tests);
}
