/* Xlib's connection, whose event queue is XCB's. */
#include "xcb_fixture.h"
#include "xvfb.h"

#include <rouse/x11.h>

#include <X11/Xlib-xcb.h>
#include <X11/Xatom.h>

static struct xvfb server;

static unsigned xlib_errors;

static int xlib_error(Display *display, XErrorEvent *error)
{
	(void)display, (void)error;
	xlib_errors++;
	return 0;
}

/* The fixture's connection is Xlib's from here on. */
static Display *make_it_xlibs(struct xcb_fixture *f)
{
	assert_int_equal(rouse_xcb_detach(f->xcb), 0);
	xcb_disconnect(f->connection);
	Display *display = XOpenDisplay(NULL);
	assert_non_null(display);
	XSetEventQueueOwner(display, XCBOwnsEventQueue);
	f->connection = XGetXCBConnection(display);
	f->window = xcb_fixture_window(f->connection);
	rouse_xcb_options options = xcb_fixture_options(f);
	assert_int_equal(rouse_xcb_attach(f->loop, &options, &f->xcb), 0);
	fixture_settle(f->loop);
	return display;
}

static void close_xlibs(struct xcb_fixture *f, Display *display)
{
	if (f->xcb)
		assert_int_equal(rouse_xcb_detach(f->xcb), 0);
	f->xcb = NULL;
	f->connection = NULL;
	/* Xlib and XCB work on. */
	XSync(display, False);
	xcb_fixture_sync(XGetXCBConnection(display));
	XCloseDisplay(display);
	xcb_fixture_close(f);
}

static void sync_in_callback(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	(void)event;
	f->on_event = NULL;
	xcb_fixture_send(f, 2);
	XSync(f->data, False);
	assert_false(xcb_fixture_readable(f));
}

static void x1_xlib_sync_in_callback_does_not_sleep(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	Display *display = make_it_xlibs(&f);
	f.data = display;
	f.on_event = sync_in_callback;
	xcb_fixture_send(&f, 1);
	while (f.events < 2)
		fixture_prompt_turn(f.loop);
	assert_int_equal(f.last, 2);
	xcb_fixture_send(&f, 3);
	XSync(display, False);
	assert_false(xcb_fixture_readable(&f));
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.last, 3);
	close_xlibs(&f, display);
}

static void see_property(rouse_loop *loop, rouse_xcb *xcb, void *event, void *data)
{
	(void)loop, (void)xcb;
	if (((xcb_generic_event_t *)event)->response_type == XCB_PROPERTY_NOTIFY)
		++*(unsigned *)data;
}

struct request {
	Display *display;
	Window window;
	unsigned made;
};

/* Xlib's, XCB's, and both in turn. */
static void change_property(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct request *r = data;
	xcb_connection_t *c = XGetXCBConnection(r->display);

	(void)loop, (void)self, (void)deadline;
	if (++r->made % 2) {
		XChangeProperty(r->display, r->window, XA_CUT_BUFFER0, XA_STRING, 8,
		                PropModeReplace, (const unsigned char *)"x", 1);
	} else {
		xcb_change_property(c, XCB_PROP_MODE_REPLACE, (xcb_window_t)r->window,
		                    XCB_ATOM_CUT_BUFFER0, XCB_ATOM_STRING, 8, 1, "x");
	}
}

static void x3_xlib_requests_are_written_before_sleep(void **state)
{
	const uint32_t mask = XCB_EVENT_MASK_PROPERTY_CHANGE;
	struct xcb_fixture f;
	unsigned seen = 0;
	rouse_xcb *watcher;

	(void)state;
	xcb_fixture_open(&f, NULL);
	Display *display = make_it_xlibs(&f);
	struct request request = {.display = display, .window = f.window};
	xcb_change_window_attributes(f.other, f.window, XCB_CW_EVENT_MASK, &mask);
	xcb_fixture_sync(f.other);
	rouse_xcb_options options = {.size = sizeof(options),
	                             .connection = f.other,
	                             .data = &seen,
	                             .event = see_property};
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &watcher), 0);
	fixture_settle(f.loop);
	for (unsigned i = 1; i <= 6; i++) {
		assert_int_equal(
		        rouse_timer_add(f.loop, rouse_now(), 0, 0, change_property, &request, NULL),
		        0);
		fixture_until(f.loop, &seen, i);
	}
	assert_int_equal(rouse_xcb_detach(watcher), 0);
	close_xlibs(&f, display);
}

/* Each library's errors are its own. */
static void x6_errors_go_to_whoever_asked(void **state)
{
	struct xcb_fixture f;

	(void)state;
	XSetErrorHandler(xlib_error);
	xlib_errors = 0;
	xcb_fixture_open(&f, NULL);
	Display *display = make_it_xlibs(&f);
	XMapWindow(display, 1);
	XSync(display, False);
	fixture_settle(f.loop);
	assert_int_equal(xlib_errors, 1);
	assert_int_equal(f.errors, 0);
	xcb_map_window(f.connection, 1);
	fixture_until(f.loop, &f.errors, 1);
	assert_int_equal(xlib_errors, 1);
	close_xlibs(&f, display);
	XSetErrorHandler(NULL);
}

static void attach_refuses_what_rouse_x11_has(void **state)
{
	struct xcb_fixture f;
	rouse_x11 *x11;
	rouse_xcb *xcb;

	(void)state;
	xcb_fixture_open(&f, NULL);
	Display *display = make_it_xlibs(&f);
	rouse_x11_options x11_options = {.size = sizeof(x11_options), .display = display};
	assert_int_equal(rouse_x11_attach(f.loop, &x11_options, &x11), ROUSE_EEXIST);
	/* The first is unharmed. */
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	/* And the other way round. */
	rouse_xcb_options options = xcb_fixture_options(&f);
	assert_int_equal(rouse_xcb_detach(f.xcb), 0);
	f.xcb = NULL;
	assert_int_equal(rouse_x11_attach(f.loop, &x11_options, &x11), 0);
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &xcb), ROUSE_EEXIST);
	assert_int_equal(rouse_x11_detach(x11), 0);
	close_xlibs(&f, display);
}

/* With handlers of the program's, which return: whoever it is that meets the dead server. */
static int return_from_io_error(Display *display)
{
	(void)display;
	return 0;
}

static void return_from_exit(Display *display, void *data)
{
	(void)display;
	(void)data;
}

static void xlib_server_killed(bool xlib_has_requests)
{
	static Display *husks[2]; /* closing them would end the process */
	struct xcb_fixture f;
	static struct xvfb dying;
	unsigned ticks = 0;

	xvfb_start(&dying);
	xcb_fixture_open(&f, NULL);
	husks[xlib_has_requests] = make_it_xlibs(&f);
	XSetIOErrorHandler(return_from_io_error);
	XSetIOErrorExitHandler(husks[xlib_has_requests], return_from_exit, NULL);
	if (xlib_has_requests)
		XClearWindow(husks[xlib_has_requests], f.window);
	xvfb_kill(&dying);
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.reason, XCB_CONN_ERROR);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now() + 20 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	fixture_until(f.loop, &ticks, 1);
	assert_int_equal(f.lost, 1);
	assert_int_equal(rouse_xcb_detach(f.xcb), 0);
	f.xcb = NULL;
	f.connection = NULL;
	xcb_fixture_close(&f);
	XSetIOErrorHandler(NULL);
	xvfb_stop(&dying);
	xvfb_start(&server);
}

static void x5_server_of_xlibs_connection_killed(void **state)
{
	(void)state;
	xlib_server_killed(false);
	xlib_server_killed(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x1_xlib_sync_in_callback_does_not_sleep),
	        cmocka_unit_test(x3_xlib_requests_are_written_before_sleep),
	        cmocka_unit_test(x6_errors_go_to_whoever_asked),
	        cmocka_unit_test(attach_refuses_what_rouse_x11_has),
	        cmocka_unit_test(x5_server_of_xlibs_connection_killed),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
