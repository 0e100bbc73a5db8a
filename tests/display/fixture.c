#include "fixture.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* _XIOError() unlocks the display, and so does the function that called it, once more. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
	return "mutex:libX11.so\n";
}

static void on_event(rouse_loop *loop, rouse_x11 *x11, XEvent *event, void *data)
{
	struct fixture *f = data;

	assert_ptr_equal(loop, f->loop);
	assert_ptr_equal(x11, f->x11);
	if (event->type == ClientMessage) {
		f->events++;
		f->last = event->xclient.data.l[0];
	}
	if (f->on_event)
		f->on_event(f, event);
}

static void on_message(rouse_loop *loop, rouse_x11 *x11, uint64_t payload, void *data)
{
	struct fixture *f = data;

	(void)loop, (void)x11;
	f->messages++;
	f->payload = payload;
}

static void on_activity(rouse_loop *loop, rouse_x11 *x11, void *data)
{
	struct fixture *f = data;

	(void)loop, (void)x11;
	f->activity++;
	if (f->on_activity)
		f->on_activity(f);
}

static void on_error(rouse_loop *loop, rouse_x11 *x11, unsigned char error_code,
                     unsigned char request_code, unsigned char minor_code, unsigned long serial,
                     unsigned long resource, void *data)
{
	struct fixture *f = data;

	(void)loop, (void)x11, (void)request_code, (void)minor_code, (void)serial, (void)resource;
	f->errors++;
	f->error_code = error_code;
	if (f->on_error)
		f->on_error(f);
}

static void on_lost(rouse_loop *loop, rouse_x11 *x11, void *data)
{
	struct fixture *f = data;

	(void)loop, (void)x11;
	f->lost++;
	if (f->on_lost)
		f->on_lost(f);
}

rouse_x11_options fixture_options(struct fixture *f)
{
	return (rouse_x11_options){.size = sizeof(rouse_x11_options),
	                           .display = f->display,
	                           .data = f,
	                           .event = on_event,
	                           .message = on_message,
	                           .activity = on_activity,
	                           .error = on_error,
	                           .lost = on_lost};
}

void fixture_open(struct fixture *f, const rouse_loop_options *loop_options)
{
	rouse_loop_options options = {.size = sizeof(options)};

	if (loop_options)
		options = *loop_options;
	if (!options.poller)
		options.poller = getenv("ROUSE_TEST_POLLER");
	memset(f, 0, sizeof(*f));
	assert_int_equal(rouse_loop_create(&options, &f->loop), 0);
	f->display = XOpenDisplay(NULL);
	f->other = XOpenDisplay(NULL);
	assert_non_null(f->display);
	assert_non_null(f->other);
	f->window = XCreateSimpleWindow(f->display, DefaultRootWindow(f->display), 0, 0, 100, 100,
	                                0, 0, 0);
	XSync(f->display, False);
	rouse_x11_options what = fixture_options(f);
	assert_int_equal(rouse_x11_attach(f->loop, &what, &f->x11), 0);
	fixture_settle(f->loop);
}

void fixture_close(struct fixture *f)
{
	uint64_t foreign = 0;

	if (f->x11)
		assert_int_equal(rouse_x11_foreign_reads(f->x11, &foreign), 0);
	assert_true(f->shared || foreign == 0);
	assert_int_equal(rouse_x11_detach(f->x11), 0);
	if (f->display)
		XCloseDisplay(f->display);
	if (f->other)
		XCloseDisplay(f->other);
	assert_int_equal(rouse_loop_destroy(f->loop), 0);
	memset(f, 0, sizeof(*f));
}

bool fixture_readable(const struct fixture *f)
{
	struct pollfd pollfd = {.fd = ConnectionNumber(f->display), .events = POLLIN};

	return poll(&pollfd, 1, 0) == 1;
}

void fixture_await_bytes(const struct fixture *f, int least)
{
	fixture_await_bytes_of(ConnectionNumber(f->display), least);
}

void fixture_send(struct fixture *f, long value)
{
	XEvent event = {.xclient = {.type = ClientMessage, .window = f->window, .format = 32}};
	int before = fixture_bytes(ConnectionNumber(f->display));

	event.xclient.message_type = XInternAtom(f->other, "FOREIGN", False);
	event.xclient.data.l[0] = value;
	assert_true(XSendEvent(f->other, f->window, False, NoEventMask, &event));
	XSync(f->other, False);
	fixture_await_bytes(f, before + 32);
}
