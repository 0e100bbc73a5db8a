/* The loop never sleeps on an event of XCB's, nor on what nobody has written. */
#include "xcb_fixture.h"
#include "xvfb.h"

#include <stdlib.h>
#include <xcb/xcbext.h>

static struct xvfb server;

/* ---- X1: what pulls events out of the socket ---------------------------- */

static void pull_reply(xcb_connection_t *c)
{
	xcb_fixture_sync(c);
}

static void pull_check(xcb_connection_t *c)
{
	assert_null(xcb_request_check(c, xcb_no_operation_checked(c)));
}

/* The write finds the socket readable, too. */
static void pull_flush(xcb_connection_t *c)
{
	xcb_no_operation(c);
	assert_true(xcb_flush(c) > 0);
}

static void pull_poll_for_reply(xcb_connection_t *c)
{
	xcb_get_input_focus_cookie_t cookie = xcb_get_input_focus(c);
	xcb_generic_error_t *error = NULL;
	void *reply = NULL;

	xcb_flush(c);
	while (!xcb_poll_for_reply(c, cookie.sequence, &reply, &error))
		;
	assert_non_null(reply);
	free(reply);
}

struct pull {
	void (*pull)(xcb_connection_t *c);
	unsigned done;
};

static void pull_in_callback(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	struct pull *pull = f->data;

	if (event->response_type == 0 || pull->done)
		return;
	pull->done = 1;
	xcb_fixture_send(f, 2);
	assert_true(xcb_fixture_readable(f));
	pull->pull(f->connection);
	/* It is hidden now. */
	assert_false(xcb_fixture_readable(f));
}

static void pulled_within(unsigned budget, void (*how)(xcb_connection_t *c))
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = budget};
	struct xcb_fixture f;
	struct pull pull = {.pull = how};

	xcb_fixture_open(&f, &options);
	f.data = &pull;
	f.on_event = pull_in_callback;
	xcb_fixture_send(&f, 1);
	while (f.events < 2)
		fixture_prompt_turn(f.loop);
	assert_int_equal(f.last, 2);

	/* The same outside a turn. */
	fixture_settle(f.loop);
	xcb_fixture_send(&f, 3);
	how(f.connection);
	assert_false(xcb_fixture_readable(&f));
	while (f.events < 3)
		fixture_prompt_turn(f.loop);
	assert_int_equal(f.last, 3);
	xcb_fixture_close(&f);
}

/* In the same turn, and in a later one. */
static void pulled(void (*how)(xcb_connection_t *c))
{
	pulled_within(0, how);
	pulled_within(1, how);
}

static void x1_reply_in_callback_does_not_sleep(void **state)
{
	(void)state;
	pulled(pull_reply);
}

static void x1_check_in_callback_does_not_sleep(void **state)
{
	(void)state;
	pulled(pull_check);
}

static void x1_flush_in_callback_does_not_sleep(void **state)
{
	(void)state;
	pulled(pull_flush);
}

static void x1_poll_for_reply_in_callback_does_not_sleep(void **state)
{
	(void)state;
	pulled(pull_poll_for_reply);
}

static void x1_one_event_per_wake_does_not_sleep(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = 1};
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, &options);
	for (uint32_t i = 1; i <= 5; i++)
		xcb_fixture_send(&f, i);
	for (uint32_t i = 1; i <= 5;) {
		unsigned before = f.events;
		fixture_prompt_turn(f.loop);
		assert_true(f.events - before <= 1);
		if (f.events != before)
			assert_int_equal(f.last, i++);
	}
	xcb_fixture_close(&f);
}

/* More than XCB reads at once: in order, and each once. */
static void x1_more_than_one_read_does_not_sleep(void **state)
{
	enum { MANY = 1000 };
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	for (uint32_t i = 1; i <= MANY; i++) {
		xcb_client_message_event_t message;
		xcb_fixture_message(&message, f.window, i);
		xcb_send_event(f.other, 0, f.window, XCB_EVENT_MASK_NO_EVENT,
		               (const char *)&message);
	}
	xcb_fixture_sync(f.other);
	xcb_fixture_await_bytes(&f, 4096 + 32);
	while (f.events < MANY) {
		unsigned before = f.events;
		fixture_prompt_turn(f.loop);
		assert_int_equal(f.last, f.events);
		assert_true(f.events - before <= ROUSE_DEFAULT_BATCH);
	}
	xcb_fixture_close(&f);
}

/* ---- X2: bytes that are no event ---------------------------------------- */

static void x2_bytes_without_event_neither_spin_nor_block(void **state)
{
	struct xcb_fixture f;
	unsigned fired = 0;
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};

	(void)state;
	xcb_fixture_open(&f, NULL);
	/* A reply that nobody waits for, and an error that somebody will ask for. */
	xcb_get_input_focus_cookie_t cookie = xcb_get_input_focus(f.connection);
	xcb_void_cookie_t checked = xcb_map_window_checked(f.connection, 1);
	xcb_flush(f.connection);
	xcb_fixture_await_bytes(&f, 64);

	assert_int_equal(rouse_loop_stats(f.loop, &before), 0);
	rouse_ns start = rouse_now();
	assert_int_equal(
	        rouse_timer_add(f.loop, start + 35 * MS, 0, 0, fixture_count_timer, &fired, NULL),
	        0);
	fixture_until(f.loop, &fired, 1);
	assert_true(rouse_now() - start >= 35 * MS);
	assert_int_equal(rouse_loop_stats(f.loop, &after), 0);
	assert_true(after.turns - before.turns < 10);
	assert_int_equal(f.events, 0);
	assert_int_equal(f.errors, 0);
	xcb_get_input_focus_reply_t *reply = xcb_get_input_focus_reply(f.connection, cookie, NULL);
	assert_non_null(reply);
	free(reply);
	xcb_generic_error_t *error = xcb_request_check(f.connection, checked);
	assert_non_null(error);
	free(error);
	xcb_fixture_close(&f);
}

/* ---- X3: what nobody has written ---------------------------------------- */

static void change_property(struct xcb_fixture *f)
{
	xcb_change_property(f->connection, XCB_PROP_MODE_REPLACE, f->window, XCB_ATOM_CUT_BUFFER0,
	                    XCB_ATOM_STRING, 8, 1, "x");
}

static void see_property(rouse_loop *loop, rouse_xcb *xcb, void *event, void *data)
{
	(void)loop, (void)xcb;
	if (((xcb_generic_event_t *)event)->response_type == XCB_PROPERTY_NOTIFY)
		++*(unsigned *)data;
}

static void change_from_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	change_property(data);
}

static void x3_requests_of_callback_are_written_before_sleep(void **state)
{
	const uint32_t mask = XCB_EVENT_MASK_PROPERTY_CHANGE;
	struct xcb_fixture f;
	unsigned seen = 0;
	rouse_xcb *watcher;

	(void)state;
	xcb_fixture_open(&f, NULL);
	/* The second client sees the property change, in the same loop. */
	xcb_change_window_attributes(f.other, f.window, XCB_CW_EVENT_MASK, &mask);
	xcb_fixture_sync(f.other);
	rouse_xcb_options options = {.size = sizeof(options),
	                             .connection = f.other,
	                             .data = &seen,
	                             .event = see_property};
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &watcher), 0);
	fixture_settle(f.loop);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(
		        rouse_timer_add(f.loop, rouse_now(), 0, 0, change_from_timer, &f, NULL), 0);
		fixture_until(f.loop, &seen, i);
	}
	/* And what was asked for outside a turn. */
	change_property(&f);
	fixture_until(f.loop, &seen, 4);
	assert_int_equal(rouse_xcb_detach(watcher), 0);
	xcb_fixture_close(&f);
}

/* What the loop wrote, and what it left, can be waited for as ever. */
static void x3_replies_can_be_waited_for(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	for (int i = 0; i < 3; i++) {
		xcb_get_input_focus_cookie_t cookie = xcb_get_input_focus(f.connection);
		fixture_settle(f.loop);
		change_property(&f);
		xcb_get_input_focus_reply_t *reply =
		        xcb_get_input_focus_reply(f.connection, cookie, NULL);
		assert_non_null(reply);
		free(reply);
	}
	/* And after the loop has let go of the connection. */
	assert_int_equal(rouse_xcb_detach(f.xcb), 0);
	f.xcb = NULL;
	xcb_fixture_sync(f.connection);
	assert_null(xcb_request_check(f.connection, xcb_no_operation_checked(f.connection)));
	xcb_fixture_close(&f);
}

/* ---- X6: errors ------------------------------------------------------------ */

static void count_raw(rouse_loop *loop, rouse_xcb *xcb, void *event, void *data)
{
	(void)loop, (void)xcb;
	if (((xcb_generic_event_t *)event)->response_type == 0)
		++*(unsigned *)data;
}

static void x6_error_is_reported(void **state)
{
	struct xcb_fixture f;
	unsigned raw = 0;

	(void)state;
	xcb_fixture_open(&f, NULL);
	xcb_map_window(f.connection, 1);
	fixture_until(f.loop, &f.errors, 1);
	assert_int_equal(f.error_code, XCB_WINDOW);
	/* One that is checked is its checker's. */
	free(xcb_request_check(f.connection, xcb_map_window_checked(f.connection, 1)));
	fixture_settle(f.loop);
	assert_int_equal(f.errors, 1);
	/* Without a callback of its own it is an event, as XCB has it. */
	assert_int_equal(rouse_xcb_detach(f.xcb), 0);
	rouse_xcb_options options = {.size = sizeof(options),
	                             .connection = f.connection,
	                             .data = &raw,
	                             .event = count_raw};
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &f.xcb), 0);
	xcb_map_window(f.connection, 1);
	fixture_until(f.loop, &raw, 1);
	assert_int_equal(f.errors, 1);
	xcb_fixture_close(&f);
}

/* ---- X10: every hiding place --------------------------------------------- */

static xcb_get_input_focus_cookie_t late;

/* The server is held by the other client, so that the reply cannot come before it is awaited. */
static void ask(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct xcb_fixture *f = data;

	(void)loop, (void)self, (void)deadline;
	xcb_grab_server(f->other);
	xcb_fixture_sync(f->other);
	late = xcb_get_input_focus(f->connection);
}

static void await(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct xcb_fixture *f = data;

	(void)loop, (void)self, (void)deadline;
	xcb_fixture_send(f, 3);
	xcb_ungrab_server(f->other);
	xcb_fixture_sync(f->other);
	xcb_fixture_await_bytes(f, 64);
	free(xcb_get_input_focus_reply(f->connection, late, NULL));
	assert_false(xcb_fixture_readable(f));
}

static void x10_reply_of_an_earlier_turn(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 0, 0, ask, &f, NULL), 0);
	fixture_prompt_turn(f.loop);
	fixture_settle(f.loop);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 0, 0, await, &f, NULL), 0);
	fixture_prompt_turn(f.loop);
	fixture_until(f.loop, &f.events, 1);
	assert_int_equal(f.last, 3);
	xcb_fixture_close(&f);
}

/* The Present extension's events go to a queue of their own, by hand here: the requests are few. */
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

static void poll_special(struct xcb_fixture *f)
{
	struct special *special = f->data;
	xcb_generic_event_t *event;

	while ((event = xcb_poll_for_special_event(f->connection, special->queue))) {
		special->got++;
		free(event);
	}
}

static void x10_special_event_queue(void **state)
{
	struct xcb_fixture f;
	struct special special = {0};

	(void)state;
	xcb_fixture_open(&f, NULL);
	xcb_connection_t *c = f.connection;
	const xcb_query_extension_reply_t *extension = xcb_get_extension_data(c, &present);
	assert_true(extension && extension->present);
	f.data = &special;
	f.on_activity = poll_special;

	struct present_select select = {
	        .event = xcb_generate_id(c), .window = f.window, .mask = 2 /* CompleteNotify */};
	special.queue = xcb_register_for_special_xge(c, &present, select.event, NULL);
	assert_non_null(special.queue);
	present_send(c, 3, &select, sizeof(select));

	/* The answer to NotifyMSC for a moment that has passed comes at once: before that of a
	 * round trip, which reads both; nothing in the socket. */
	struct present_notify notify = {.window = f.window};
	present_send(c, 2, &notify, sizeof(notify));
	xcb_fixture_sync(c);
	assert_false(xcb_fixture_readable(&f));
	fixture_until(f.loop, &special.got, 1);

	present_send(c, 2, &notify, sizeof(notify));
	fixture_until(f.loop, &special.got, 2);
	xcb_unregister_for_special_event(c, special.queue);
	xcb_fixture_close(&f);
}

/* A reply that nobody waits for by sleeping: `activity` is the moment to ask for it. */
static void poll_late(struct xcb_fixture *f)
{
	void *reply = NULL;

	if (late.sequence && xcb_poll_for_reply(f->connection, late.sequence, &reply, NULL)) {
		assert_non_null(reply);
		free(reply);
		late.sequence = 0;
		++*(unsigned *)f->data;
	}
}

static void x10_reply_polled_in_activity(void **state)
{
	struct xcb_fixture f;
	unsigned got = 0;

	(void)state;
	xcb_fixture_open(&f, NULL);
	f.data = &got;
	f.on_activity = poll_late;
	late = xcb_get_input_focus(f.connection);
	fixture_until(f.loop, &got, 1);
	xcb_fixture_close(&f);
}

/* What `activity` itself makes XCB read is told, too. */
static void read_once(struct xcb_fixture *f)
{
	if ((*(unsigned *)f->data)++ == 0)
		xcb_fixture_sync(f->connection);
}

static void x10_bytes_read_in_activity_are_told(void **state)
{
	struct xcb_fixture f;
	unsigned calls = 0;

	(void)state;
	xcb_fixture_open(&f, NULL);
	f.data = &calls;
	f.on_activity = read_once;
	xcb_fixture_sync(f.connection);
	fixture_until(f.loop, &calls, 2);
	fixture_settle(f.loop);
	assert_int_equal(calls, 2);
	xcb_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x1_reply_in_callback_does_not_sleep),
	        cmocka_unit_test(x1_check_in_callback_does_not_sleep),
	        cmocka_unit_test(x1_flush_in_callback_does_not_sleep),
	        cmocka_unit_test(x1_poll_for_reply_in_callback_does_not_sleep),
	        cmocka_unit_test(x1_one_event_per_wake_does_not_sleep),
	        cmocka_unit_test(x1_more_than_one_read_does_not_sleep),
	        cmocka_unit_test(x2_bytes_without_event_neither_spin_nor_block),
	        cmocka_unit_test(x3_requests_of_callback_are_written_before_sleep),
	        cmocka_unit_test(x3_replies_can_be_waited_for),
	        cmocka_unit_test(x6_error_is_reported),
	        cmocka_unit_test(x10_reply_of_an_earlier_turn),
	        cmocka_unit_test(x10_special_event_queue),
	        cmocka_unit_test(x10_reply_polled_in_activity),
	        cmocka_unit_test(x10_bytes_read_in_activity_are_told),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
