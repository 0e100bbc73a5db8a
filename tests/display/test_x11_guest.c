/* A display in a loop that is the guest of another one. */
#include "fixture.h"
#include "core/fault.h"
#include "xvfb.h"

#include <X11/Xlib-xcb.h>
#include <poll.h>
#include <stdlib.h>

static struct xvfb server;

static bool host_wakes(rouse_fd fd, int ms)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, ms) == 1;
}

/* What a host does: prepare, sleep on the one descriptor, turn. */
static void host_until(struct fixture *f, rouse_fd fd, const unsigned *what, unsigned least)
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
	struct fixture f;
	rouse_fd fd;

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	fixture_settle(f.loop);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	assert_false(host_wakes(fd, 0));
	/* In the socket. */
	fixture_send(&f, 1);
	host_until(&f, fd, &f.events, 1);
	/* In XCB's queue, put there by the host's own code. */
	fixture_send(&f, 2);
	xcb_connection_t *c = XGetXCBConnection(f.display);
	free(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL));
	assert_false(fixture_readable(&f));
	host_until(&f, fd, &f.events, 2);
	fixture_settle(f.loop);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	assert_false(host_wakes(fd, 0));
	fixture_close(&f);
}

struct nested {
	rouse_remote *remote;
	unsigned depth, deepest, posts;
	rouse_fd fd;
};

static void count_post(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct nested *)data)->posts++;
}

/* A modal dialog of the host's. */
static void open_dialog(struct fixture *f, XEvent *event)
{
	struct nested *nested = f->data;

	if (event->type != ClientMessage)
		return;
	if (++nested->depth > nested->deepest)
		nested->deepest = nested->depth;
	if (f->last == 1) {
		fixture_send(f, 2);
		XClearWindow(f->display, f->window);
		assert_int_equal(rouse_post(nested->remote, count_post, nested, NULL), 0);
		host_until(f, nested->fd, &nested->posts, 1);
		for (int i = 0; i < 5; i++) {
			assert_int_equal(rouse_loop_prepare(f->loop, 0, NULL), 0);
			assert_true(rouse_loop_turn(f->loop, 0) >= 0);
		}
		assert_int_equal(f->last, 1);
	}
	nested->depth--;
}

static void l6_nested_turn_does_not_call_the_suspended_display(void **state)
{
	struct fixture f;
	struct nested nested = {0};

	(void)state;
	fixture_open(&f, NULL);
	nested.remote = rouse_loop_remote(f.loop);
	f.data = &nested;
	f.on_event = open_dialog;
	assert_int_equal(rouse_loop_fd(f.loop, &nested.fd), 0);
	fixture_send(&f, 1);
	host_until(&f, nested.fd, &f.events, 1);
	assert_int_equal(nested.posts, 1);
	host_until(&f, nested.fd, &f.events, 2);
	assert_int_equal(f.last, 2);
	assert_int_equal(nested.deepest, 1);
	rouse_remote_unref(nested.remote);
	fixture_close(&f);
}

/* A dialog of the host's, opened where no source of ours is suspended. */
static void open_dialog_from_post(rouse_loop *loop, void *data)
{
	struct fixture *f = data;
	struct nested *nested = f->data;

	(void)loop;
	fixture_send(f, 1);
	host_until(f, nested->fd, &f->events, 1);
	/* In Xlib's queue already when the host goes to sleep. */
	fixture_send(f, 2);
	XSync(f->display, False);
	assert_false(fixture_readable(f));
	host_until(f, nested->fd, &f->events, 2);
	nested->posts++;
}

static void l6_dialog_from_posted_work_gets_x_events(void **state)
{
	struct fixture f;
	struct nested nested = {0};

	(void)state;
	fixture_open(&f, NULL);
	nested.remote = rouse_loop_remote(f.loop);
	f.data = &nested;
	assert_int_equal(rouse_loop_fd(f.loop, &nested.fd), 0);
	assert_int_equal(rouse_post(nested.remote, open_dialog_from_post, &f, NULL), 0);
	host_until(&f, nested.fd, &nested.posts, 1);
	assert_int_equal(f.events, 2);
	rouse_remote_unref(nested.remote);
	fixture_close(&f);
}

enum { WAKES = 100 };

struct calls {
	unsigned rings, absorbs;
};

static void count_wake(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(unsigned *)data;
}

/* Of the doorbell, in wakes of a guest whose host turns it, or asks for its deadline. */
static struct calls wake_guest(rouse_loop *loop, rouse_fd fd, bool host_asks)
{
	rouse_waker *waker;
	rouse_ns deadline;
	unsigned woken = 0;

	assert_int_equal(rouse_waker_create(loop, count_wake, &woken, &waker), 0);
	fixture_settle(loop);
	assert_int_equal(rouse_loop_prepare(loop, 0, host_asks ? &deadline : NULL), 0);
	assert_false(host_wakes(fd, 0));
	unsigned rings = rouse__fault_count(ROUSE__RING);
	unsigned absorbs = rouse__fault_count(ROUSE__ABSORB);
	for (unsigned i = 1; i <= WAKES; i++) {
		assert_int_equal(rouse_wake(waker), 1);
		assert_true(host_wakes(fd, (int)(LONG / MS)));
		if (host_asks) {
			assert_int_equal(rouse_loop_check(loop, 1), 1);
			assert_int_equal(rouse_loop_dispatch(loop), 1);
			assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
			assert_true(deadline == ROUSE_NEVER);
		} else {
			assert_int_equal(rouse_loop_turn(loop, 0), 1);
		}
		assert_int_equal(woken, i);
		assert_false(host_wakes(fd, 0));
	}
	struct calls calls = {rouse__fault_count(ROUSE__RING) - rings,
	                      rouse__fault_count(ROUSE__ABSORB) - absorbs};
	rouse_waker_unref(waker);
	fixture_settle(loop);
	return calls;
}

/* The figure in docs/x11.md. */
static void w20_wake_of_a_guest_with_a_display_costs_two_more(void **state)
{
	struct fixture f;
	rouse_fd fd;

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	struct calls turned = wake_guest(f.loop, fd, false);
	struct calls asked = wake_guest(f.loop, fd, true);
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	f.x11 = NULL;
	struct calls without = wake_guest(f.loop, fd, false);
	assert_int_equal(without.rings, WAKES);
	assert_int_equal(turned.rings, without.rings + WAKES);
	assert_int_equal(turned.absorbs, without.absorbs + WAKES);
	/* A host that asks for the deadline before each wait needs no ring. */
	assert_int_equal(asked.rings, without.rings);
	assert_int_equal(asked.absorbs, without.absorbs);
	fixture_close(&f);
}

static void x5_server_killed_under_a_guest(void **state)
{
	struct fixture f;
	rouse_fd fd;

	(void)state;
	fixture_open(&f, NULL);
	XCloseDisplay(f.other);
	f.other = NULL;
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	xvfb_kill(&server);
	host_until(&f, fd, &f.lost, 1);
	fixture_settle(f.loop);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	assert_false(host_wakes(fd, 50));
	assert_int_equal(f.lost, 1);
	fixture_close(&f);
	xvfb_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(g1_events_wherever_they_hide),
	        cmocka_unit_test(l6_nested_turn_does_not_call_the_suspended_display),
	        cmocka_unit_test(l6_dialog_from_posted_work_gets_x_events),
	        cmocka_unit_test(w20_wake_of_a_guest_with_a_display_costs_two_more),
	        cmocka_unit_test(x5_server_killed_under_a_guest),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
