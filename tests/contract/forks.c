/* A forked child and the loop it inherited: refused until repaired, and nothing of the parent's. */
#include "inherited.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static rouse_stats stats_of(struct env *env)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_loop_stats(env->loop, &stats), 0);
	return stats;
}

/* ---- F10: refused until repaired ---------------------------------------------------- */

static void abuse(void *data)
{
	(void)data;
	assert_all_refused(ROUSE_EFORKED);
	raise(SIGUSR1);
	assert_all_refused(ROUSE_EFORKED);
	/* What returns no error does no harm: the last references, too. */
	assert_non_null(rouse_loop_poller(e.env->loop));
	rouse_loop_caps(e.env->loop);
	rouse_loop_now(e.env->loop);
	rouse_remote_unref(rouse_remote_ref(e.remote));
	rouse_waker_unref(rouse_waker_ref(e.waker));
	rouse_waker_unref(e.waker);
	rouse_remote_unref(e.remote);
}

static rouse_task task;

static void run_task(rouse_loop *loop, rouse_task *ran)
{
	(void)loop;
	(void)ran;
}

static void refuse_what_is_queued(void *data)
{
	assert_int_equal(rouse_remote_stop(e.remote), ROUSE_EFORKED);
	assert_int_equal(rouse_post_task(e.remote, &task), ROUSE_EFORKED);
	assert_int_equal(rouse_wake(e.waker), ROUSE_EFORKED);
	(void)data;
}

static void f10_what_is_queued_already_is_refused_too(void **state)
{
	struct env *env = *state;

	build(env);
	task = (rouse_task){.run = run_task};
	assert_int_equal(rouse_post_task(e.remote, &task), 0);
	assert_int_equal(rouse_remote_stop(e.remote), 0);
	assert_true(rouse_wake(e.waker) >= 0);
	in_child(refuse_what_is_queued, NULL);
	ENV_UNTIL(env, e.woken);
	assert_int_equal(rouse_loop_take_stop(env->loop), 1);
	assert_int_equal(env_drain(env), 0);
	finish();
}

static void f10_an_unrepaired_loop_refuses_and_reaches_nothing(void **state)
{
	build(*state);
	assert_untouched(*state, abuse);
	finish();
}

/* ---- F10: repaired ------------------------------------------------------------------ */

static void repair_and_use(void *data)
{
	rouse_source added;
	rouse_fd guest;

	(void)data;
	forked_repair(e.env);
	if (e.env->outer >= 0) {
		assert_int_equal(rouse_loop_fd(e.env->loop, &guest), 0);
		assert_int_equal(guest, e.guest);
	}
	assert_everything_works();
	/* The names are the same, and so is what can be done with them. */
	assert_int_equal(rouse_fd_set_events(e.env->loop, e.fd, 0), 0);
	assert_int_equal(rouse_fd_set_events(e.env->loop, e.fd, ROUSE_READABLE), 0);
	assert_int_equal(rouse_timer_add(e.env->loop, rouse_loop_now(e.env->loop) + 3600000000000,
	                                 0, 0, count_timer, &e.fired, &added),
	                 0);
	assert_int_equal(rouse_remove(e.env->loop, added), 0);
	assert_int_equal(rouse_remove(e.env->loop, e.hook), 0);
	assert_everything_works();
	finish();
	assert_int_equal(rouse_loop_after_fork(e.env->loop), 0);
	env_close(e.env);
}

static void f10_a_repaired_loop_works_and_is_the_childs_own(void **state)
{
	build(*state);
	assert_untouched(*state, repair_and_use);
	finish();
}

static void repair_quietly(void *data)
{
	(void)data;
	forked_repair(e.env);
	assert_int_equal(env_drain(e.env), 0);
	assert_int_equal(e.woken + e.posted + e.ready + e.signals + e.fired, 0);
}

static void f10_repaired_it_has_nothing_to_do(void **state)
{
	build(*state);
	assert_untouched(*state, repair_quietly);
	finish();
}

static void use_the_parents(void *data)
{
	(void)data;
	forked_repair(e.env);
	/* What the child gets it gets alone. */
	assert_true(rouse_wake(e.waker) >= 0);
	assert_int_equal(rouse_post(e.remote, count_run, &e.posted, NULL), 0);
	assert_int_equal(rouse_remote_stop(e.remote), 0);
	raise(SIGUSR1);
	ENV_UNTIL(e.env, e.woken && e.posted && e.signals);
	assert_int_equal(rouse_loop_take_stop(e.env->loop), 1);
	/* Left as it is: the child may end without a word. */
	assert_true(rouse_wake(e.waker) >= 0);
}

static void signal_before_the_repair(void *data)
{
	raise(SIGUSR1);
	assert_int_equal(e.signals, 0);
	forked_repair(e.env);
	ENV_UNTIL(e.env, e.signals);
	assert_int_equal(env_drain(e.env), 0);
	assert_int_equal(e.signals, 1);
	(void)data;
}

static void f10_a_signal_that_came_before_the_repair(void **state)
{
	build(*state);
	assert_untouched(*state, signal_before_the_repair);
	finish();
}

static void f10_a_repaired_loop_left_behind(void **state)
{
	build(*state);
	assert_untouched(*state, use_the_parents);
	finish();
}

static void f10_without_a_fork_nothing_changes(void **state)
{
	struct env *env = *state;
	rouse_stats before, after;
	const char *descriptors;

	build(env);
	before = stats_of(env);
	descriptors = forked_descriptors();
	for (int i = 0; i < 3; i++)
		assert_int_equal(rouse_loop_after_fork(env->loop), 0);
	after = stats_of(env);
	assert_memory_equal(&after, &before, sizeof after);
	assert_string_equal(forked_descriptors(), descriptors);
	assert_int_equal(rouse_loop_after_fork(NULL), ROUSE_EINVAL);
	assert_everything_works();
	finish();
}

/* ---- F10: what was under way -------------------------------------------------------- */

static char order[16];
static int length;

static void note_letter(rouse_loop *loop, void *data)
{
	(void)loop;
	order[length++] = *(const char *)data;
	order[length] = 0;
}

static void serve_what_was_under_way(void *data)
{
	struct env *env = e.env;

	(void)data;
	ENV_UNTIL(env, length == 7 && e.woken && e.signals && e.fired);
	assert_string_equal(order, "abcdefg");
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(length, 7);
	assert_int_equal(e.woken, 1);
	assert_int_equal(e.signals, 1);
	assert_int_equal(e.fired, 1);
	assert_int_equal(rouse_loop_take_stop(env->loop), 1);
}

static void repair_and_serve(void *data)
{
	forked_repair(e.env);
	serve_what_was_under_way(data);
	assert_everything_works();
}

static void repair_and_destroy(void *data)
{
	(void)data;
	assert_int_equal(rouse_post(e.remote, count_run, &e.posted, cancel_post), ROUSE_EFORKED);
	assert_int_equal(rouse_loop_after_fork(e.env->loop), 0);
	assert_int_equal(rouse_post(e.remote, count_run, &e.posted, cancel_post), 0);
	env_close(e.env);
	assert_int_equal(e.cancelled, 1);
	assert_int_equal(length, 1);
	assert_int_equal(rouse_wake(e.waker), ROUSE_ECLOSED);
}

/* A wake, a signal, a stop, a due timer, posts: left over by a turn, and queued. */
static void f10_what_was_under_way_runs_in_both(void **state)
{
	static const char letters[] = "abcdefg";
	struct env *env = *state;

	env_close(env);
	env_open(env, 1);
	build(env);
	length = 0;
	for (int i = 0; i < 4; i++)
		assert_int_equal(
		        rouse_post(e.remote, note_letter, (void *)(uintptr_t)&letters[i], NULL), 0);
	while (env_turn(env, ROUSE_NEVER) == 0)
		;
	assert_string_equal(order, "a");
	for (int i = 4; i < 7; i++)
		assert_int_equal(
		        rouse_post(e.remote, note_letter, (void *)(uintptr_t)&letters[i], NULL), 0);
	assert_int_equal(rouse_timer_set(env->loop, e.timer, rouse_loop_now(env->loop), 0, 0), 0);
	assert_true(rouse_wake(e.waker) >= 0);
	raise(SIGUSR1);
	assert_int_equal(rouse_remote_stop(e.remote), 0);
	in_child(repair_and_destroy, NULL);
	in_child(repair_and_serve, NULL);
	serve_what_was_under_way(NULL);
	assert_everything_works();
	finish();
}

static void stop_once(void *data)
{
	struct env *env = e.env;

	forked_repair(env);
	assert_int_equal(rouse_remote_stop(e.remote), 0);
	ENV_UNTIL(env, rouse_loop_take_stop(env->loop));
	env_drain(env);
	/* Stops coalesce, across the fork too. */
	assert_int_equal(rouse_loop_take_stop(env->loop), 0);
	assert_int_equal(rouse_remote_stop(e.remote), 0);
	ENV_UNTIL(env, rouse_loop_take_stop(env->loop));
	(void)data;
}

/* Queued, or left over by a turn. */
static void f10_a_stop_that_is_under_way_is_one(void **state)
{
	struct env *env = *state;

	for (int left_over = 0; left_over < 2; left_over++) {
		env_close(env);
		env_open(env, 1);
		build(env);
		assert_int_equal(rouse_post(e.remote, count_run, &e.posted, NULL), 0);
		assert_int_equal(rouse_post(e.remote, count_run, &e.posted, NULL), 0);
		assert_int_equal(rouse_remote_stop(e.remote), 0);
		while (left_over && !e.posted)
			env_turn(env, 0);
		in_child(stop_once, NULL);
		ENV_UNTIL(env, rouse_loop_take_stop(env->loop));
		env_drain(env);
		assert_int_equal(rouse_loop_take_stop(env->loop), 0);
		finish();
	}
}

static void wait_for_the_deadline(void *data)
{
	forked_repair(e.env);
	ENV_UNTIL(e.env, e.fired == 1);
	assert_int_equal(env_drain(e.env), 0);
	(void)data;
}

static void have_another_deadline(void *data)
{
	rouse_loop *loop = e.env->loop;

	forked_repair(e.env);
	assert_int_equal(rouse_timer_set(loop, e.timer, rouse_loop_now(loop) + 3600000000000, 0, 0),
	                 0);
	env_drain(e.env);
	assert_int_equal(rouse_timer_set(loop, e.timer, ROUSE_NEVER, 0, 0), 0);
	env_drain(e.env);
	(void)data;
}

/* Told to a host's descriptor before the fork, where there is one. */
static void f10_a_deadline_is_kept_in_both(void **state)
{
	struct env *env = *state;

	build(env);
	assert_int_equal(
	        rouse_timer_set(env->loop, e.timer, rouse_loop_now(env->loop) + 50000000, 0, 0), 0);
	env_turn(env, 0);
	in_child(wait_for_the_deadline, NULL);
	in_child(have_another_deadline, NULL);
	ENV_UNTIL(env, e.fired == 1);
	assert_everything_works();
	finish();
}

static void see_ready(void *data)
{
	(void)data;
	forked_repair(e.env);
	ENV_UNTIL(e.env, e.ready >= 3);
	assert_int_equal(rouse_remove(e.env->loop, e.fd), 0);
	assert_int_equal(env_drain(e.env), 0);
}

static void f10_what_was_ready_is_ready_in_both(void **state)
{
	struct env *env = *state;

	build(env);
	channel_fill(env, &e.channel);
	in_child(see_ready, NULL);
	ENV_UNTIL(env, e.ready >= 3);
	channel_empty(env, &e.channel);
	assert_everything_works();
	finish();
}

/* A child that closed what it does not need, and opened something else. */
static void repair_without_descriptor(void *data)
{
	struct env *env = e.env;
	int file;

	close(e.channel.fd);
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(file, e.channel.fd);
	forked_repair(env);
	for (int i = 0; i < 5; i++)
		env_turn(env, 0);
	assert_in_range(e.ready, 0, 1);
	assert_true(rouse_wake(e.waker) >= 0);
	ENV_UNTIL(env, e.woken);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(rouse_remove(env->loop, e.fd), 0);
	(void)data;
}

static void f10_a_descriptor_that_the_child_closed(void **state)
{
	struct env *env = *state;

	/* poll knows numbers only. */
	if (strcmp(rouse_loop_poller(env->loop), "epoll") != 0)
		return;
	build(env);
	in_child(repair_without_descriptor, NULL);
	assert_everything_works();
	finish();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f10_what_is_queued_already_is_refused_too),
	        env_test(f10_an_unrepaired_loop_refuses_and_reaches_nothing),
	        env_test(f10_a_repaired_loop_works_and_is_the_childs_own),
	        env_test(f10_repaired_it_has_nothing_to_do),
	        env_test(f10_a_signal_that_came_before_the_repair),
	        env_test(f10_a_repaired_loop_left_behind),
	        env_test(f10_without_a_fork_nothing_changes),
	        env_test(f10_what_was_under_way_runs_in_both),
	        env_test(f10_a_stop_that_is_under_way_is_one),
	        env_test(f10_a_deadline_is_kept_in_both),
	        env_test(f10_what_was_ready_is_ready_in_both),
	        env_test(f10_a_descriptor_that_the_child_closed),
	};

	return env_main(argc, argv, "forks", tests, sizeof tests / sizeof *tests);
}
