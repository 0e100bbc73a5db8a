/* Descriptors that only the system has: two directions, half closes, errors. */
#include "env.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

struct end {
	int fd;
	unsigned events;
	int runs, bytes, end_of_file;
	rouse_source self;
};

static void note(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct end *e = data;

	(void)loop;
	(void)self;
	(void)fd;
	e->events |= events;
	e->runs++;
}

static void read_all(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct end *e = data;
	char buffer[64];
	ssize_t n;

	e->events |= events;
	e->runs++;
	while ((n = read(fd, buffer, sizeof buffer)) > 0)
		e->bytes += (int)n;
	if (n == 0) {
		e->end_of_file++;
		assert_int_equal(rouse_fd_set_events(loop, self, 0), 0);
	}
}

static void pair(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
	                 0);
}

static void watch(struct env *env, struct end *e, unsigned events, rouse_fd_fn fn)
{
	assert_int_equal(rouse_fd_add(env->loop, e->fd, events, fn, e, &e->self), 0);
}

static void f5_a_half_close_is_read_once_to_its_end(void **state)
{
	struct env *env = *state;
	int ends[2];
	struct end e = {0};

	pair(ends);
	e.fd = ends[0];
	watch(env, &e, ROUSE_READABLE, read_all);
	assert_int_equal(write(ends[1], "abc", 3), 3);
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	ENV_UNTIL(env, e.end_of_file);
	assert_int_equal(e.bytes, 3);
	assert_int_equal(e.events, ROUSE_READABLE);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(e.end_of_file, 1);
	/* The other direction still works. */
	e.events = 0;
	e.runs = 0;
	assert_int_equal(rouse_fd_set_events(env->loop, e.self, ROUSE_WRITABLE), 0);
	ENV_UNTIL(env, e.events & ROUSE_WRITABLE);
	assert_int_equal(rouse_remove(env->loop, e.self), 0);
	close(ends[0]);
	close(ends[1]);
}

static void f5_asking_for_hangup_shows_the_half_close(void **state)
{
	struct env *env = *state;
	int ends[2];
	struct end e = {0};

	pair(ends);
	e.fd = ends[0];
	watch(env, &e, ROUSE_HANGUP, note);
	assert_int_equal(write(ends[1], "abc", 3), 3);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(shutdown(ends[1], SHUT_WR), 0);
	ENV_UNTIL(env, e.runs);
	assert_int_equal(e.events, ROUSE_HANGUP);
	assert_int_equal(rouse_remove(env->loop, e.self), 0);
	close(ends[0]);
	close(ends[1]);
}

static void f7_both_directions_at_once_in_a_batch_of_one(void **state)
{
	struct env *env = *state;
	int ends[2];
	struct end e = {0};

	env_close(env);
	env_open(env, 1);
	pair(ends);
	e.fd = ends[0];
	watch(env, &e, ROUSE_READABLE | ROUSE_WRITABLE, note);
	assert_int_equal(write(ends[1], "x", 1), 1);
	ENV_UNTIL(env, e.runs);
	assert_int_equal(e.events, ROUSE_READABLE | ROUSE_WRITABLE);
	assert_int_equal(rouse_remove(env->loop, e.self), 0);
	close(ends[0]);
	close(ends[1]);
}

static void interest_changed_in_the_same_batch_counts(void **state)
{
	struct env *env = *state;
	int ends[2];
	struct end e = {0};

	pair(ends);
	e.fd = ends[0];
	watch(env, &e, ROUSE_WRITABLE, note);
	ENV_UNTIL(env, e.runs);
	assert_int_equal(rouse_fd_set_events(env->loop, e.self, ROUSE_READABLE), 0);
	e.runs = 0;
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(e.runs, 0);
	/* Hang-up and error come with any interest. */
	close(ends[1]);
	e.events = 0;
	ENV_UNTIL(env, e.runs);
	assert_true(e.events & ROUSE_HANGUP);
	assert_int_equal(rouse_remove(env->loop, e.self), 0);
	close(ends[0]);
}

static void write_end_of_a_broken_pipe_reports_an_error(void **state)
{
	struct env *env = *state;
	int ends[2];
	struct end e = {0};

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	e.fd = ends[1];
	watch(env, &e, ROUSE_HANGUP, note);
	assert_int_equal(env_drain(env), 0);
	close(ends[0]);
	ENV_UNTIL(env, e.runs);
	assert_true(e.events & ROUSE_FDERROR);
	assert_int_equal(rouse_remove(env->loop, e.self), 0);
	close(ends[1]);
}

/* The number of one that was closed while watched may come to be the loop's own. */
static void f3_the_loops_own_timer_keeps_its_registration(void **state)
{
	struct env *env = *state;
	rouse_loop_options options = {.size = sizeof options, .poller = "epoll"};
	struct end e = {0};
	int ends[2], fired = 0;
	rouse_fd fd;
	struct pollfd guest = {.events = POLLIN};

	assert_int_equal(rouse_loop_destroy(env->loop), 0);
	assert_int_equal(rouse_loop_create(&options, &env->loop), 0);
	pair(ends);
	e.fd = ends[0] < ends[1] ? ends[0] : ends[1];
	watch(env, &e, ROUSE_READABLE, note);
	close(e.fd);
	/* The timer's descriptor is made now, and gets the lowest free number. */
	assert_int_equal(rouse_loop_fd(env->loop, &fd), 0);
	assert_int_equal(rouse_remove(env->loop, e.self), 0);
	assert_int_equal(rouse_loop_turn(env->loop, 0), 0);
	assert_int_equal(
	        rouse_timer_add(env->loop, rouse_now() + 1000000, 0, 0, count_timer, &fired, NULL),
	        0);
	guest.fd = fd;
	assert_int_equal(poll(&guest, 1, -1), 1);
	assert_int_equal(rouse_loop_turn(env->loop, 0), 1);
	close(ends[0] == e.fd ? ends[1] : ends[0]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f5_a_half_close_is_read_once_to_its_end),
	        env_test(f5_asking_for_hangup_shows_the_half_close),
	        env_test(f7_both_directions_at_once_in_a_batch_of_one),
	        env_test(interest_changed_in_the_same_batch_counts),
	        env_test_in(f3_the_loops_own_timer_keeps_its_registration, DESCRIPTOR),
	        env_test(write_end_of_a_broken_pipe_reports_an_error),
	};

	return env_main(argc, argv, "sockets", tests, sizeof tests / sizeof *tests);
}
