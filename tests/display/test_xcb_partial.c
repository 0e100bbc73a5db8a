/* The server's bytes come in pieces: a proxy between the client and the server cuts them. */
#include "xcb_fixture.h"
#include "proxy.h"
#include "xvfb.h"

static struct xvfb server;

static void x2_half_an_event_neither_spins_nor_blocks(void **state)
{
	struct proxy proxy;
	struct xcb_fixture f;
	unsigned ticks = 0;
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	xcb_client_message_event_t message;

	(void)state;
	xcb_fixture_open(&f, NULL);
	proxy_start(&proxy, &server);
	/* The attached connection is the one behind the proxy. */
	assert_int_equal(rouse_xcb_detach(f.xcb), 0);
	xcb_disconnect(f.connection);
	f.connection = xcb_connect(proxy.display, NULL);
	proxy_hide(&proxy);
	assert_int_equal(xcb_connection_has_error(f.connection), 0);
	f.window = xcb_fixture_window(f.connection);
	rouse_xcb_options options = xcb_fixture_options(&f);
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &f.xcb), 0);
	fixture_settle(f.loop);

	proxy_hold(&proxy);
	xcb_fixture_message(&message, f.window, 1);
	xcb_send_event(f.other, 0, f.window, XCB_EVENT_MASK_NO_EVENT, (const char *)&message);
	xcb_flush(f.other);
	xcb_fixture_await_bytes(&f, 16);

	assert_int_equal(rouse_loop_stats(f.loop, &before), 0);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now() + 35 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	fixture_until(f.loop, &ticks, 1);
	assert_int_equal(rouse_loop_stats(f.loop, &after), 0);
	assert_true(after.turns - before.turns < 10);
	assert_int_equal(f.events, 0);

	proxy_release(&proxy);
	fixture_until(f.loop, &f.events, 1);
	xcb_fixture_close(&f);
	proxy_stop(&proxy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x2_half_an_event_neither_spins_nor_blocks),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
