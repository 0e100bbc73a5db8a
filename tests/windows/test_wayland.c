/* A window of the library's on Wayland. */
#include "wayland_subject.h"

#include "display/traced.h"
#include "display/weston.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <wayland-client.h>

static struct weston server;
static struct wayland_subject s;

static void on_done(void *data, struct wl_callback *callback, uint32_t serial)
{
	(void)serial;
	wl_callback_destroy(callback);
	++*(unsigned *)data;
}

static const struct wl_callback_listener done_listener = {.done = on_done};

/* An answer of the compositor's to come, on the default queue.  Nothing is written yet. */
static void ask(unsigned *done)
{
	wl_callback_add_listener(wl_display_sync(s.display), &done_listener, done);
}

static void settle(void)
{
	unsigned done = 0;

	/* What the compositor had to say of the window. */
	for (unsigned i = 1; i <= 3; i++) {
		ask(&done);
		fixture_until(s.loop, &done, i);
	}
	fixture_settle(s.loop);
}

static void x3_requests_are_written_and_answers_end_the_sleep(void **state)
{
	unsigned done = 0;

	(void)state;
	s.after = 0;
	ask(&done);
	fixture_until(s.loop, &done, 1);
	assert_true(s.after > 0);
}

static void y3_event_that_another_queues_round_trip_has_read(void **state)
{
	struct wl_event_queue *queue = wl_display_create_queue(s.display);
	unsigned done = 0;

	(void)state;
	ask(&done);
	assert_true(wl_display_roundtrip_queue(s.display, queue) >= 0);
	assert_int_equal(done, 0);
	assert_int_equal(fixture_bytes(wl_display_get_fd(s.display)), 0);
	fixture_prompt_turn(s.loop);
	assert_int_equal(done, 1);
	wl_event_queue_destroy(queue);
}

/* Reads whatever comes, by libwayland's rules, and asks for nothing. */
static void *read_on(void *data)
{
	struct wl_event_queue *queue = wl_display_create_queue(s.display);
	struct pollfd pollfd = {.fd = wl_display_get_fd(s.display), .events = POLLIN};

	while (!atomic_load((atomic_bool *)data)) {
		if (wl_display_prepare_read_queue(s.display, queue) < 0)
			wl_display_dispatch_queue_pending(s.display, queue);
		else if (poll(&pollfd, 1, 20) > 0)
			wl_display_read_events(s.display);
		else
			wl_display_cancel_read(s.display);
	}
	wl_event_queue_destroy(queue);
	return NULL;
}

/* What it reads for us ends our sleep, because we hold an intent as well. */
static void y2_another_thread_reads(void **state)
{
	atomic_bool stop = false;
	unsigned done = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_on, &stop), 0);
	for (unsigned i = 1; i <= fixture_scaled(1000); i++) {
		ask(&done);
		fixture_until(s.loop, &done, i);
	}
	atomic_store(&stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void w4_w6_wakes(void **state)
{
	unsigned wakes = 0;
	rouse_waker *waker;

	(void)state;
	assert_int_equal(rouse_waker_create(s.loop, fixture_count_wake, &wakes, &waker), 0);
	for (unsigned i = 1; i <= 1000; i++) {
		assert_true(rouse_wake(waker) >= 0);
		fixture_until(s.loop, &wakes, i);
	}
	fixture_settle(s.loop);
	assert_int_equal(wakes, 1000);
	rouse_waker_unref(waker);
}

static void *push(void *data)
{
	wayland_subject_push();
	return data;
}

static void w7_the_librarys_own_wake_ends_the_sleep(void **state)
{
	pthread_t thread;

	(void)state;
	s.after = 0;
	assert_int_equal(pthread_create(&thread, NULL, push, NULL), 0);
	fixture_until(s.loop, &s.after, 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static int traced(const char *what)
{
	unsigned ticks = 0;

	if (rouse_loop_create(NULL, &s.loop) || !wayland_subject_open(&s))
		return 1;
	settle();
	/* What the library still had to do. */
	if (rouse_timer_add(s.loop, rouse_now() + 600 * MS, 0, 0, fixture_count_timer, &ticks,
	                    NULL))
		return 1;
	fixture_until(s.loop, &ticks, 1);
	fixture_settle(s.loop);
	if (!strcmp(what, "idle"))
		traced_idle(s.loop);
	else
		traced_wakes(s.loop, NULL, NULL);
	wayland_subject_detach();
	return rouse_loop_destroy(s.loop);
}

static void w20_idle_loop_makes_no_system_call(void **state)
{
	struct counts counts = traced_run("idle");

	(void)state;
	assert_int_equal(counts.waits, 1);
	assert_int_equal(counts.writes + counts.reads + counts.others, 0);
}

static void w20_wake_costs_two_system_calls(void **state)
{
	struct counts counts = traced_run("wake");

	(void)state;
	assert_int_equal(counts.reads + counts.others, 0);
	assert_true(counts.writes <= TRACED_WAKES);
	assert_true(counts.waits <= TRACED_WAKES + 2);
}

static void y6_compositor_killed(void **state)
{
	unsigned ticks = 0, turns = 0, done = 0;

	(void)state;
	weston_kill(&server);
	/* What the program still asks for can be written no more. */
	ask(&done);
	fixture_until(s.loop, &s.lost, 1);
	fixture_settle(s.loop);
	assert_true(s.asked_to_close);
	assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 50 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	while (ticks == 0) {
		assert_true(rouse_loop_turn(s.loop, rouse_now() + LONG) >= 0);
		turns++;
	}
	assert_true(turns <= 3);
	assert_int_equal(s.lost, 1);
}

static int open_window(void **state)
{
	(void)state;
	settle();
	return 0;
}

static int close_window(void **state)
{
	(void)state;
	wayland_subject_detach();
	return rouse_loop_destroy(s.loop);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x3_requests_are_written_and_answers_end_the_sleep),
	        cmocka_unit_test(y3_event_that_another_queues_round_trip_has_read),
	        cmocka_unit_test(y2_another_thread_reads),
	        cmocka_unit_test(w4_w6_wakes),
	        cmocka_unit_test(w7_the_librarys_own_wake_ends_the_sleep),
	        cmocka_unit_test(w20_idle_loop_makes_no_system_call),
	        cmocka_unit_test(w20_wake_costs_two_system_calls),
	        /* The last one. */
	        cmocka_unit_test(y6_compositor_killed),
	};

	if (argc > 1)
		return traced(argv[1]);
	traced_or_skip();
	weston_start(&server);
	if (rouse_loop_create(NULL, &s.loop))
		return 1;
	if (!wayland_subject_open(&s)) {
		print_message("SKIP: the library does not run on this compositor\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, open_window, close_window);
}
