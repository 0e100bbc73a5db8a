/* On X11: where events hide, a flood from elsewhere, what is written when, and the end of the
 * server. */
#include "subject.h"

#include "x11_server.h"

#include <rouse/x11.h>

#include <X11/Xlib-xcb.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- No sleep on an event ------------------------------------------------------ */

static void x1_event_in_the_socket(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	subject_send(&s, 1);
	fixture_prompt_turn(s.loop);
	assert_int_equal(s.events, 1);
	assert_int_equal(s.after, 1);
	subject_close(&s);
}

static void x1_event_that_a_call_of_the_programs_has_read(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	subject_send(&s, 2);
	XSync(s.display, False);
	assert_int_equal(fixture_bytes(ConnectionNumber(s.display)), 0);
	fixture_prompt_turn(s.loop);
	assert_int_equal(s.events, 2);
	subject_close(&s);
}

static void x10_event_that_xcb_has_read(void **state)
{
	struct subject s = {0};

	(void)state;
	subject_open(&s, NULL);
	xcb_connection_t *xcb = XGetXCBConnection(s.display);
	subject_send(&s, 1);
	free(xcb_get_input_focus_reply(xcb, xcb_get_input_focus(xcb), NULL));
	assert_int_equal(fixture_bytes(ConnectionNumber(s.display)), 0);
	assert_int_equal(XQLength(s.display), 0);
	fixture_prompt_turn(s.loop);
	assert_int_equal(s.events, 1);
	subject_close(&s);
}

/* Another source of the same turn reads it, when the window has been looked at. */
static void sync_display(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                         void *data)
{
	struct subject *s = data;
	char byte;

	(void)events;
	assert_int_equal(read(fd, &byte, 1), 1);
	assert_int_equal(rouse_remove(loop, self), 0);
	subject_send(s, 1);
	XSync(s->display, False);
}

static void x1_event_that_a_descriptors_callback_has_read(void **state)
{
	struct subject s = {0};
	int pipes[2];

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(rouse_fd_add(s.loop, pipes[0], ROUSE_READABLE, sync_display, &s, NULL), 0);
	fixture_prompt_turn(s.loop);
	fixture_prompt_turn(s.loop);
	assert_int_equal(s.events, 1);
	close(pipes[0]);
	close(pipes[1]);
	subject_close(&s);
}

/* ---- No sleep on a request ----------------------------------------------------- */

static void name_window(rouse_loop *loop, void *data)
{
	struct subject *s = data;

	(void)loop;
	XStoreName(s->display, s->window, "renamed");
}

/* As a driver's are, that draws by XCB on Xlib's connection. */
static void name_window_by_xcb(rouse_loop *loop, void *data)
{
	struct subject *s = data;

	(void)loop;
	xcb_change_property(XGetXCBConnection(s->display), XCB_PROP_MODE_REPLACE,
	                    (xcb_window_t)s->window, XCB_ATOM_WM_NAME, XCB_ATOM_STRING, 8, 6,
	                    "by xcb");
}

static void name_is_written(rouse_wake_fn name_it, const char *expected)
{
	struct subject s = {0};
	rouse_waker *waker;
	unsigned ticks = 0;
	char *name = NULL;

	subject_open(&s, NULL);
	assert_int_equal(rouse_waker_create(s.loop, name_it, &s, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	assert_int_equal(
	        rouse_timer_add(s.loop, rouse_now() + MS, 0, 0, fixture_count_timer, &ticks, NULL),
	        0);
	fixture_until(s.loop, &ticks, 1);
	assert_true(XFetchName(s.other, s.window, &name));
	assert_string_equal(name, expected);
	XFree(name);
	rouse_waker_unref(waker);
	subject_close(&s);
}

static void x3_requests_of_a_callback_are_written(void **state)
{
	(void)state;
	name_is_written(name_window, "renamed");
	name_is_written(name_window_by_xcb, "by xcb");
}

/* ---- Floods ---------------------------------------------------------------------- */

/* Another client floods, and waits only for what it has sent before the last burst: SDL's pump goes
 * on for as long as something comes. */
enum { BURST = 500 };

struct sender {
	Window window;
	atomic_uint arrived;
	atomic_bool stop;
};

static void *send_flood(void *data)
{
	struct sender *sender = data;
	Display *display = XOpenDisplay(NULL);

	for (unsigned sent = 0; display && !atomic_load(&sender->stop);) {
		if (sent - atomic_load(&sender->arrived) > BURST)
			continue;
		x11_expose(display, sender->window, BURST);
		XSync(display, False);
		sent += BURST;
	}
	if (display)
		XCloseDisplay(display);
	return NULL;
}

static void count_arrived(struct subject *s)
{
	atomic_fetch_add(&((struct sender *)s->data)->arrived, 1);
}

static void x4_flood_from_another_client_starves_nobody(void **state)
{
	struct subject s = {0};
	struct sender sender = {0};
	pthread_t thread;
	unsigned ticks = 0;

	(void)state;
	subject_open(&s, NULL);
	s.data = &sender;
	s.on_event = count_arrived;
	sender.window = s.window;
	assert_int_equal(pthread_create(&thread, NULL, send_flood, &sender), 0);
	fixture_until(s.loop, &s.events, 4 * BURST);
	assert_int_equal(
	        rouse_timer_add(s.loop, rouse_now(), 10 * MS, 0, fixture_count_timer, &ticks, NULL),
	        0);
	fixture_until(s.loop, &ticks, 30);
	atomic_store(&sender.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	subject_close(&s);
}

/* ---- Which other adapters may join -------------------------------------------------- */

static void its_display_is_attached_once_to_a_loop(void **state)
{
	struct subject s = {0};
	rouse_x11 *x11 = NULL;

	(void)state;
	subject_open(&s, NULL);
	const rouse_x11_options options = {.size = sizeof(options), .display = s.display};
	assert_int_equal(rouse_x11_attach(s.loop, &options, &x11), ROUSE_EEXIST);
	assert_null(x11);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	assert_int_equal(subject_detach(s.attached), 0);
	s.attached = NULL;
	assert_int_equal(rouse_x11_attach(s.loop, &options, &x11), 0);
	assert_int_equal(subject_attach(&s, s.loop, &s.attached), ROUSE_EEXIST);
	assert_null(s.attached);
	assert_int_equal(rouse_x11_detach(x11), 0);
	subject_close(&s);
}

/* ---- The server dies ------------------------------------------------------------- */

static int survive(Display *display)
{
	(void)display;
	return 0;
}

static void survive_exit(Display *display, void *data)
{
	(void)display, (void)data;
}

static void x5_server_killed_and_the_program_survives_xlib(void **state)
{
	struct subject s = {0};
	unsigned ticks = 0;

	(void)state;
	subject_open(&s, NULL);
	XSetIOErrorHandler(survive);
	XSetIOErrorExitHandler(s.display, survive_exit, NULL);
	XCloseDisplay(s.other);
	s.other = NULL;
	server_kill();
	fixture_until(s.loop, &s.lost, 1);
	/* Nothing spins, and the rest goes on. */
	assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 50 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	unsigned turns = 0;
	while (ticks == 0) {
		assert_true(rouse_loop_turn(s.loop, rouse_now() + LONG) >= 0);
		turns++;
	}
	assert_true(turns <= 3);
	assert_int_equal(s.lost, 1);
	assert_int_equal(s.after, s.after_until_lost);
	assert_int_equal(subject_detach(s.attached), 0);
	assert_int_equal(subject_attach(&s, s.loop, &s.attached), ROUSE_ELOST);
	s.attached = NULL;
	/* What the library would do with its dead Display is its own. */
	s.display = NULL;
	assert_int_equal(rouse_loop_destroy(s.loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x1_event_in_the_socket),
	        cmocka_unit_test(x1_event_that_a_call_of_the_programs_has_read),
	        cmocka_unit_test(x10_event_that_xcb_has_read),
	        cmocka_unit_test(x1_event_that_a_descriptors_callback_has_read),
	        cmocka_unit_test(x3_requests_of_a_callback_are_written),
	        cmocka_unit_test(x4_flood_from_another_client_starves_nobody),
	        cmocka_unit_test(its_display_is_attached_once_to_a_loop),
	        /* The last one: the library is left with a display that is no more. */
	        cmocka_unit_test(x5_server_killed_and_the_program_survives_xlib),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
