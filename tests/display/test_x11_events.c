/* The loop never sleeps on an event, nor on what nobody has written. */
#include "fixture.h"
#include "xvfb.h"

#include <X11/Xlib-xcb.h>
#include <X11/Xlibint.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xcb/xcbext.h>

static struct xvfb server;

/* ---- X1: what pulls events out of the socket ---------------------------- */

static void pull_sync(Display *display)
{
	XSync(display, False);
}

static void pull_flush(Display *display)
{
	XNoOp(display);
	XFlush(display);
}

static void pull_reply(Display *display)
{
	Window focus;
	int revert;

	XGetInputFocus(display, &focus, &revert);
}

static void pull_xcb_reply(Display *display)
{
	xcb_connection_t *c = XGetXCBConnection(display);

	free(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL));
}

struct pull {
	void (*pull)(Display *display);
	unsigned done;
};

static void pull_in_callback(struct fixture *f, XEvent *event)
{
	struct pull *pull = f->data;

	if (event->type != ClientMessage || pull->done)
		return;
	pull->done = 1;
	fixture_send(f, 2);
	assert_true(fixture_readable(f));
	pull->pull(f->display);
	/* It is hidden now. */
	assert_false(fixture_readable(f));
}

static void pulled(void (*how)(Display *display))
{
	struct fixture f;
	struct pull pull = {.pull = how};

	fixture_open(&f, NULL);
	f.data = &pull;
	f.on_event = pull_in_callback;
	fixture_send(&f, 1);
	fixture_prompt_turn(f.loop);
	assert_int_equal(pull.done, 1);
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.events, 2);
	assert_int_equal(f.last, 2);

	/* The same outside a turn. */
	fixture_settle(f.loop);
	fixture_send(&f, 3);
	how(f.display);
	assert_false(fixture_readable(&f));
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.last, 3);
	fixture_close(&f);
}

static void x1_sync_in_callback_does_not_sleep(void **state)
{
	(void)state;
	pulled(pull_sync);
}

static void x1_flush_in_callback_does_not_sleep(void **state)
{
	(void)state;
	pulled(pull_flush);
}

static void x1_reply_in_callback_does_not_sleep(void **state)
{
	(void)state;
	pulled(pull_reply);
}

static void x1_xcb_reply_in_callback_does_not_sleep(void **state)
{
	(void)state;
	pulled(pull_xcb_reply);
}

static void x1_one_event_per_wake_does_not_sleep(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = 1};
	struct fixture f;

	(void)state;
	fixture_open(&f, &options);
	for (long i = 1; i <= 5; i++)
		fixture_send(&f, i);
	for (long i = 1; i <= 5;) {
		unsigned before = f.events;
		fixture_prompt_turn(f.loop);
		assert_true(f.events - before <= 1);
		if (f.events != before)
			assert_int_equal(f.last, i++);
	}
	fixture_close(&f);
}

/* ---- X2: bytes that are no event ---------------------------------------- */

static void count_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	++*(unsigned *)data;
}

static void x2_bytes_without_event_neither_spin_nor_block(void **state)
{
	struct fixture f;
	unsigned fired = 0;
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};

	(void)state;
	fixture_open(&f, NULL);
	/* A reply that nobody waits for, and an error. */
	xcb_connection_t *c = XGetXCBConnection(f.display);
	xcb_get_input_focus_cookie_t cookie = xcb_get_input_focus(c);
	xcb_map_window(c, 1);
	xcb_flush(c);
	fixture_await_bytes(&f, 64);

	assert_int_equal(rouse_loop_stats(f.loop, &before), 0);
	rouse_ns start = rouse_now();
	assert_int_equal(rouse_timer_add(f.loop, start + 35 * MS, 0, 0, count_timer, &fired, NULL),
	                 0);
	fixture_until(f.loop, &fired, 1);
	assert_true(rouse_now() - start >= 35 * MS);
	assert_int_equal(rouse_loop_stats(f.loop, &after), 0);
	assert_true(after.turns - before.turns < 10);
	assert_int_equal(f.events, 0);
	assert_int_equal(f.errors, 1);
	xcb_get_input_focus_reply_t *reply = xcb_get_input_focus_reply(c, cookie, NULL);
	assert_non_null(reply);
	free(reply);
	fixture_close(&f);
}

/* ---- X3: what nobody has written ---------------------------------------- */

static void change_property(Display *display, Window window)
{
	XChangeProperty(display, window, XInternAtom(display, "CUT_BUFFER0", True), 31, 8,
	                PropModeReplace, (const unsigned char *)"x", 1);
}

static void change_property_xcb(Display *display, Window window)
{
	xcb_change_property(XGetXCBConnection(display), XCB_PROP_MODE_REPLACE, (xcb_window_t)window,
	                    XCB_ATOM_CUT_BUFFER0, XCB_ATOM_STRING, 8, 1, "x");
}

static void see_property(rouse_loop *loop, rouse_x11 *x11, XEvent *event, void *data)
{
	(void)loop, (void)x11;
	if (event->type == PropertyNotify)
		++*(unsigned *)data;
}

struct request {
	struct fixture *f;
	void (*change)(Display *display, Window window);
};

static void request_from_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct request *request = data;

	(void)loop, (void)self, (void)deadline;
	request->change(request->f->display, request->f->window);
}

static void requests_leave(void (*change)(Display *display, Window window))
{
	struct fixture f;
	struct request request = {.f = &f, .change = change};
	unsigned seen = 0;
	rouse_x11 *watcher;

	fixture_open(&f, NULL);
	/* The second client sees the property change, in the same loop. */
	XSelectInput(f.other, f.window, PropertyChangeMask);
	XSync(f.other, False);
	rouse_x11_options options = {
	        .size = sizeof(options), .display = f.other, .data = &seen, .event = see_property};
	assert_int_equal(rouse_x11_attach(f.loop, &options, &watcher), 0);
	fixture_settle(f.loop);
	assert_int_equal(
	        rouse_timer_add(f.loop, rouse_now(), 0, 0, request_from_timer, &request, NULL), 0);
	fixture_until(f.loop, &seen, 1);
	/* And what was asked for outside a turn. */
	change(f.display, f.window);
	fixture_until(f.loop, &seen, 2);
	assert_int_equal(rouse_x11_detach(watcher), 0);
	fixture_close(&f);
}

static void x3_requests_of_callback_are_written_before_sleep(void **state)
{
	(void)state;
	requests_leave(change_property);
}

static void x3_xcb_requests_of_callback_are_written_before_sleep(void **state)
{
	(void)state;
	requests_leave(change_property_xcb);
}

/* ---- X10: every hiding place --------------------------------------------- */

static void x10_event_put_back_into_xlibs_queue(void **state)
{
	struct fixture f;
	XEvent event = {.xclient = {.type = ClientMessage, .format = 32}};

	(void)state;
	fixture_open(&f, NULL);
	event.xclient.window = f.window;
	event.xclient.data.l[0] = 5;
	XPutBackEvent(f.display, &event);
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.last, 5);
	fixture_close(&f);
}

static xcb_get_input_focus_cookie_t late;

/* The server is held by the other client, so that the reply cannot come before it is awaited. */
static void ask(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct fixture *f = data;

	(void)loop, (void)self, (void)deadline;
	XGrabServer(f->other);
	XSync(f->other, False);
	late = xcb_get_input_focus(XGetXCBConnection(f->display));
}

static void await(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct fixture *f = data;

	(void)loop, (void)self, (void)deadline;
	fixture_send(f, 3);
	XUngrabServer(f->other);
	XSync(f->other, False);
	fixture_await_bytes(f, 64);
	free(xcb_get_input_focus_reply(XGetXCBConnection(f->display), late, NULL));
	assert_false(fixture_readable(f));
}

static void x10_reply_of_an_earlier_turn(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 0, 0, ask, &f, NULL), 0);
	fixture_prompt_turn(f.loop);
	fixture_settle(f.loop);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 0, 0, await, &f, NULL), 0);
	fixture_prompt_turn(f.loop);
	fixture_until(f.loop, &f.events, 1);
	assert_int_equal(f.last, 3);
	fixture_close(&f);
}

/* The Present extension's events go to a queue of XCB's, by hand here: the requests are few. */
static xcb_extension_t present = {"Present", 0};

struct present_select {
	uint8_t major, minor;
	uint16_t length;
	uint32_t event, window, mask;
};

struct present_notify {
	uint8_t major, minor;
	uint16_t length;
	uint32_t window, serial, pad;
	uint64_t msc, divisor, remainder;
};

static void present_send(xcb_connection_t *c, uint8_t opcode, void *request, size_t size)
{
	xcb_protocol_request_t protocol = {
	        .count = 1, .ext = &present, .opcode = opcode, .isvoid = 1};
	struct iovec parts[3] = {{0}};

	parts[2] = (struct iovec){.iov_base = request, .iov_len = size};
	xcb_send_request(c, 0, parts + 2, &protocol);
}

struct special {
	xcb_special_event_t *queue;
	unsigned got;
};

static void poll_special(struct fixture *f)
{
	struct special *special = f->data;
	xcb_generic_event_t *event;

	while ((event = xcb_poll_for_special_event(XGetXCBConnection(f->display),
	                                           special->queue))) {
		special->got++;
		free(event);
	}
}

static void x10_special_event_queue_of_xcb(void **state)
{
	struct fixture f;
	struct special special = {0};

	(void)state;
	fixture_open(&f, NULL);
	xcb_connection_t *c = XGetXCBConnection(f.display);
	const xcb_query_extension_reply_t *extension = xcb_get_extension_data(c, &present);
	assert_true(extension && extension->present);
	f.data = &special;
	f.on_activity = poll_special;

	struct present_select select = {.event = xcb_generate_id(c),
	                                .window = (uint32_t)f.window,
	                                .mask = 2 /* CompleteNotify */};
	special.queue = xcb_register_for_special_xge(c, &present, select.event, NULL);
	assert_non_null(special.queue);
	present_send(c, 3, &select, sizeof(select));

	/* The answer to NotifyMSC for a moment that has passed comes at once: before that of a
	 * round trip, which reads both; nothing for Xlib, nothing in the socket. */
	struct present_notify notify = {.window = (uint32_t)f.window};
	present_send(c, 2, &notify, sizeof(notify));
	pull_xcb_reply(f.display);
	fixture_until(f.loop, &special.got, 1);

	present_send(c, 2, &notify, sizeof(notify));
	fixture_until(f.loop, &special.got, 2);
	xcb_unregister_for_special_event(c, special.queue);
	fixture_close(&f);
}

/* ---- Internal connections, and what is not ours ------------------------- */

static unsigned internal_reads;

static void internal_read(Display *display, int fd, XPointer data)
{
	char byte;

	(void)display, (void)data;
	assert_int_equal(read(fd, &byte, 1), 1);
	internal_reads++;
	if (byte == 'c') {
		LockDisplay(display);
		_XUnregisterInternalConnection(display, fd);
		UnlockDisplay(display);
	}
}

static void add_internal(Display *display, int fd)
{
	LockDisplay(display);
	assert_true(_XRegisterInternalConnection(display, fd, internal_read, NULL));
	UnlockDisplay(display);
}

static void x10_internal_connection_is_watched(void **state)
{
	struct fixture f;
	int pipes[2][2];

	(void)state;
	assert_int_equal(pipe(pipes[0]) | pipe(pipes[1]), 0);
	fixture_open(&f, NULL);
	internal_reads = 0;
	/* One that opens later, one that was open before. */
	add_internal(f.display, pipes[0][0]);
	add_internal(f.other, pipes[1][0]);
	rouse_x11 *x11;
	rouse_x11_options options = {.size = sizeof(options), .display = f.other};
	assert_int_equal(rouse_x11_attach(f.loop, &options, &x11), 0);
	fixture_settle(f.loop);
	assert_int_equal(write(pipes[0][1], "x", 1), 1);
	fixture_until(f.loop, &internal_reads, 1);
	assert_int_equal(write(pipes[1][1], "x", 1), 1);
	fixture_until(f.loop, &internal_reads, 2);
	/* It closes itself. */
	assert_int_equal(write(pipes[0][1], "c", 1), 1);
	fixture_until(f.loop, &internal_reads, 3);
	assert_int_equal(write(pipes[0][1], "x", 1), 1);
	fixture_settle(f.loop);
	assert_int_equal(internal_reads, 3);
	/* It is still there when its display is detached. */
	assert_int_equal(rouse_x11_detach(x11), 0);
	assert_int_equal(write(pipes[1][1], "x", 1), 1);
	fixture_settle(f.loop);
	assert_int_equal(internal_reads, 3);
	fixture_close(&f);
	for (int i = 0; i < 4; i++)
		close(pipes[i / 2][i % 2]);
}

static void x7_foreign_client_message_is_an_event(void **state)
{
	struct fixture f;
	rouse_x11_injector *injector;
	XEvent event = {.xclient = {.type = ClientMessage, .format = 32}};

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(rouse_x11_injector_create(f.x11, f.window, &injector), 0);
	fixture_send(&f, 7);
	fixture_until(f.loop, &f.events, 1);
	/* Also with our atom, and any tag but ours. */
	event.xclient.window = f.window;
	event.xclient.message_type = XInternAtom(f.other, "_ROUSE_MESSAGE", True);
	assert_int_not_equal(event.xclient.message_type, None);
	event.xclient.data.l[0] = 8;
	XSendEvent(f.other, f.window, False, NoEventMask, &event);
	XFlush(f.other);
	fixture_until(f.loop, &f.events, 2);
	assert_int_equal(f.last, 8);
	assert_int_equal(f.messages, 0);
	rouse_x11_injector_unref(injector);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x1_sync_in_callback_does_not_sleep),
	        cmocka_unit_test(x1_flush_in_callback_does_not_sleep),
	        cmocka_unit_test(x1_reply_in_callback_does_not_sleep),
	        cmocka_unit_test(x1_xcb_reply_in_callback_does_not_sleep),
	        cmocka_unit_test(x1_one_event_per_wake_does_not_sleep),
	        cmocka_unit_test(x2_bytes_without_event_neither_spin_nor_block),
	        cmocka_unit_test(x3_requests_of_callback_are_written_before_sleep),
	        cmocka_unit_test(x3_xcb_requests_of_callback_are_written_before_sleep),
	        cmocka_unit_test(x10_event_put_back_into_xlibs_queue),
	        cmocka_unit_test(x10_reply_of_an_earlier_turn),
	        cmocka_unit_test(x10_special_event_queue_of_xcb),
	        cmocka_unit_test(x10_internal_connection_is_watched),
	        cmocka_unit_test(x7_foreign_client_message_is_an_event),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
