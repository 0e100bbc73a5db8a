/*
 * Ghosts: descriptors that were closed while watched, and that a duplicate keeps alive.  epoll goes
 * on reporting them and offers no way to stop it; the loop has to find out, say so once, and sleep.
 */
#include "haunt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- F2 ----------------------------------------------------------------------------- */

static void f2_closed_while_a_duplicate_is_open_it_is_told_once(void **state)
{
	struct env *env = *state;
	struct ghost g;

	make_ghost(env, &g);
	turn_until_told(env, &g.watched);
	assert_sleeps(env);
	assert_int_equal(g.watched.errors, 1);
	assert_int_equal(stats(env).fds_dropped, 1);
	/* The source is there until it is removed. */
	assert_true(rouse_fd_set_events(env->loop, g.watched.self, ROUSE_READABLE) < 0);
	assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
	assert_int_equal(rouse_remove(env->loop, g.watched.self), ROUSE_ESTALE);
	assert_sleeps(env);
	assert_int_equal(stats(env).fds_dropped, 1);
	finish_ghost(&g);
}

static void f2_a_callback_removes_it_when_told(void **state)
{
	struct env *env = *state;
	struct ghost g;

	make_ghost(env, &g);
	g.watched.removes_itself = 1;
	turn_until_told(env, &g.watched);
	assert_sleeps(env);
	assert_int_equal(rouse_remove(env->loop, g.watched.self), ROUSE_ESTALE);
	finish_ghost(&g);
}

static void f2_removed_after_the_close_nobody_is_told(void **state)
{
	struct env *env = *state;
	struct ghost g;
	int runs;

	/* At once, and after it was reported. */
	for (int turns = 0; turns < 2; turns++) {
		make_ghost(env, &g);
		for (int i = 0; i < turns && !g.watched.errors; i++)
			env_turn(env, 0);
		assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		runs = g.watched.runs;
		turn_until_quiet(env);
		assert_sleeps(env);
		assert_int_equal(g.watched.runs, runs);
		finish_ghost(&g);
	}
}

static void f2_writable_and_hung_up_ones(void **state)
{
	struct env *env = *state;
	struct watched writable, hung;
	int pair[2], ends[2], copies[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	watch(env, &writable, pair[0], ROUSE_WRITABLE);
	watch(env, &hung, ends[0], ROUSE_HANGUP);
	copies[0] = fcntl(pair[0], F_DUPFD_CLOEXEC, COPIES);
	copies[1] = fcntl(ends[0], F_DUPFD_CLOEXEC, COPIES);
	close(ends[1]);
	close(pair[0]);
	close(ends[0]);
	turn_until_told(env, &writable);
	turn_until_told(env, &hung);
	assert_sleeps(env);
	assert_int_equal(stats(env).fds_dropped, 2);
	for (int i = 0; i < 2; i++)
		close(copies[i]);
	close(pair[1]);
}

static void f2_a_forked_child_holds_the_duplicate(void **state)
{
	struct env *env = *state;
	struct ghost g;
	int gate[2];
	pid_t pid;
	char byte;

	make_honest(env, &g);
	assert_int_equal(pipe(gate), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(gate[1]);
		while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(0);
	}
	close(g.watched.fd);
	turn_until_told(env, &g.watched);
	assert_sleeps(env);
	assert_int_equal(write(gate[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_sleeps(env);
	close(gate[0]);
	close(gate[1]);
	finish_ghost(&g);
}

static void f2_many_ghosts_are_each_told_once(void **state)
{
	struct env *env = *state;
	struct ghost ghosts[50];

	env_close(env);
	env_open(env, 4);
	for (int i = 0; i < 50; i++)
		make_honest(env, &ghosts[i]);
	for (int i = 0; i < 50; i++)
		let_haunt(&ghosts[i]);
	for (int i = 0; i < 50; i++)
		turn_until_told(env, &ghosts[i].watched);
	assert_sleeps(env);
	assert_int_equal(stats(env).fds_dropped, 50);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(ghosts[i].watched.errors, 1);
		assert_int_equal(rouse_remove(env->loop, ghosts[i].watched.self), 0);
		finish_ghost(&ghosts[i]);
	}
	assert_sleeps(env);
}

/* Quiet when it was closed: the ghost appears later, when there is something to read. */
static void f2_a_ghost_that_becomes_ready_later(void **state)
{
	struct env *env = *state;
	struct ghost g;
	char byte;

	make_ghost(env, &g);
	assert_int_equal(read(g.copy, &byte, 1), 1);
	for (int removed = 0; removed < 2; removed++) {
		if (strcmp(rouse_loop_poller(env->loop), "poll") != 0)
			assert_sleeps(env);
		if (removed)
			assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		assert_int_equal(write(g.peer, "x", 1), 1);
		if (removed)
			turn_until_quiet(env);
		else
			turn_until_told(env, &g.watched);
		assert_sleeps(env);
		assert_int_equal(read(g.copy, &byte, 1), 1);
	}
	finish_ghost(&g);
}

static void f2_a_paused_one(void **state)
{
	struct env *env = *state;
	struct ghost g;

	make_honest(env, &g);
	assert_int_equal(rouse_fd_set_events(env->loop, g.watched.self, 0), 0);
	g.copy = fcntl(g.watched.fd, F_DUPFD_CLOEXEC, COPIES);
	close(g.watched.fd);
	assert_sleeps(env);
	assert_int_equal(g.watched.runs, 0);
	close(g.peer);
	/* The hang-up, too. */
	assert_sleeps(env);
	assert_int_equal(g.watched.runs, 0);
	assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
	assert_sleeps(env);
	close(g.copy);
}

/* ---- Its number is another's by now ------------------------------------------------- */

static void f2_a_newcomer_with_its_number_works(void **state)
{
	struct env *env = *state;

	/* Added before the ghost was found out, and after. */
	for (int told = 0; told < 2; told++) {
		struct watched newcomer;
		struct ghost g;
		int ends[2];
		char byte;

		make_ghost(env, &g);
		if (told)
			turn_until_told(env, &g.watched);
		assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
		/* Told, the loop may have taken the number itself. */
		if (!told)
			assert_int_equal(ends[0], g.watched.fd);
		watch(env, &newcomer, ends[0], ROUSE_READABLE);
		turn_until_quiet(env);
		assert_sleeps(env);
		assert_int_equal(newcomer.runs, 0);
		assert_in_range(g.watched.errors, told, 1);
		assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		turn_until_quiet(env);
		assert_int_equal(write(ends[1], "x", 1), 1);
		for (int i = 1; i <= 10; i++)
			ENV_UNTIL(env, newcomer.runs == i);
		assert_int_equal(newcomer.errors, 0);
		assert_int_equal(read(ends[0], &byte, 1), 1);
		assert_sleeps(env);
		assert_int_equal(rouse_fd_set_events(env->loop, newcomer.self, ROUSE_HANGUP), 0);
		assert_int_equal(rouse_remove(env->loop, newcomer.self), 0);
		close(ends[0]);
		close(ends[1]);
		finish_ghost(&g);
		assert_int_equal(stats(env).fds_dropped, told + 1);
	}
}

static void f2_a_stranger_with_its_number_is_left_alone(void **state)
{
	struct env *env = *state;
	struct ghost g;
	int ends[2];

	/* Never mistaken where the system knows files, not only numbers. */
	if (strcmp(rouse_loop_poller(env->loop), "poll") == 0)
		return;
	make_ghost(env, &g);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(ends[0], g.watched.fd);
	turn_until_told(env, &g.watched);
	assert_sleeps(env);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_sleeps(env);
	assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
	assert_sleeps(env);
	close(ends[0]);
	close(ends[1]);
	finish_ghost(&g);
}

/* Closed without a duplicate, its number is a stranger's when another one's ghost is shed. */
static void f2_shedding_mistakes_no_stranger(void **state)
{
	struct env *env = *state;
	struct ghost g, closed;
	int ends[2];

	if (strcmp(rouse_loop_poller(env->loop), "poll") == 0)
		return;
	make_honest(env, &closed);
	make_honest(env, &g);
	close(closed.watched.fd);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(ends[0], closed.watched.fd);
	assert_int_equal(write(ends[1], "x", 1), 1);
	let_haunt(&g);
	turn_until_told(env, &g.watched);
	turn_until_told(env, &closed.watched);
	assert_int_equal(closed.watched.runs, 1);
	assert_sleeps(env);
	assert_int_equal(stats(env).fds_dropped, 2);
	assert_int_equal(rouse_remove(env->loop, closed.watched.self), 0);
	assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
	close(ends[0]);
	close(ends[1]);
	finish_ghost(&closed);
	finish_ghost(&g);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f2_closed_while_a_duplicate_is_open_it_is_told_once),
	        env_test(f2_a_callback_removes_it_when_told),
	        env_test(f2_removed_after_the_close_nobody_is_told),
	        env_test(f2_writable_and_hung_up_ones),
	        env_test(f2_a_forked_child_holds_the_duplicate),
	        env_test(f2_many_ghosts_are_each_told_once),
	        env_test(f2_a_ghost_that_becomes_ready_later),
	        env_test(f2_a_paused_one),
	        env_test(f2_a_newcomer_with_its_number_works),
	        env_test(f2_a_stranger_with_its_number_is_left_alone),
	        env_test(f2_shedding_mistakes_no_stranger),
	};

	return env_main(argc, argv, "ghosts", tests, sizeof tests / sizeof *tests);
}
