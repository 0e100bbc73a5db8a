/*
 * A system whose eventfd makes an edge only when its counter leaves zero: found out by the
 * first loop of a process, so this is a process of its own.  The doorbell is then watched by
 * level and read after each ring.
 */
#include "unit.h"

#include "core/fault.h"

#include <errno.h>

static void wakes_are_served_and_absorbed(void **state)
{
	rouse_loop *loop;
	rouse_waker *waker;
	rouse_ns deadline;
	unsigned absorbed, open = open_descriptors();
	int woken = 0;

	(void)state;
	/* The second ring of the trial is not reported; nor can the watch be changed then. */
	rouse__fault_fail(ROUSE__EPOLL_WAIT, 1, 1, EINTR);
	rouse__fault_fail(ROUSE__EPOLL_CTL, 1, 1, ENOMEM);
	assert_int_equal(rouse_loop_create(NULL, &loop), ROUSE_ENOMEM);
	assert_int_equal(open_descriptors(), open);
	loop = loop_on("epoll", NULL);
	assert_int_equal(rouse_waker_create(loop, count_call, &woken, &waker), 0);
	/* A guest's queue always says that it sleeps, so that each wake rings. */
	assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
	for (int i = 0; i < 100; i++) {
		absorbed = rouse__fault_count(ROUSE__ABSORB);
		assert_int_equal(rouse_wake(waker), 1);
		assert_int_equal(rouse_loop_turn(loop, rouse_now() + HANG), 1);
		assert_int_equal(woken, i + 1);
		assert_int_equal(rouse__fault_count(ROUSE__ABSORB), absorbed + 1);
	}
	/* Silent again, so that nobody spins. */
	assert_int_equal(rouse_loop_turn(loop, 0), 0);
	assert_int_equal(rouse__fault_count(ROUSE__ABSORB), absorbed + 1);
	assert_int_equal(stats_of(loop).wakes_spurious, 0);
	rouse_waker_unref(waker);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(wakes_are_served_and_absorbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
