/* A forked child shares the connection with its parent: it takes it out of its loop, and nobody
 * notices. */
#include "fixture.h"
#include "xcb_fixture.h"
#include "xvfb.h"

#include <X11/Xlib-xcb.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct xvfb server;

/* In the child: what went wrong, or 0. */
static void in_child(int (*child)(void *data), void *data)
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child(data));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	assert_int_equal(status, 0);
}

/* What is left of the loop works, and takes nothing from the parent. */
static int loop_works(rouse_loop *loop, xcb_connection_t *connection)
{
	int bytes = fixture_bytes(xcb_get_file_descriptor(connection));
	unsigned fired = 0;

	if (rouse_timer_add(loop, rouse_now(), 0, 0, fixture_count_timer, &fired, NULL))
		return 10;
	while (!fired)
		if (rouse_loop_turn(loop, ROUSE_NEVER) < 0)
			return 11;
	if (bytes == 0 || fixture_bytes(xcb_get_file_descriptor(connection)) != bytes)
		return 12;
	if (rouse_loop_destroy(loop))
		return 13;
	return 0;
}

/* ---- XCB ------------------------------------------------------------------------ */

static int xcb_child(void *data)
{
	struct xcb_fixture *f = data;
	uint64_t written = xcb_total_written(f->connection);

	if (rouse_xcb_detach(f->xcb) != ROUSE_EFORKED)
		return 1;
	if (rouse_loop_after_fork(f->loop) || rouse_xcb_detach(f->xcb))
		return 2;
	if (xcb_total_written(f->connection) != written)
		return 3;
	int works = loop_works(f->loop, f->connection);
	if (works)
		return works;
	/* Not xcb_disconnect(), which shuts the parent's socket down. */
	close(xcb_get_file_descriptor(f->connection));
	return 0;
}

/* The loop goes, and takes the connection out itself. */
static int xcb_child_destroys(void *data)
{
	struct xcb_fixture *f = data;
	uint64_t written = xcb_total_written(f->connection);

	if (rouse_loop_after_fork(f->loop) || rouse_loop_destroy(f->loop))
		return 1;
	return xcb_total_written(f->connection) != written;
}

static int xcb_child_in_callback(void *data)
{
	struct xcb_fixture *f = data;
	uint64_t written = xcb_total_written(f->connection);

	if (rouse_loop_after_fork(f->loop) || rouse_xcb_detach(f->xcb))
		return 1;
	return xcb_total_written(f->connection) != written;
}

static void fork_in_event(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	(void)event;
	f->on_event = NULL;
	xcb_fixture_send(f, 2);
	in_child(xcb_child_in_callback, f);
}

static void f10_child_detaches_the_parents_connection(void **state)
{
	const uint32_t mask = XCB_EVENT_MASK_PROPERTY_CHANGE;
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	/* At the fork an event is in the socket, and a request in XCB's buffer. */
	xcb_change_window_attributes(f.other, f.window, XCB_CW_EVENT_MASK, &mask);
	xcb_fixture_sync(f.other);
	xcb_fixture_send(&f, 1);
	xcb_change_property(f.connection, XCB_PROP_MODE_REPLACE, f.window, XCB_ATOM_CUT_BUFFER0,
	                    XCB_ATOM_STRING, 8, 1, "x");
	in_child(xcb_child, &f);
	fixture_until(f.loop, &f.events, 1);
	xcb_fixture_sync(f.connection);
	xcb_fixture_sync(f.other);
	/* It was made once. */
	xcb_generic_event_t *notify = xcb_poll_for_event(f.other);
	assert_non_null(notify);
	assert_int_equal(notify->response_type, XCB_PROPERTY_NOTIFY);
	free(notify);
	assert_null(xcb_poll_for_event(f.other));

	/* While the loop has the write side; and in a callback. */
	fixture_settle(f.loop);
	in_child(xcb_child_destroys, &f);
	f.on_event = fork_in_event;
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 3);
	xcb_fixture_sync(f.connection);
	assert_int_equal(f.errors + f.lost, 0);
	xcb_fixture_close(&f);
}

/* ---- Xlib ----------------------------------------------------------------------- */

struct injected {
	struct fixture f;
	rouse_x11_injector *injector;
};

static int x11_child(void *data)
{
	struct injected *i = data;
	xcb_connection_t *connection = XGetXCBConnection(i->f.display);
	uint64_t written = xcb_total_written(connection);

	if (rouse_x11_detach(i->f.x11) != ROUSE_EFORKED)
		return 1;
	if (rouse_loop_after_fork(i->f.loop) || rouse_x11_detach(i->f.x11))
		return 2;
	if (rouse_x11_injector_send(i->injector, 1) != ROUSE_ELOST)
		return 3;
	rouse_x11_injector_unref(i->injector);
	if (xcb_total_written(connection) != written)
		return 4;
	int works = loop_works(i->f.loop, connection);
	if (works)
		return works;
	/* Not XCloseDisplay(), which makes requests, and shuts the parent's socket down. */
	close(ConnectionNumber(i->f.display));
	return 0;
}

static void f10_child_detaches_the_parents_display(void **state)
{
	struct injected i;
	XEvent event;

	(void)state;
	fixture_open(&i.f, NULL);
	assert_int_equal(rouse_x11_injector_create(i.f.x11, i.f.window, &i.injector), 0);
	XSelectInput(i.f.other, i.f.window, PropertyChangeMask);
	XSync(i.f.other, False);
	fixture_send(&i.f, 1);
	XChangeProperty(i.f.display, i.f.window, XInternAtom(i.f.other, "CUT_BUFFER0", True), 31, 8,
	                PropModeReplace, (const unsigned char *)"x", 1);
	in_child(x11_child, &i);
	fixture_until(i.f.loop, &i.f.events, 1);
	XSync(i.f.display, False);
	XSync(i.f.other, False);
	assert_true(XCheckTypedEvent(i.f.other, PropertyNotify, &event));
	assert_int_equal(XPending(i.f.other), 0);
	/* The injector's connection is as alive as the display's. */
	assert_int_equal(rouse_x11_injector_send(i.injector, 7), 0);
	fixture_until(i.f.loop, &i.f.messages, 1);
	assert_int_equal(i.f.payload, 7);
	assert_int_equal(i.f.errors + i.f.lost, 0);
	rouse_x11_injector_unref(i.injector);
	fixture_close(&i.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(f10_child_detaches_the_parents_connection),
	        cmocka_unit_test(f10_child_detaches_the_parents_display),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
