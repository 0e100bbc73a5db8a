#include "turns.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>

unsigned fixture_scaled(unsigned count)
{
	const char *divisor = getenv("ROUSE_TEST_DIVISOR");
	unsigned by = divisor ? (unsigned)strtoul(divisor, NULL, 10) : 1;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	by = by > 10 ? by : 10;
#endif
	return by > 1 ? count / by : count;
}

void fixture_until(rouse_loop *loop, const unsigned *what, unsigned least)
{
	rouse_ns end = rouse_now() + SOON;

	while (*what < least) {
		assert_true(rouse_now() < end);
		assert_true(rouse_loop_turn(loop, end) >= 0);
	}
}

void fixture_settle(rouse_loop *loop)
{
	while (rouse_loop_turn(loop, 0) > 0)
		;
}

void fixture_prompt_turn(rouse_loop *loop)
{
	rouse_ns start = rouse_now();

	assert_true(rouse_loop_turn(loop, start + LONG) >= 0);
	assert_true(rouse_now() - start < SOON);
}

void fixture_count_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	++*(unsigned *)data;
}

void fixture_count_wake(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(unsigned *)data;
}

int fixture_bytes(int fd)
{
	int bytes = 0;

	assert_int_equal(ioctl(fd, FIONREAD, &bytes), 0);
	return bytes;
}

void fixture_await_bytes_of(int fd, int least)
{
	rouse_ns end = rouse_now() + SOON;

	while (fixture_bytes(fd) < least) {
		assert_true(rouse_now() < end);
		sched_yield();
	}
}
