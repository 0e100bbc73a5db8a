/* Who shares a set with a ghost: everyone is watched as before, and so is the guest by its host. */
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

/* ---- Who is left -------------------------------------------------------------------- */

struct crowd {
	struct env *env;
	struct watched ready, quiet, paused, hook_fd;
	int ends[4][2], timers, posts, hooks, woken;
	rouse_source timer, hook;
	rouse_waker *waker;
	rouse_remote *remote;
};

static int count_hook(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	struct crowd *c = data;
	char byte;

	(void)loop;
	(void)self;
	(void)budget;
	while (read(c->ends[3][0], &byte, 1) > 0)
		;
	c->hooks++;
	return 1;
}

static void join_crowd(struct env *env, struct crowd *c)
{
	rouse_hook hook = {.size = sizeof hook, .events = ROUSE_READABLE, .dispatch = count_hook};

	*c = (struct crowd){.env = env, .remote = rouse_loop_remote(env->loop)};
	for (int i = 0; i < 4; i++)
		assert_int_equal(pipe2(c->ends[i], O_CLOEXEC | O_NONBLOCK), 0);
	watch(env, &c->ready, c->ends[0][0], ROUSE_READABLE);
	watch(env, &c->quiet, c->ends[1][0], ROUSE_READABLE);
	watch(env, &c->paused, c->ends[2][0], 0);
	assert_int_equal(write(c->ends[2][1], "x", 1), 1);
	hook.fd = c->ends[3][0];
	assert_int_equal(rouse_hook_add(env->loop, &hook, c, &c->hook), 0);
	assert_int_equal(
	        rouse_timer_add(env->loop, ROUSE_NEVER, 0, 0, count_timer, &c->timers, &c->timer),
	        0);
	assert_int_equal(rouse_waker_create(env->loop, count_run, &c->woken, &c->waker), 0);
}

static void *wake_from_elsewhere(void *data)
{
	struct crowd *c = data;

	while (!atomic_load(&naps))
		sched_yield();
	return rouse_wake(c->waker) < 0 ? c : NULL;
}

/* All of them as before: who was quiet is, who gets something is told. */
static void assert_crowd_works(struct crowd *c)
{
	struct env *env = c->env;
	pthread_t thread;
	char byte;
	int before;

	before = c->ready.runs;
	assert_int_equal(write(c->ends[0][1], "x", 1), 1);
	ENV_UNTIL(env, c->ready.runs >= before + 2);
	assert_int_equal(read(c->ends[0][0], &byte, 1), 1);
	before = c->hooks;
	assert_int_equal(write(c->ends[3][1], "x", 1), 1);
	ENV_UNTIL(env, c->hooks > before);
	before = c->timers;
	assert_int_equal(rouse_timer_set(env->loop, c->timer, rouse_loop_now(env->loop) + MS, 0, 0),
	                 0);
	ENV_UNTIL(env, c->timers > before);
	before = c->posts;
	assert_int_equal(rouse_post(c->remote, count_run, &c->posts, NULL), 0);
	ENV_UNTIL(env, c->posts > before);
	env_drain(env);
	before = c->woken;
	atomic_store(&naps, 0);
	rouse__fault_pause(note_nap, NULL);
	thread = env_start(wake_from_elsewhere, c);
	ENV_UNTIL(env, c->woken > before);
	rouse__fault_pause(NULL, NULL);
	env_join(thread);
	assert_int_equal(c->quiet.runs, 0);
	assert_int_equal(c->paused.runs, 0);
	assert_int_equal(c->ready.errors, 0);
	assert_sleeps(env);
}

static void leave_crowd(struct crowd *c)
{
	struct env *env = c->env;

	assert_int_equal(rouse_fd_set_events(env->loop, c->paused.self, ROUSE_READABLE), 0);
	ENV_UNTIL(env, c->paused.runs);
	assert_int_equal(rouse_remove(env->loop, c->paused.self), 0);
	assert_int_equal(write(c->ends[1][1], "x", 1), 1);
	ENV_UNTIL(env, c->quiet.runs);
	assert_int_equal(rouse_remove(env->loop, c->quiet.self), 0);
	assert_int_equal(rouse_remove(env->loop, c->ready.self), 0);
	assert_int_equal(rouse_remove(env->loop, c->hook), 0);
	assert_int_equal(rouse_remove(env->loop, c->timer), 0);
	for (int i = 0; i < 4; i++) {
		close(c->ends[i][0]);
		close(c->ends[i][1]);
	}
	rouse_waker_unref(c->waker);
	rouse_remote_unref(c->remote);
}

static void f2_everyone_else_is_watched_as_before(void **state)
{
	struct env *env = *state;
	struct crowd c;

	join_crowd(env, &c);
	for (int round = 0; round < 3; round++) {
		struct ghost g;

		make_ghost(env, &g);
		if (round == 1)
			assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		else
			turn_until_told(env, &g.watched);
		turn_until_quiet(env);
		assert_crowd_works(&c);
		if (round != 1)
			assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		finish_ghost(&g);
	}
	leave_crowd(&c);
}

/* While one that is always ready keeps the loop from ever being quiet. */
static void f2_found_out_beside_a_busy_one_which_stays(void **state)
{
	struct env *env = *state;
	struct ghost g, busy, twin;
	int turns = 0;

	make_honest(env, &busy);
	make_honest(env, &twin);
	/* A duplicate alone makes no ghost. */
	twin.copy = fcntl(twin.watched.fd, F_DUPFD_CLOEXEC, COPIES);
	make_ghost(env, &g);
	turn_until_told(env, &g.watched);
	while (busy.watched.runs < 2 * PATIENCE) {
		int before = busy.watched.runs;

		env_turn(env, ROUSE_NEVER);
		assert_in_range(busy.watched.runs - before, 0, 1);
		assert_in_range(++turns, 1, 5 * PATIENCE);
	}
	assert_in_range(twin.watched.runs, busy.watched.runs - 2, busy.watched.runs + 2);
	assert_int_equal(busy.watched.errors + twin.watched.errors, 0);
	assert_int_equal(stats(env).fds_dropped, 1);
	assert_int_equal(rouse_remove(env->loop, busy.watched.self), 0);
	assert_int_equal(rouse_remove(env->loop, twin.watched.self), 0);
	close(busy.watched.fd);
	close(twin.watched.fd);
	finish_ghost(&busy);
	finish_ghost(&twin);
	finish_ghost(&g);
	assert_sleeps(env);
}

/* ---- The system refuses ------------------------------------------------------------- */

static void f2_a_refusal_of_the_system_is_not_the_last_word(void **state)
{
	static const struct {
		enum rouse__call call;
		unsigned skip, times;
		int os_error;
	} rows[] = {
	        {ROUSE__EPOLL_CREATE, 0, 3, EMFILE}, {ROUSE__EPOLL_CTL, 0, 2, ENOMEM},
	        {ROUSE__EPOLL_CTL, 1, 2, ENOSPC},    {ROUSE__EPOLL_CTL, 2, 1, ENOMEM},
	        {ROUSE__EPOLL_CTL, 3, 1, ENOMEM},    {ROUSE__EPOLL_CTL, 4, 1, ENOMEM},
	        {ROUSE__EPOLL_CTL, 5, 1, ENOMEM},    {ROUSE__EPOLL_CTL, 6, 1, ENOMEM},
	        {ROUSE__EPOLL_CTL, 7, 1, ENOMEM},
	};
	struct env *env = *state;
	struct crowd c;

	join_crowd(env, &c);
	for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
		const size_t row = i / 2;
		struct ghost g;

		make_ghost(env, &g);
		if (i % 2)
			assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		rouse__fault_fail(rows[row].call, rows[row].skip, rows[row].times,
		                  rows[row].os_error);
		if (i % 2 == 0)
			turn_until_told(env, &g.watched);
		turn_until_quiet(env);
		rouse__fault_reset();
		assert_crowd_works(&c);
		if (i % 2 == 0)
			assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		finish_ghost(&g);
	}
	leave_crowd(&c);
}

/* By whoever started this program. */
static unsigned char inherited[1024];

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void f2_nothing_is_leaked(void **state)
{
	struct env *env = *state;
	struct crowd c;
	unsigned open = 0;

	join_crowd(env, &c);
	for (int round = 0; round < 20; round++) {
		struct ghost g;

		make_ghost(env, &g);
		turn_until_told(env, &g.watched);
		turn_until_quiet(env);
		assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		finish_ghost(&g);
		turn_until_quiet(env);
		if (round == 0)
			open = open_descriptors();
		assert_int_equal(open_descriptors(), open);
	}
	/* And what is ours is closed for programs that this one starts. */
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0 && !inherited[fd])
			assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	leave_crowd(&c);
}

/* ---- Hosts -------------------------------------------------------------------------- */

static int readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0);
}

static void f2_a_guests_descriptor_stays_the_same_one(void **state)
{
	struct env *env = *state;
	struct epoll_event event = {.events = EPOLLIN};
	int posted = 0, fired = 0, second;
	rouse_fd before, after;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	struct ghost g;

	assert_int_equal(rouse_loop_fd(env->loop, &before), 0);
	/* Another set that watches it, edge-triggered, and that nobody tells of anything. */
	second = epoll_create1(EPOLL_CLOEXEC);
	assert_true(second >= 0);
	assert_int_equal(epoll_ctl(second, EPOLL_CTL_ADD, before, &event), 0);
	for (int round = 0; round < 3; round++) {
		make_ghost(env, &g);
		turn_until_told(env, &g.watched);
		turn_until_quiet(env);
		assert_int_equal(rouse_loop_fd(env->loop, &after), 0);
		assert_int_equal(after, before);
		assert_int_equal(readable(after), 0);
		assert_int_equal(readable(env->outer), 0);
		assert_int_equal(epoll_wait(second, &event, 1, 0), 0);
		assert_int_equal(rouse_post(remote, count_run, &posted, NULL), 0);
		assert_int_equal(readable(after), 1);
		assert_int_equal(readable(env->outer), 1);
		assert_int_equal(epoll_wait(second, &event, 1, 0), 1);
		ENV_UNTIL(env, posted == round + 1);
		assert_int_equal(env_drain(env), 0);
		assert_int_equal(readable(after), 0);
		/* The deadline, too. */
		assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop) + MS, 0, 0,
		                                 count_timer, &fired, NULL),
		                 0);
		assert_int_equal(rouse_loop_prepare(env->loop, 0, NULL), 0);
		assert_int_equal(poll(&(struct pollfd){.fd = after, .events = POLLIN}, 1, -1), 1);
		ENV_UNTIL(env, fired == round + 1);
		assert_int_equal(rouse_remove(env->loop, g.watched.self), 0);
		finish_ghost(&g);
	}
	close(second);
	rouse_remote_unref(remote);
}

struct dialog {
	struct env *env;
	struct ghost busy, ghost;
	int opened, closed;
};

static void open_dialog(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                        void *data)
{
	struct dialog *d = data;

	(void)loop;
	(void)self;
	(void)fd;
	(void)events;
	if (d->opened++)
		return;
	make_ghost(d->env, &d->ghost);
	turn_until_told(d->env, &d->ghost.watched);
	/* Suspended, and as readable as before. */
	assert_sleeps(d->env);
	d->closed = 1;
}

static void f2_found_out_in_a_nested_turn(void **state)
{
	struct env *env = *state;
	struct dialog d = {.env = env};
	rouse_source source;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(rouse_fd_add(env->loop, ends[0], ROUSE_READABLE, open_dialog, &d, &source),
	                 0);
	ENV_UNTIL(env, d.closed);
	/* It is watched again as it was. */
	ENV_UNTIL(env, d.opened > 3);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	assert_sleeps(env);
	close(ends[0]);
	close(ends[1]);
	finish_ghost(&d.ghost);
}

/* ---- Hooks -------------------------------------------------------------------------- */

struct hooked {
	int errors, checks;
};

static int check_hook(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	struct hooked *h = data;

	(void)loop;
	(void)self;
	h->checks += ready != 0;
	h->errors += (ready & ROUSE_FDERROR) != 0;
	return 0;
}

static void f2_a_hooks_descriptor(void **state)
{
	struct env *env = *state;
	rouse_hook hook = {.size = sizeof hook, .events = ROUSE_READABLE, .check = check_hook};
	struct hooked h = {0};
	rouse_source source;
	int ends[2], copy;

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	hook.fd = ends[0];
	assert_int_equal(rouse_hook_add(env->loop, &hook, &h, &source), 0);
	copy = fcntl(ends[0], F_DUPFD_CLOEXEC, COPIES);
	close(ends[0]);
	turn_until_quiet(env);
	assert_int_equal(h.errors, 1);
	assert_sleeps(env);
	assert_int_equal(stats(env).fds_dropped, 1);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	assert_sleeps(env);
	close(copy);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f2_everyone_else_is_watched_as_before),
	        env_test(f2_found_out_beside_a_busy_one_which_stays),
	        env_test(f2_a_refusal_of_the_system_is_not_the_last_word),
	        env_test(f2_nothing_is_leaked),
	        env_test_in(f2_a_guests_descriptor_stays_the_same_one, DESCRIPTOR | BRACKET),
	        env_test_in(f2_found_out_in_a_nested_turn, DESCRIPTOR | BRACKET),
	        env_test(f2_a_hooks_descriptor),
	};

	for (int fd = 0; fd < 1024; fd++)
		inherited[fd] = fcntl(fd, F_GETFD) >= 0;
	return env_main(argc, argv, "ghost_crowds", tests, sizeof tests / sizeof *tests);
}
