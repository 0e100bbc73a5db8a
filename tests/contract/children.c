/* Children: waited for once, told how they ended, and refused where they are none. */
#include "kids.h"

#include "core/fault.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- How it ended ------------------------------------------------------------------- */

static void told_how_it_ended(void **state)
{
	static const int codes[] = {0, 1, 42, 255, -SIGKILL, -SIGTERM};
	struct env *env = *state;

	assert_true(rouse_loop_caps(env->loop) & ROUSE_CAP_CHILD);
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
		struct kid kid;

		kid_spawn(&kid, codes[i]);
		kid_watch(env, &kid);
		assert_int_equal(env_drain(env), 0);
		kid_let_go(&kid);
		ENV_UNTIL(env, kid.runs);
		kid_told(env, &kid, codes[i] < 0 ? 0 : (unsigned)codes[i],
		         codes[i] < 0 ? -codes[i] : 0);
	}
}

static void one_that_ended_before_it_was_added(void **state)
{
	struct env *env = *state;
	struct kid kid;

	kid_spawn(&kid, 7);
	kid_end(&kid);
	kid_watch(env, &kid);
	assert_int_equal(kid.runs, 0);
	ENV_UNTIL(env, kid.runs);
	kid_told(env, &kid, 7, 0);
}

static atomic_int asleep;

static void note_sleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP)
		atomic_store(&asleep, 1);
}

static void *let_go_when_asleep(void *data)
{
	while (!atomic_load(&asleep))
		sched_yield();
	kid_let_go(data);
	return NULL;
}

static void its_end_ends_a_wait_without_deadline(void **state)
{
	struct env *env = *state;
	struct kid kid;
	pthread_t thread;

	kid_spawn(&kid, 3);
	kid_watch(env, &kid);
	atomic_store(&asleep, 0);
	rouse__fault_pause(note_sleep, NULL);
	thread = env_start(let_go_when_asleep, &kid);
	ENV_UNTIL(env, kid.runs);
	rouse__fault_pause(NULL, NULL);
	env_join(thread);
	kid_told(env, &kid, 3, 0);
}

static void stopping_and_continuing_are_no_ends(void **state)
{
	struct env *env = *state;
	siginfo_t info;
	struct kid kid;

	kid_spawn(&kid, 9);
	kid_watch(env, &kid);
	assert_int_equal(kill(kid.pid, SIGSTOP), 0);
	while (waitid(P_PID, (id_t)kid.pid, &info, WSTOPPED | WNOWAIT) && errno == EINTR)
		;
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(kill(kid.pid, SIGCONT), 0);
	while (waitid(P_PID, (id_t)kid.pid, &info, WCONTINUED | WNOWAIT) && errno == EINTR)
		;
	assert_int_equal(env_drain(env), 0);
	kid_let_go(&kid);
	ENV_UNTIL(env, kid.runs);
	kid_told(env, &kid, 9, 0);
}

static void someone_else_waited_first(void **state)
{
	struct env *env = *state;
	struct kid kid;

	kid_spawn(&kid, 5);
	kid_watch(env, &kid);
	kid_end(&kid);
	kid_left_to_us(&kid);
	ENV_UNTIL(env, kid.runs);
	assert_int_equal(kid.how.known, 0);
	assert_int_equal(rouse_remove(env->loop, kid.self), ROUSE_ESTALE);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(kid.runs, 1);
	assert_true(sigchld_is_default());
}

/* ---- What is refused ---------------------------------------------------------------- */

static void refuse(struct env *env, rouse_process process, int result, int os_error)
{
	rouse_source source = {42};

	assert_int_equal(rouse_child_add(env->loop, process, kid_note, NULL, &source), result);
	if (result == ROUSE_EOS)
		assert_int_equal(rouse_os_error(), os_error);
	assert_true(source.id == 42);
	assert_true(sigchld_is_default());
}

static void what_is_no_child_is_refused(void **state)
{
	static const rouse_process invalid[] = {0, -1, INT_MIN};
	struct env *env = *state;
	struct kid kid;

	for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
		refuse(env, invalid[i], ROUSE_EINVAL, 0);
	assert_int_equal(rouse_child_add(NULL, 1, kid_note, NULL, NULL), ROUSE_EINVAL);
	assert_int_equal(rouse_child_add(env->loop, 1, NULL, NULL, NULL), ROUSE_EINVAL);
	refuse(env, getpid(), ROUSE_EOS, ECHILD);
	refuse(env, getppid() > 0 ? getppid() : getpid(), ROUSE_EOS, ECHILD);
	refuse(env, INT_MAX, ROUSE_EOS, ECHILD);
	kid_spawn(&kid, 0);
	kid_end(&kid);
	kid_left_to_us(&kid);
	refuse(env, kid.pid, ROUSE_EOS, ECHILD);
	assert_int_equal(env_drain(env), 0);
}

static void one_source_a_child(void **state)
{
	struct env *env = *state;
	rouse_source source = {42};
	struct kid kid;

	kid_spawn(&kid, 1);
	kid_watch(env, &kid);
	assert_int_equal(rouse_child_add(env->loop, kid.pid, kid_note, &kid, &source),
	                 ROUSE_EEXIST);
	assert_true(source.id == 42);
	/* Removed, it can be added anew. */
	assert_int_equal(rouse_remove(env->loop, kid.self), 0);
	kid_watch(env, &kid);
	kid_let_go(&kid);
	ENV_UNTIL(env, kid.runs);
	kid_told(env, &kid, 1, 0);
	assert_int_equal(rouse_child_add(env->loop, kid.pid, kid_note, &kid, &source), ROUSE_EOS);
	assert_int_equal(rouse_os_error(), ECHILD);
}

static void a_loop_without_descriptors_takes_none(void **state)
{
	const rouse_loop_options options = {.size = sizeof options, .poller = "null"};
	rouse_loop *loop;
	struct kid kid;

	(void)state;
	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	assert_false(rouse_loop_caps(loop) & ROUSE_CAP_CHILD);
	kid_spawn(&kid, 1);
	assert_int_equal(rouse_child_add(loop, kid.pid, kid_note, &kid, NULL), ROUSE_ENOTSUP);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	kid_let_go(&kid);
	kid_left_to_us(&kid);
}

static void f9_no_descriptor_left_for_a_child(void **state)
{
	struct env *env = *state;
	struct rlimit before, none;
	int result, os_error, next;
	unsigned open;
	struct kid kid;

	if (without_pidfds)
		return;
	kid_spawn(&kid, 4);
	open = kids_descriptors();
	rouse__fault_fail(ROUSE__PIDFD, 0, 1, ENFILE);
	refuse(env, kid.pid, ROUSE_EOS, ENFILE);
	next = dup(0);
	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	result = rouse_child_add(env->loop, kid.pid, kid_note, &kid, &kid.self);
	os_error = rouse_os_error();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(result, ROUSE_EOS);
	assert_int_equal(os_error, EMFILE);
	if (strcmp(rouse_loop_poller(env->loop), "epoll") == 0) {
		rouse__fault_fail(ROUSE__EPOLL_CTL, 0, 1, ENOSPC);
		refuse(env, kid.pid, ROUSE_ELIMIT, 0);
	}
	assert_int_equal(kids_descriptors(), open);
	kid_watch(env, &kid);
	kid_let_go(&kid);
	ENV_UNTIL(env, kid.runs);
	kid_told(env, &kid, 4, 0);
	assert_int_equal(kids_descriptors(), open - 1); /* the gate */
}

/* ---- Many --------------------------------------------------------------------------- */

enum { MANY = 200 };

static void many_at_once_with_a_small_budget(void **state)
{
	struct env *env = *state;
	static struct kid kids[MANY];
	rouse_stats stats = {.size = sizeof stats};
	const int many = scaled(MANY) < MANY ? (int)scaled(MANY) : MANY;
	int left = many, ran;

	env_close(env);
	env_open(env, 3);
	for (int i = 0; i < many; i++) {
		kid_spawn(&kids[i], i % 100);
		kid_watch(env, &kids[i]);
	}
	for (int i = 0; i < many; i++)
		kid_end(&kids[i]);
	while (left > 0) {
		ran = env_turn(env, ROUSE_NEVER);
		assert_in_range(ran, 0, 3);
		left -= ran;
	}
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(rouse_loop_stats(env->loop, &stats), 0);
	assert_int_equal(stats.fds_over, many / 3);
	for (int i = 0; i < many; i++)
		kid_told(env, &kids[i], (unsigned)i % 100, 0);
}

static void many_leave_room_for_posts_and_timers(void **state)
{
	struct env *env = *state;
	rouse_remote *remote;
	struct kid kids[12];
	int posts = 0, timers = 0;

	env_close(env);
	env_open(env, 2);
	remote = rouse_loop_remote(env->loop);
	for (int i = 0; i < 12; i++) {
		kid_spawn(&kids[i], 0);
		kid_watch(env, &kids[i]);
	}
	for (int i = 0; i < 12; i++)
		kid_end(&kids[i]);
	assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop), 0, 0, count_timer,
	                                 &timers, NULL),
	                 0);
	assert_int_equal(rouse_post(remote, count_run, &posts, NULL), 0);
	while (env_turn(env, ROUSE_NEVER) == 0)
		;
	assert_int_equal(posts, 1);
	assert_int_equal(timers, 1);
	for (int i = 0; i < 12; i++)
		ENV_UNTIL(env, kids[i].runs);
	rouse_remote_unref(remote);
}

static void descriptors_that_are_always_ready_leave_room_for_children(void **state)
{
	struct env *env = *state;
	struct channel channels[3];
	struct kid kid;
	int ready = 0, turns = 0;

	env_close(env);
	env_open(env, 2);
	for (int i = 0; i < 3; i++) {
		channel_open(env, &channels[i]);
		channel_fill(env, &channels[i]);
		assert_int_equal(rouse_fd_add(env->loop, channels[i].fd, ROUSE_READABLE, count_fd,
		                              &ready, NULL),
		                 0);
	}
	kid_spawn(&kid, 3);
	kid_watch(env, &kid);
	kid_end(&kid);
	while (!kid.runs) {
		env_turn(env, 0);
		assert_in_range(++turns, 1, 100);
	}
	assert_int_equal(kid.how.code, 3);
	env_close(env);
	for (int i = 0; i < 3; i++)
		channel_close(env, &channels[i]);
}

/* ---- SIGCHLD is one loop's, where it is needed -------------------------------------- */

static void ignore_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)signo;
	++*(int *)data;
}

static void a_users_sigchld(void **state)
{
	struct env *env = *state, other;
	const int refused = without_pidfds ? ROUSE_EEXIST : 0;
	rouse_source taken, source = {42};
	struct kid kid;
	int signals = 0;

	env_open(&other, 0);
	for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
		struct env *theirs = elsewhere ? &other : env;

		assert_int_equal(
		        rouse_signal_add(theirs->loop, SIGCHLD, ignore_signal, &signals, &taken),
		        0);
		kid_spawn(&kid, 1);
		assert_int_equal(rouse_child_add(env->loop, kid.pid, kid_note, &kid, &kid.self),
		                 refused);
		if (refused) {
			assert_int_equal(rouse_remove(theirs->loop, taken), 0);
			kid_watch(env, &kid);
			assert_int_equal(rouse_signal_add(theirs->loop, SIGCHLD, ignore_signal,
			                                  &signals, &source),
			                 ROUSE_EEXIST);
			assert_true(source.id == 42);
		}
		kid_let_go(&kid);
		ENV_UNTIL(env, kid.runs);
		if (!refused)
			assert_int_equal(rouse_remove(theirs->loop, taken), 0);
		env_drain(theirs);
		kid_told(env, &kid, 1, 0);
	}
	/* Given back with the last child. */
	assert_int_equal(rouse_signal_add(env->loop, SIGCHLD, ignore_signal, &signals, &source), 0);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	env_close(&other);
}

static void another_loops_children(void **state)
{
	struct env *env = *state, other;
	struct kid kids[2];

	env_open(&other, 0);
	for (int i = 0; i < 2; i++)
		kid_spawn(&kids[i], i);
	kid_watch(env, &kids[0]);
	assert_int_equal(
	        rouse_child_add(other.loop, kids[1].pid, kid_note, &kids[1], &kids[1].self),
	        without_pidfds ? ROUSE_EEXIST : 0);
	kid_end(&kids[1]);
	if (without_pidfds) {
		/* Nobody watches that one: it is nobody's but ours to wait for. */
		env_drain(env);
		kid_left_to_us(&kids[1]);
	} else {
		ENV_UNTIL(&other, kids[1].runs);
	}
	kid_end(&kids[0]);
	ENV_UNTIL(env, kids[0].runs);
	kid_told(env, &kids[0], 0, 0);
	env_close(&other);
}

static volatile sig_atomic_t handled;

static void handler(int signo)
{
	handled = signo;
}

static void sigchld_is_put_back_with_the_last_child(void **state)
{
	struct env *env = *state;
	struct sigaction mine = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NOCLDSTOP}, now;
	struct kid kids[2];

	assert_int_equal(sigaction(SIGCHLD, &mine, NULL), 0);
	for (int i = 0; i < 2; i++) {
		kid_spawn(&kids[i], i);
		kid_watch(env, &kids[i]);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sigaction(SIGCHLD, NULL, &now), 0);
		assert_int_equal(now.sa_handler == handler, !without_pidfds);
		if (i) {
			assert_int_equal(rouse_remove(env->loop, kids[i].self), 0);
			kid_let_go(&kids[i]);
			kid_left_to_us(&kids[i]);
		} else {
			kid_let_go(&kids[i]);
			ENV_UNTIL(env, kids[i].runs);
		}
	}
	assert_int_equal(sigaction(SIGCHLD, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, handler);
	assert_true(now.sa_flags & SA_NOCLDSTOP);
	signal(SIGCHLD, SIG_DFL);
}

#define EACH(row)                                                                                  \
	row(told_how_it_ended), row(one_that_ended_before_it_was_added),                           \
	        row(its_end_ends_a_wait_without_deadline),                                         \
	        row(stopping_and_continuing_are_no_ends), row(someone_else_waited_first),          \
	        row(what_is_no_child_is_refused), row(one_source_a_child),                         \
	        row(a_loop_without_descriptors_takes_none),                                        \
	        row(f9_no_descriptor_left_for_a_child), row(many_at_once_with_a_small_budget),     \
	        row(many_leave_room_for_posts_and_timers),                                         \
	        row(descriptors_that_are_always_ready_leave_room_for_children),                    \
	        row(a_users_sigchld), row(another_loops_children),                                 \
	        row(sigchld_is_put_back_with_the_last_child)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {EACH(env_test), EACH(without)};

	return env_main(argc, argv, "children", tests, sizeof tests / sizeof *tests);
}
