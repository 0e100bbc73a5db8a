/* The tests' host is an epoll. */
#include "env.h"

#include "core/fault.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

void env_outer_open(struct env *env)
{
	struct epoll_event event = {.events = EPOLLIN};
	rouse_fd fd;

	env->outer = epoll_create1(EPOLL_CLOEXEC);
	assert_true(env->outer >= 0);
	assert_int_equal(rouse_loop_fd(env->loop, &fd), 0);
	assert_int_equal(epoll_ctl(env->outer, EPOLL_CTL_ADD, fd, &event), 0);
}

void env_outer_close(struct env *env)
{
	if (env->outer >= 0)
		close(env->outer);
}

/* Rounded down: a host may wake early, and then turns again. */
static int milliseconds(rouse_ns deadline)
{
	rouse_ns now = rouse_now();

	if (deadline == ROUSE_NEVER)
		return -1;
	return deadline <= now ? 0 : (int)((deadline - now) / 1000000);
}

int env_outer_wait(struct env *env, rouse_ns deadline)
{
	struct epoll_event event;
	int n;

	rouse__fault_reached(ROUSE__MARKED_ASLEEP);
	do
		n = epoll_wait(env->outer, &event, 1, milliseconds(deadline));
	while (n < 0 && errno == EINTR);
	return n > 0;
}

int env_readable(struct env *env)
{
	struct pollfd fd = {.events = POLLIN};

	assert_int_equal(rouse_loop_fd(env->loop, &fd.fd), 0);
	return poll(&fd, 1, 0);
}

void env_wait_readable(struct env *env)
{
	struct pollfd fd = {.events = POLLIN};

	assert_int_equal(rouse_loop_fd(env->loop, &fd.fd), 0);
	assert_int_equal(poll(&fd, 1, -1), 1);
}
