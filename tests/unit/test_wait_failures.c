/* The wait, the doorbell and the system's timers fail: what was queued runs all the same. */
#include "unit.h"

#include "core/fault.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define FOR_GOOD UINT_MAX

static void a_wait_that_fails_loses_nothing(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		enum rouse__call call = !strcmp(poller, "epoll") ? ROUSE__EPOLL_WAIT : ROUSE__POLL;
		rouse_loop *loop = loop_on(poller, NULL);
		rouse_remote *remote = rouse_loop_remote(loop);
		int ran = 0;

		/* A signal is no error. */
		rouse__fault_fail(call, 0, 1, EINTR);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);

		assert_int_equal(rouse_post(remote, count_call, &ran, NULL), 0);
		rouse__fault_fail(call, 0, 1, EBADF);
		assert_int_equal(rouse_loop_turn(loop, 0), ROUSE_EOS);
		assert_int_equal(rouse_os_error(), EBADF);
		rouse__fault_fail(call, 0, 1, EINVAL);
		assert_int_equal(rouse_loop_run(loop), ROUSE_EOS);
		assert_int_equal(rouse_os_error(), EINVAL);
		assert_true(rouse_loop_turn(loop, 0) >= 0);
		assert_int_equal(ran, 1);

		/* An error does not use the stop up. */
		assert_int_equal(rouse_loop_stop(loop), 0);
		assert_int_equal(rouse_loop_run(loop), 0);
		assert_int_equal(rouse_post(remote, count_call, &ran, NULL), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(ran, 2);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

/* ---- Ringing ------------------------------------------------------------------------------ */

/* Marks that it ran. */
static void run_task(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	task->run = NULL;
}

/* A guest's queue always says that it sleeps, so each first push rings. */
static rouse_loop *guest_on(const char *poller)
{
	rouse_loop *loop = loop_on(poller, NULL);
	rouse_ns deadline;

	assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
	return loop;
}

static void a_doorbell_that_is_broken(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = guest_on(poller);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_task task = {.run = run_task};
		rouse_waker *waker;
		int woken = 0, posted = 0, os_error = rouse_os_error();

		assert_int_equal(rouse_waker_create(loop, count_call, &woken, &waker), 0);
		rouse__fault_fail(ROUSE__RING, 0, FOR_GOOD, EBADFD);
		errno = ERANGE;
		assert_int_equal(rouse_wake(waker), ROUSE_EOS);
		assert_int_equal(errno, ERANGE);
		assert_int_equal(rouse_os_error(), os_error);
		/* Pending already: nobody is asked. */
		assert_int_equal(rouse_wake(waker), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(woken, 1);

		assert_int_equal(rouse_post(remote, count_call, &posted, NULL), 1);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(posted, 1);

		errno = ERANGE;
		assert_int_equal(rouse_post_task(remote, &task), 1);
		assert_int_equal(errno, ERANGE);
		/* It is the loop's all the same. */
		assert_int_equal(rouse_post_task(remote, &task), ROUSE_EEXIST);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_null(task.run);

		assert_int_equal(rouse_remote_stop(remote), 1);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		assert_int_equal(rouse_loop_take_stop(loop), 1);

		assert_int_equal(rouse_os_error(), os_error);
		assert_int_equal(stats_of(loop).wakes_failed, 4);
		assert_int_equal(stats_of(loop).wakes_sent, 0);

		rouse__fault_reset();
		assert_int_equal(rouse_wake(waker), 1);
		assert_int_equal(stats_of(loop).wakes_sent, 1);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(woken, 2);
		rouse_waker_unref(waker);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

static void a_ring_that_is_interrupted_or_full(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = guest_on(poller);
		rouse_waker *waker;
		int woken = 0;

		assert_int_equal(rouse_waker_create(loop, count_call, &woken, &waker), 0);
		for (int i = 0; i < 3; i++) {
			const int errors[] = {EINTR, EAGAIN, EAGAIN};

			/* The last one: full again at once, by somebody whose ring counts. */
			rouse__fault_fail(ROUSE__RING, 0, i == 2 ? 2 : 1, errors[i]);
			errno = ERANGE;
			assert_int_equal(rouse_wake(waker), 1);
			assert_int_equal(errno, ERANGE);
			assert_int_equal(rouse_loop_turn(loop, 0), 1);
			assert_int_equal(woken, i + 1);
		}
		assert_int_equal(stats_of(loop).wakes_failed, 0);
		rouse_waker_unref(waker);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

/* ---- Deadlines: the last test, a system without epoll_pwait2 is remembered ------------------- */

static void note_time(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	rouse_ns now = rouse_loop_now(loop);

	(void)self;
	assert_true(now >= deadline);
	*(rouse_ns *)data = now;
}

static void deadlines_without_epoll_pwait2(void **state)
{
	rouse_loop *loop = loop_on("epoll", NULL);
	rouse_ns at = rouse_now() + 300000, fired = 0;
	unsigned open = open_descriptors(), waits;

	(void)state;
	assert_int_equal(rouse_timer_add(loop, at, 0, 0, note_time, &fired, NULL), 0);
	rouse__fault_reset();
	rouse__fault_fail(ROUSE__EPOLL_PWAIT2, 0, FOR_GOOD, ENOSYS);

	/* Nor a timer in its place: an error, and the deadline is not forgotten. */
	rouse__fault_fail(ROUSE__TIMERFD, 0, 1, EMFILE);
	assert_int_equal(rouse_loop_turn(loop, ROUSE_NEVER), ROUSE_EOS);
	assert_int_equal(rouse_os_error(), EMFILE);
	assert_int_equal(open_descriptors(), open);
	while (!fired)
		assert_true(rouse_loop_turn(loop, rouse_now() + HANG) >= 0);
	assert_true(fired - at < HANG);

	/* Exactly on time takes one wait, not a spin through the last millisecond. */
	for (int i = 0; i < 20; i++) {
		fired = 0;
		at = rouse_now() + 300000;
		assert_int_equal(rouse_timer_add(loop, at, 0, 0, note_time, &fired, NULL), 0);
		waits = rouse__fault_count(ROUSE__EPOLL_WAIT);
		while (!fired)
			assert_true(rouse_loop_turn(loop, rouse_now() + HANG) >= 0);
		assert_true(fired - at < HANG);
		assert_in_range(rouse__fault_count(ROUSE__EPOLL_WAIT) - waits, 1, 2);
	}
	assert_true(rouse__fault_count(ROUSE__TIMERFD_SETTIME) >= 20);
	rouse__fault_reset();
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static int reset(void **state)
{
	(void)state;
	rouse__fault_reset();
	return 0;
}

/* Before anything is made to fail: whether the doorbell makes edges is found out once. */
static int find_out(void **state)
{
	(void)state;
	return rouse_loop_destroy(loop_on(NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(a_wait_that_fails_loses_nothing, reset, reset),
	        cmocka_unit_test_setup_teardown(a_doorbell_that_is_broken, reset, reset),
	        cmocka_unit_test_setup_teardown(a_ring_that_is_interrupted_or_full, reset, reset),
	        cmocka_unit_test_setup_teardown(deadlines_without_epoll_pwait2, reset, reset),
	};

	return cmocka_run_group_tests(tests, find_out, NULL);
}
