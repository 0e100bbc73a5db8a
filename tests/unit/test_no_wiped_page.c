/* Where the system wipes no page on fork, fork() itself tells: all as it is elsewhere. */
#include "unit.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* In place of the C library's. */
int madvise(void *address, size_t length, int advice)
{
	(void)address, (void)length, (void)advice;
	errno = EINVAL;
	return -1;
}

static int child_of(rouse_loop *loop, rouse_waker *waker, const int *n)
{
	if (rouse_wake(waker) != ROUSE_EFORKED || rouse_loop_turn(loop, 0) != ROUSE_EFORKED)
		return 1;
	if (rouse_loop_after_fork(loop) != 0 || rouse_wake(waker) < 0)
		return 2;
	if (rouse_loop_turn(loop, ROUSE_NEVER) != 1 || *n != 1)
		return 3;
	return rouse_loop_destroy(loop) ? 4 : 0;
}

static void f10_fork_tells(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, NULL);
		rouse_waker *waker;
		int n = 0, status;
		pid_t child;

		assert_int_equal(rouse_waker_create(loop, count_call, &n, &waker), 0);
		child = fork();
		if (!child)
			_exit(child_of(loop, waker, &n));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		assert_true(rouse_wake(waker) >= 0);
		assert_int_equal(rouse_loop_turn(loop, ROUSE_NEVER), 1);
		rouse_waker_unref(waker);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(f10_fork_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
