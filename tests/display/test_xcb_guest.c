/* An XCB connection in a loop that is the guest of another one. */
#include "xcb_fixture.h"
#include "xvfb.h"

#include <poll.h>

static struct xvfb server;

static bool host_wakes(rouse_fd fd, int ms)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, ms) == 1;
}

/* What a host does: prepare, sleep on the one descriptor, turn. */
static void host_until(struct xcb_fixture *f, rouse_fd fd, const unsigned *what, unsigned least)
{
	rouse_ns end = rouse_now() + SOON;

	while (*what < least) {
		assert_true(rouse_now() < end);
		assert_int_equal(rouse_loop_prepare(f->loop, 0, NULL), 0);
		assert_true(host_wakes(fd, (int)(LONG / MS)));
		assert_true(rouse_loop_turn(f->loop, 0) >= 0);
	}
}

static void g1_events_wherever_they_hide(void **state)
{
	struct xcb_fixture f;
	rouse_fd fd;

	(void)state;
	xcb_fixture_open(&f, NULL);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	fixture_settle(f.loop);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	assert_false(host_wakes(fd, 0));
	/* In the socket. */
	xcb_fixture_send(&f, 1);
	host_until(&f, fd, &f.events, 1);
	/* In XCB's queue, put there by the host's own code: also between its prepare and its next
	 * turn, where the loop is not told, and nobody is to blame. */
	xcb_fixture_send(&f, 2);
	xcb_fixture_sync(f.connection);
	assert_false(xcb_fixture_readable(&f));
	host_until(&f, fd, &f.events, 2);
	fixture_settle(f.loop);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	assert_false(host_wakes(fd, 0));
	xcb_fixture_sync(f.connection);
	assert_true(rouse_loop_turn(f.loop, 0) >= 0);
	xcb_fixture_close(&f);
}

struct nested {
	rouse_remote *remote;
	unsigned depth, deepest, posts;
	rouse_fd fd;
};

/* A modal dialog of the host's. */
static void open_dialog(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	struct nested *nested = f->data;
	rouse_ns deadline;

	(void)event;
	if (++nested->depth > nested->deepest)
		nested->deepest = nested->depth;
	if (f->last == 1) {
		xcb_fixture_send(f, 2);
		xcb_clear_area(f->connection, 0, f->window, 0, 0, 1, 1);
		assert_int_equal(
		        rouse_post(nested->remote, fixture_count_wake, &nested->posts, NULL), 0);
		host_until(f, nested->fd, &nested->posts, 1);
		for (int i = 0; i < 5; i++) {
			assert_int_equal(rouse_loop_prepare(f->loop, 0, NULL), 0);
			assert_true(rouse_loop_turn(f->loop, 0) >= 0);
		}
		/* A sleep that this connection's check does not see the end of. */
		assert_int_equal(rouse_loop_prepare(f->loop, ROUSE_PREPARE_HOLD, &deadline), 0);
		assert_true(rouse_loop_check(f->loop, 1) >= 0);
		assert_true(rouse_loop_dispatch(f->loop) >= 0);
		xcb_fixture_sync(f->connection);
		assert_int_equal(f->last, 1);
	}
	nested->depth--;
}

static void l6_nested_turn_does_not_call_the_suspended_connection(void **state)
{
	struct xcb_fixture f;
	struct nested nested = {0};

	(void)state;
	xcb_fixture_open(&f, NULL);
	nested.remote = rouse_loop_remote(f.loop);
	f.data = &nested;
	f.on_event = open_dialog;
	assert_int_equal(rouse_loop_fd(f.loop, &nested.fd), 0);
	/* A host that checks twice, and prepares once. */
	fixture_settle(f.loop);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	xcb_fixture_send(&f, 1);
	assert_int_equal(rouse_loop_check(f.loop, 1), 1);
	assert_true(rouse_loop_dispatch(f.loop) > 0);
	assert_true(rouse_loop_check(f.loop, 1) >= 0);
	assert_true(rouse_loop_dispatch(f.loop) >= 0);
	assert_int_equal(nested.posts, 1);
	host_until(&f, nested.fd, &f.events, 2);
	assert_int_equal(f.last, 2);
	assert_int_equal(nested.deepest, 1);
	rouse_remote_unref(nested.remote);
	xcb_fixture_close(&f);
}

static void x5_server_killed_under_a_guest(void **state)
{
	struct xcb_fixture f;
	rouse_fd fd;

	(void)state;
	xcb_fixture_open(&f, NULL);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	xvfb_kill(&server);
	host_until(&f, fd, &f.lost, 1);
	fixture_settle(f.loop);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	assert_false(host_wakes(fd, 50));
	assert_int_equal(f.lost, 1);
	xcb_fixture_close(&f);
	xvfb_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(g1_events_wherever_they_hide),
	        cmocka_unit_test(l6_nested_turn_does_not_call_the_suspended_connection),
	        cmocka_unit_test(x5_server_killed_under_a_guest),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
