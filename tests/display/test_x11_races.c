/*
 * Wakes race loops that come and go with a display attached.
 *
 * The display stays: it is attached to each loop in turn.  The threads take whatever waker is the
 * newest, and go on waking it when its loop is long gone: then they are told that it is closed.
 */
#include "xvfb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rouse/x11.h>

#include <X11/Xlib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 3, LIVES = 200, TURNS = 5 };

static struct xvfb xvfb;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static rouse_waker *newest; /* under the mutex, with a reference of its own */
static atomic_int over;
static atomic_uint answered, closed, wrong;

static void publish(rouse_waker *waker)
{
	pthread_mutex_lock(&mutex);
	rouse_waker_unref(newest);
	newest = rouse_waker_ref(waker);
	pthread_mutex_unlock(&mutex);
}

static rouse_waker *take(void)
{
	rouse_waker *waker;

	pthread_mutex_lock(&mutex);
	waker = rouse_waker_ref(newest);
	pthread_mutex_unlock(&mutex);
	return waker;
}

static void *wake_whatever_is_there(void *data)
{
	(void)data;
	while (!atomic_load(&over)) {
		rouse_waker *waker = take();

		for (int i = 0; waker && i < 100; i++) {
			int result = rouse_wake(waker);

			if (result == ROUSE_ECLOSED)
				atomic_fetch_add(&closed, 1);
			else if (result < 0)
				atomic_fetch_add(&wrong, 1);
			atomic_fetch_add(&answered, 1);
		}
		rouse_waker_unref(waker);
	}
	return NULL;
}

static void woken(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(unsigned *)data;
}

static void one_life(Display *display, Window window, unsigned *runs)
{
	const rouse_loop_options loop_options = {.size = sizeof loop_options,
	                                         .poller = getenv("ROUSE_TEST_POLLER")};
	const rouse_x11_options options = {.size = sizeof options, .display = display};
	rouse_loop *loop;
	rouse_waker *waker;
	rouse_x11 *x11;

	assert_int_equal(rouse_loop_create(&loop_options, &loop), 0);
	assert_int_equal(rouse_waker_create(loop, woken, runs, &waker), 0);
	assert_int_equal(rouse_x11_attach(loop, &options, &x11), 0);
	publish(waker);
	/* Until the threads have found this one. */
	for (int i = 0; i < TURNS; i++) {
		XClearWindow(display, window);
		assert_true(rouse_loop_turn(loop, ROUSE_NEVER) >= 0);
	}
	assert_int_equal(rouse_loop_destroy(loop), 0);
	rouse_waker_unref(waker);
}

static unsigned wakes_wanted(void)
{
	const char *divisor = getenv("ROUSE_TEST_DIVISOR");

	return 200000 / (divisor ? (unsigned)atoi(divisor) : 1);
}

static void w19_wakes_race_loops_with_a_display(void **state)
{
	Display *display = XOpenDisplay(NULL);
	unsigned runs = 0, lives = 0;
	pthread_t threads[THREADS];
	Window window;

	(void)state;
	assert_non_null(display);
	window = XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 9, 9, 0, 0, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wake_whatever_is_there, NULL),
		                 0);
	while (lives < LIVES || atomic_load(&answered) < wakes_wanted() || !atomic_load(&closed)) {
		one_life(display, window, &runs);
		lives++;
	}
	atomic_store(&over, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	publish(NULL);
	assert_int_equal(atomic_load(&wrong), 0);
	assert_true(runs > 0);
	XCloseDisplay(display);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w19_wakes_race_loops_with_a_display),
	};
	int failed;

	xvfb_start(&xvfb);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	xvfb_stop(&xvfb);
	return failed;
}
