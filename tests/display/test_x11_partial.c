/* The server's bytes come in pieces: a proxy between the client and the server cuts them. */
#include "fixture.h"
#include "proxy.h"
#include "xvfb.h"

static struct xvfb server;

static void x2_half_an_event_neither_spins_nor_blocks(void **state)
{
	struct proxy proxy;
	struct fixture f;
	unsigned ticks = 0;
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	XEvent event = {.xclient = {.type = ClientMessage, .format = 32}};

	(void)state;
	fixture_open(&f, NULL);
	proxy_start(&proxy, &server);
	/* The attached display is the one behind the proxy. */
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	XCloseDisplay(f.display);
	f.display = XOpenDisplay(proxy.display);
	proxy_hide(&proxy);
	assert_non_null(f.display);
	f.window =
	        XCreateSimpleWindow(f.display, DefaultRootWindow(f.display), 0, 0, 9, 9, 0, 0, 0);
	XSync(f.display, False);
	rouse_x11_options options = fixture_options(&f);
	assert_int_equal(rouse_x11_attach(f.loop, &options, &f.x11), 0);
	fixture_settle(f.loop);

	proxy_hold(&proxy);
	event.xclient.window = f.window;
	XSendEvent(f.other, f.window, False, NoEventMask, &event);
	XFlush(f.other);
	fixture_await_bytes(&f, 16);

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
	fixture_close(&f);
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
