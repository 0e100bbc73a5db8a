/* The descriptors that the library makes: close-on-exec, never a standard stream's, none left. */
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NUMBERS 256

/* What a child has to say, as its exit status. */
enum { FINE, NOT_CREATED, STANDARD, INHERITED, NONE_SEEN, LEFT };

static void see(char open[NUMBERS])
{
	for (int fd = 0; fd < NUMBERS; fd++)
		open[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* Of the numbers that were not open before. */
static int judge(const char before[NUMBERS])
{
	int seen = 0;

	for (int fd = 0; fd < NUMBERS; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (before[fd] || flags < 0)
			continue;
		if (fd <= 2)
			return STANDARD;
		if (!(flags & FD_CLOEXEC))
			return INHERITED;
		seen++;
	}
	return seen ? FINE : NONE_SEEN;
}

/* Two loops, so that there are more of ours than standard streams. */
static int use_loops(const char *poller)
{
	rouse_loop_options options = {.size = sizeof options, .poller = poller};
	rouse_loop *loops[2];
	char before[NUMBERS], after[NUMBERS];
	int verdict;

	see(before);
	for (size_t i = 0; i < COUNT(loops); i++) {
		rouse_ns soon = rouse_now() + MS;
		rouse_fd fd;

		if (rouse_loop_create(&options, &loops[i]))
			return NOT_CREATED;
		/* The descriptors that are made when they are needed. */
		if (rouse_timer_add(loops[i], soon, 0, 0, ignore_timer, NULL, NULL) ||
		    rouse_loop_turn(loops[i], soon + HANG) < 0)
			return NOT_CREATED;
		if ((rouse_loop_caps(loops[i]) & ROUSE_CAP_POLLABLE) &&
		    rouse_loop_fd(loops[i], &fd))
			return NOT_CREATED;
	}
	verdict = judge(before);
	for (size_t i = 0; i < COUNT(loops); i++)
		if (rouse_loop_destroy(loops[i]))
			return LEFT;
	see(after);
	return verdict ? verdict : memcmp(before, after, NUMBERS) ? LEFT : FINE;
}

/* In a child whose standard streams are closed as `closed` says, one bit each. */
static int in_child(const char *poller, unsigned closed)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		for (int fd = 0; fd <= 2; fd++)
			if (closed & 1u << fd)
				close(fd);
		_exit(use_loops(poller));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void f11_close_on_exec_and_no_standard_stream(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		for (unsigned closed = 0; closed < 8; closed++)
			assert_int_equal(in_child(poller, closed), FINE);
	}
}

static void f9_none_left_after_the_end(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		unsigned open = open_descriptors();

		for (int i = 0; i < 20; i++)
			assert_int_equal(use_loops(poller), FINE);
		assert_int_equal(open_descriptors(), open);
	}
}

/* The doorbell's number is not given back while anyone could still ring it. */
static void the_doorbell_lives_as_long_as_its_ringers(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		unsigned open = open_descriptors();
		rouse_loop *loop = loop_on(poller, NULL);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_waker *waker;

		assert_int_equal(rouse_waker_create(loop, NULL, NULL, &waker), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_int_equal(open_descriptors(), open + 1);
		rouse_remote_unref(remote);
		assert_int_equal(open_descriptors(), open + 1);
		rouse_waker_unref(waker);
		assert_int_equal(open_descriptors(), open);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(f11_close_on_exec_and_no_standard_stream),
	        cmocka_unit_test(f9_none_left_after_the_end),
	        cmocka_unit_test(the_doorbell_lives_as_long_as_its_ringers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
