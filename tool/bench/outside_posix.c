#include "bench/outside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "bench/run.h"
#include "tool.h"

const char outside_ticker[] = "timerfd";

struct outside {
	struct run *run;
	int tick_fd, end_fd;
};

static struct timespec timespec_of(rouse_ns ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / TOOL_NS_PER_SEC),
	                         .tv_nsec = (long)(ns % TOOL_NS_PER_SEC)};
}

static void on_tick(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct outside *outside = data;
	uint64_t expirations;

	(void)self;
	(void)events;
	if (read(fd, &expirations, sizeof expirations) == sizeof expirations)
		run_ticked(outside->run, now, expirations);
}

/* The worker has fired everything. */
static void on_end(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)fd;
	(void)events;
	(void)data;
	rouse_remove(loop, self);
	rouse_loop_stop(loop);
}

static int watch(struct outside *outside, int fd, rouse_fd_fn fn)
{
	int rc;

	if (fd < 0) {
		tool_complain("cannot make a descriptor: %s", strerror(errno));
		return -1;
	}
	rc = rouse_fd_add(outside->run->loop, fd, ROUSE_READABLE, fn, outside, NULL);
	if (rc < 0)
		tool_complain("cannot watch a descriptor: %s", rouse_strerror(rc));
	return rc < 0 ? -1 : 0;
}

/* What the loop watches already stays open until it is gone: so the caller closes. */
static int open_descriptors(struct outside *outside)
{
	outside->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (watch(outside, outside->tick_fd, on_tick) < 0)
		return -1;
	outside->end_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return watch(outside, outside->end_fd, on_end);
}

int outside_open(struct run *run, struct outside **ret_outside)
{
	struct outside *outside = calloc(1, sizeof *outside);

	if (!outside) {
		tool_complain("no memory for a descriptor");
		return -1;
	}
	*outside = (struct outside){.run = run, .tick_fd = -1, .end_fd = -1};
	*ret_outside = outside;
	return open_descriptors(outside);
}

int outside_arm(struct outside *outside, rouse_ns first, rouse_ns interval)
{
	struct itimerspec ticks = {.it_value = timespec_of(first),
	                           .it_interval = timespec_of(interval)};

	if (timerfd_settime(outside->tick_fd, TFD_TIMER_ABSTIME, &ticks, NULL) == 0)
		return 0;
	tool_complain("timerfd: %s", strerror(errno));
	return -1;
}

void outside_disarm(struct outside *outside)
{
	timerfd_settime(outside->tick_fd, 0, &(struct itimerspec){{0, 0}, {0, 0}}, NULL);
}

void outside_end(struct outside *outside)
{
	eventfd_write(outside->end_fd, 1);
}

void outside_close(struct outside *outside)
{
	if (!outside)
		return;
	if (outside->tick_fd >= 0)
		close(outside->tick_fd);
	if (outside->end_fd >= 0)
		close(outside->end_fd);
	free(outside);
}
