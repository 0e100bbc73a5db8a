/* The calls marked ROUSE_SIGNAL_SAFE, from a signal handler, at the worst moments. */
#include "unit.h"

#include "core/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

static rouse_waker *waker;
static rouse_remote *remote;
static int wakes, posts, tasks;
static volatile sig_atomic_t results[3], handled;

static void woken(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	wakes++;
}

static void posted(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	posts++;
}

static void task_ran(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
	tasks++;
}

static rouse_task task = {.run = task_ran};

static void on_signal(int signo)
{
	(void)signo;
	handled = 1;
	results[0] = rouse_wake(waker);
	results[1] = rouse_post_task(remote, &task);
	results[2] = rouse_remote_stop(remote);
}

/* Interrupts this thread once, in the middle of its own wake or post. */
static void raise_at(enum rouse__point point, void *data)
{
	if (point == *(enum rouse__point *)data && !handled)
		raise(SIGUSR1);
}

static void set_up(rouse_loop **ret_loop, const char *poller)
{
	rouse_loop_options options = {.size = sizeof options, .poller = poller};

	wakes = posts = tasks = 0;
	handled = 0;
	assert_int_equal(rouse_loop_create(&options, ret_loop), 0);
	assert_true(rouse_loop_caps(*ret_loop) & ROUSE_CAP_SIGNAL_SAFE_WAKE);
	assert_int_equal(rouse_waker_create(*ret_loop, woken, NULL, &waker), 0);
	remote = rouse_loop_remote(*ret_loop);
	assert_true(signal(SIGUSR1, on_signal) != SIG_ERR);
}

static void tear_down(rouse_loop *loop)
{
	rouse__fault_reset();
	signal(SIGUSR1, SIG_DFL);
	rouse_waker_unref(waker);
	rouse_remote_unref(remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void served_when_interrupted_at(enum rouse__point point, const char *poller)
{
	rouse_loop *loop;

	set_up(&loop, poller);
	rouse__fault_pause(raise_at, &point);
	errno = EDOM;
	if (point == ROUSE__SET_PENDING)
		assert_true(rouse_wake(waker) >= 0);
	else if (point == ROUSE__PUBLISHED)
		assert_int_equal(rouse_post(remote, posted, NULL, NULL), 0);
	else
		raise(SIGUSR1);
	assert_int_equal(errno, EDOM);
	assert_true(handled);
	for (int i = 0; i < 3; i++)
		assert_true(results[i] >= 0);
	/* A stop came too: run ends by itself, with everything done. */
	assert_int_equal(rouse_loop_run(loop), 0);
	while (rouse_loop_turn(loop, 0) > 0)
		;
	assert_int_equal(wakes, 1);
	assert_int_equal(tasks, 1);
	assert_int_equal(posts, point == ROUSE__PUBLISHED);
	tear_down(loop);
}

static void q7_a_handler_wakes_posts_and_stops(void **state)
{
	const char *poller;

	(void)state;
	for (unsigned i = 0; (poller = rouse_poller_name(i)); i++)
		served_when_interrupted_at(ROUSE__POINTS, poller);
}

static void q7_a_handler_interrupts_a_wake_of_the_same_waker(void **state)
{
	const char *poller;

	(void)state;
	for (unsigned i = 0; (poller = rouse_poller_name(i)); i++)
		served_when_interrupted_at(ROUSE__SET_PENDING, poller);
}

static void q7_a_handler_interrupts_a_post(void **state)
{
	const char *poller;

	(void)state;
	for (unsigned i = 0; (poller = rouse_poller_name(i)); i++)
		served_when_interrupted_at(ROUSE__PUBLISHED, poller);
}

static void raise_asleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP && !handled)
		raise(SIGUSR1);
}

static void w3_a_handler_wakes_between_marked_asleep_and_the_wait(void **state)
{
	const char *poller;

	(void)state;
	for (unsigned i = 0; (poller = rouse_poller_name(i)); i++) {
		rouse_loop *loop;

		set_up(&loop, poller);
		rouse__fault_pause(raise_asleep, NULL);
		assert_int_equal(rouse_loop_run(loop), 0);
		assert_int_equal(wakes + tasks, 2);
		tear_down(loop);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(q7_a_handler_wakes_posts_and_stops),
	        cmocka_unit_test(q7_a_handler_interrupts_a_wake_of_the_same_waker),
	        cmocka_unit_test(q7_a_handler_interrupts_a_post),
	        cmocka_unit_test(w3_a_handler_wakes_between_marked_asleep_and_the_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
