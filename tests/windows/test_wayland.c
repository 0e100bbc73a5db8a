/* On Wayland: who reads, what is written when, and the end of the compositor. */
#include "subject.h"

#include "wayland_server.h"

#include <rouse/wayland.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <wayland-client.h>

static void x3_requests_are_written_and_answers_end_the_sleep(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	for (unsigned i = 1; i <= 20; i++) {
		subject_ask(&s, 1);
		fixture_until(s.loop, &s.events, i);
	}
	assert_true(s.after > 0);
	subject_close(&s);
}

static void y3_event_that_another_queues_round_trip_has_read(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	subject_queue(&s, 1);
	assert_int_equal(fixture_bytes(server_fd(&s)), 0);
	fixture_prompt_turn(s.loop);
	assert_int_equal(s.events, 1);
	subject_close(&s);
}

/* Reads whatever comes, by libwayland's rules, and asks for nothing. */
struct reader {
	struct wl_display *display;
	atomic_bool stop;
};

static void *read_on(void *data)
{
	struct reader *reader = data;
	struct wl_event_queue *queue = wl_display_create_queue(reader->display);
	struct pollfd pollfd = {.fd = wl_display_get_fd(reader->display), .events = POLLIN};

	while (!atomic_load(&reader->stop)) {
		if (wl_display_prepare_read_queue(reader->display, queue) < 0)
			wl_display_dispatch_queue_pending(reader->display, queue);
		else if (poll(&pollfd, 1, 20) > 0)
			wl_display_read_events(reader->display);
		else
			wl_display_cancel_read(reader->display);
	}
	wl_event_queue_destroy(queue);
	return NULL;
}

/* What it reads for us ends our sleep, because we hold an intent as well. */
static void y2_another_thread_reads(void **state)
{
	struct subject s = {0};
	struct reader reader = {0};
	pthread_t thread;

	(void)state;
	subject_open(&s, NULL);
	reader.display = s.wayland;
	assert_int_equal(pthread_create(&thread, NULL, read_on, &reader), 0);
	for (unsigned i = 1; i <= fixture_scaled(1000); i++) {
		subject_ask(&s, 1);
		fixture_until(s.loop, &s.events, i);
	}
	atomic_store(&reader.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	subject_close(&s);
}

static void *push(void *data)
{
	library_push();
	return data;
}

static void w7_the_librarys_own_wake_ends_the_sleep(void **state)
{
	struct subject s = {0};
	pthread_t thread;

	(void)state;
	subject_open(&s, NULL);
	for (unsigned i = 1; i <= 100; i++) {
		s.after = 0;
		assert_int_equal(pthread_create(&thread, NULL, push, NULL), 0);
		fixture_until(s.loop, &s.after, 1);
		assert_int_equal(pthread_join(thread, NULL), 0);
		fixture_settle(s.loop);
	}
	subject_close(&s);
}

/* A host that promises to hold, and detaches instead of waiting: a round trip would wait for the
 * intent. */
static void y1_detach_gives_the_intent_up(void **state)
{
	struct subject s = {0};
	rouse_ns deadline;

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(rouse_loop_prepare(s.loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	assert_int_equal(subject_detach(s.attached), 0);
	s.attached = NULL;
	alarm(30);
	server_round_trip(&s);
	alarm(0);
	subject_close(&s);
}

/* ---- Which other adapters may join -------------------------------------------------- */

/* Two intents of one thread would wait for each other. */
static void its_display_is_attached_once_to_a_loop(void **state)
{
	struct subject s = {0};
	rouse_wayland *wayland = NULL;

	(void)state;
	subject_open(&s, NULL);
	rouse_wayland_options options = {.size = sizeof(options), .display = s.wayland};
	options.queue = wl_display_create_queue(s.wayland);
	assert_int_equal(rouse_wayland_attach(s.loop, &options, &wayland), ROUSE_EEXIST);
	assert_null(wayland);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	assert_int_equal(subject_detach(s.attached), 0);
	s.attached = NULL;
	assert_int_equal(rouse_wayland_attach(s.loop, &options, &wayland), 0);
	assert_int_equal(subject_attach(&s, s.loop, &s.attached), ROUSE_EEXIST);
	assert_null(s.attached);
	assert_int_equal(rouse_wayland_detach(wayland), 0);
	wl_event_queue_destroy(options.queue);
	assert_int_equal(subject_attach(&s, s.loop, &s.attached), 0);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 2);
	subject_close(&s);
}

/* ---- A compositor that stops, and one that dies ---------------------------------------- */

static void on_global(void *data, struct wl_registry *registry, uint32_t name, const char *is,
                      uint32_t version)
{
	(void)version;
	if (!strcmp(is, wl_compositor_interface.name))
		*(struct wl_compositor **)data =
		        wl_registry_bind(registry, name, &wl_compositor_interface, 1);
}

static struct wl_compositor *bind_compositor(struct subject *s)
{
	static const struct wl_registry_listener listener = {.global = on_global};
	struct wl_registry *registry = wl_display_get_registry(s->wayland);
	struct wl_compositor *compositor = NULL;

	wl_registry_add_listener(registry, &listener, &compositor);
	server_round_trip(s);
	wl_registry_destroy(registry);
	assert_non_null(compositor);
	return compositor;
}

/* Requests that nothing answers; forgotten here, and left to the compositor. */
static void fill_the_socket(struct subject *s, struct wl_compositor *compositor)
{
	do {
		for (int i = 0; i < 16; i++)
			wl_proxy_destroy(
			        (struct wl_proxy *)wl_compositor_create_region(compositor));
	} while (wl_display_flush(s->wayland) >= 0);
	assert_int_equal(errno, EAGAIN);
}

/* It takes nothing any more: the loop wakes as ever, and waits for room. */
static void y5_stopped_compositor(void **state)
{
	struct subject s = {0};
	unsigned wakes = 0, turns = 0, ticks = 0;
	rouse_waker *waker;

	(void)state;
	subject_open(&s, NULL);
	struct wl_compositor *compositor = bind_compositor(&s);
	fixture_settle(s.loop);
	assert_int_equal(rouse_waker_create(s.loop, fixture_count_wake, &wakes, &waker), 0);
	weston_freeze(&wayland_server);
	fill_the_socket(&s, compositor);
	/* The one that is answered is the last to be written. */
	subject_ask(&s, 1);
	for (unsigned i = 1; i <= 100; i++) {
		assert_true(rouse_wake(waker) >= 0);
		fixture_until(s.loop, &wakes, i);
	}
	assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 50 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	while (ticks == 0) {
		assert_true(rouse_loop_turn(s.loop, rouse_now() + LONG) >= 0);
		turns++;
	}
	assert_true(turns <= 3);
	weston_thaw(&wayland_server);
	fixture_until(s.loop, &s.events, 1);
	assert_int_equal(s.lost, 0);
	wl_compositor_destroy(compositor);
	rouse_waker_unref(waker);
	subject_close(&s);
}

static void compositor_dies(unsigned unwritten)
{
	struct subject s = {0};
	unsigned ticks = 0, turns = 0;
	void *attached = NULL;

	subject_open(&s, NULL);
	server_kill();
	subject_ask(&s, unwritten);
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
	assert_int_equal(subject_detach(s.attached), 0);
	s.attached = NULL;
	assert_int_equal(subject_attach(&s, s.loop, &attached), ROUSE_ELOST);
	subject_close(&s);
	server_start();
}

static void y6_compositor_killed(void **state)
{
	(void)state;
	compositor_dies(0);
}

static void y6_compositor_killed_before_all_was_written(void **state)
{
	(void)state;
	compositor_dies(1);
	compositor_dies(100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x3_requests_are_written_and_answers_end_the_sleep),
	        cmocka_unit_test(y3_event_that_another_queues_round_trip_has_read),
	        cmocka_unit_test(y2_another_thread_reads),
	        cmocka_unit_test(w7_the_librarys_own_wake_ends_the_sleep),
	        cmocka_unit_test(y1_detach_gives_the_intent_up),
	        cmocka_unit_test(its_display_is_attached_once_to_a_loop),
	        cmocka_unit_test(y5_stopped_compositor),
	        cmocka_unit_test(y6_compositor_killed),
	        cmocka_unit_test(y6_compositor_killed_before_all_was_written),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
