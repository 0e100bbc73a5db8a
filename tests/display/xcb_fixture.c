#include "xcb_fixture.h"

#include <stdlib.h>
#include <string.h>

static void on_event(rouse_loop *loop, rouse_xcb *xcb, void *raw, void *data)
{
	struct xcb_fixture *f = data;
	xcb_generic_event_t *event = raw;

	assert_ptr_equal(loop, f->loop);
	assert_ptr_equal(xcb, f->xcb);
	if ((event->response_type & 0x7f) == XCB_CLIENT_MESSAGE) {
		f->events++;
		f->last = ((xcb_client_message_event_t *)raw)->data.data32[0];
	}
	if (f->on_event)
		f->on_event(f, event);
}

static void on_activity(rouse_loop *loop, rouse_xcb *xcb, void *data)
{
	struct xcb_fixture *f = data;

	(void)loop, (void)xcb;
	f->activity++;
	if (f->on_activity)
		f->on_activity(f);
}

static void on_error(rouse_loop *loop, rouse_xcb *xcb, void *raw, void *data)
{
	struct xcb_fixture *f = data;
	xcb_generic_error_t *error = raw;

	(void)loop, (void)xcb;
	assert_int_equal(error->response_type, 0);
	f->errors++;
	f->error_code = error->error_code;
	if (f->on_error)
		f->on_error(f);
}

static void on_lost(rouse_loop *loop, rouse_xcb *xcb, int reason, void *data)
{
	struct xcb_fixture *f = data;

	(void)loop, (void)xcb;
	f->lost++;
	f->reason = reason;
	if (f->on_lost)
		f->on_lost(f);
}

rouse_xcb_options xcb_fixture_options(struct xcb_fixture *f)
{
	return (rouse_xcb_options){.size = sizeof(rouse_xcb_options),
	                           .connection = f->connection,
	                           .data = f,
	                           .event = on_event,
	                           .activity = on_activity,
	                           .error = on_error,
	                           .lost = on_lost};
}

xcb_connection_t *xcb_fixture_connect(void)
{
	xcb_connection_t *connection = xcb_connect(NULL, NULL);

	assert_int_equal(xcb_connection_has_error(connection), 0);
	return connection;
}

xcb_window_t xcb_fixture_window(xcb_connection_t *connection)
{
	xcb_window_t window = xcb_generate_id(connection);
	const xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data;

	xcb_create_window(connection, XCB_COPY_FROM_PARENT, window, screen->root, 0, 0, 100, 100, 0,
	                  XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual, 0, NULL);
	xcb_fixture_sync(connection);
	return window;
}

void xcb_fixture_sync(xcb_connection_t *connection)
{
	free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), NULL));
}

void xcb_fixture_open(struct xcb_fixture *f, const rouse_loop_options *loop_options)
{
	rouse_loop_options options = {.size = sizeof(options)};

	if (loop_options)
		options = *loop_options;
	if (!options.poller)
		options.poller = getenv("ROUSE_TEST_POLLER");
	memset(f, 0, sizeof(*f));
	assert_int_equal(rouse_loop_create(&options, &f->loop), 0);
	f->connection = xcb_fixture_connect();
	f->other = xcb_fixture_connect();
	f->window = xcb_fixture_window(f->connection);
	rouse_xcb_options what = xcb_fixture_options(f);
	assert_int_equal(rouse_xcb_attach(f->loop, &what, &f->xcb), 0);
	fixture_settle(f->loop);
}

void xcb_fixture_close(struct xcb_fixture *f)
{
	uint64_t foreign = 0;

	if (f->xcb)
		assert_int_equal(rouse_xcb_foreign_reads(f->xcb, &foreign), 0);
	assert_true(f->shared || foreign == 0);
	assert_int_equal(rouse_xcb_detach(f->xcb), 0);
	xcb_disconnect(f->connection);
	xcb_disconnect(f->other);
	assert_int_equal(rouse_loop_destroy(f->loop), 0);
	memset(f, 0, sizeof(*f));
}

bool xcb_fixture_readable(const struct xcb_fixture *f)
{
	return fixture_bytes(xcb_get_file_descriptor(f->connection)) > 0;
}

void xcb_fixture_await_bytes(const struct xcb_fixture *f, int least)
{
	fixture_await_bytes_of(xcb_get_file_descriptor(f->connection), least);
}

void xcb_fixture_message(xcb_client_message_event_t *message, xcb_window_t window, uint32_t value)
{
	*message = (xcb_client_message_event_t){.response_type = XCB_CLIENT_MESSAGE,
	                                        .format = 32,
	                                        .window = window,
	                                        .type = XCB_ATOM_CUT_BUFFER0};
	message->data.data32[0] = value;
}

void xcb_fixture_send(struct xcb_fixture *f, uint32_t value)
{
	int before = fixture_bytes(xcb_get_file_descriptor(f->connection));
	xcb_client_message_event_t message;

	xcb_fixture_message(&message, f->window, value);
	xcb_send_event(f->other, 0, f->window, XCB_EVENT_MASK_NO_EVENT, (const char *)&message);
	xcb_fixture_sync(f->other);
	xcb_fixture_await_bytes(f, before + 32);
}
