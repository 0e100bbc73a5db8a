#include "bench/window.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <X11/Xlib.h>
#include <X11/Xlib-xcb.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

#include "interrupt.h"
#include "tool.h"

enum { WIDTH = 320, HEIGHT = 200 };

struct window {
	rouse_loop *loop;
	rouse_x11 *x11;
	Display *display;
	Window id;
	GC gc;
	struct events *events;
	void (*message)(void *data, uint64_t payload, rouse_ns now);
	void *message_data;
	unsigned draws;
	bool lost;
};

static void draw(struct window *w)
{
	unsigned step = w->draws++ % 16;

	XFillRectangle(w->display, w->id, w->gc, (int)(step * WIDTH / 16), HEIGHT / 4, WIDTH / 16,
	               HEIGHT / 2);
	XDrawRectangle(w->display, w->id, w->gc, 4, 4, WIDTH - 9, HEIGHT - 9);
}

static void on_event(rouse_loop *loop, rouse_x11 *x11, union _XEvent *event, void *data)
{
	struct window *w = data;

	(void)loop;
	(void)x11;
	if (event->type != Expose)
		return;
	events_add(w->events, EVENT_EXPOSE, NULL, NULL, (uint64_t)event->xexpose.count);
	if (event->xexpose.count == 0)
		draw(w);
}

static void on_message(rouse_loop *loop, rouse_x11 *x11, uint64_t payload, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct window *w = data;

	(void)x11;
	if (w->message)
		w->message(w->message_data, payload, now);
}

static void on_error(rouse_loop *loop, rouse_x11 *x11, unsigned char error_code,
                     unsigned char request_code, unsigned char minor_code, unsigned long serial,
                     unsigned long resource, void *data)
{
	struct window *w = data;

	(void)loop;
	(void)x11;
	(void)request_code;
	(void)minor_code;
	(void)serial;
	(void)resource;
	events_add(w->events, EVENT_X_ERROR, NULL, NULL, error_code);
}

static void on_lost(rouse_loop *loop, rouse_x11 *x11, void *data)
{
	struct window *w = data;

	(void)x11;
	w->lost = true;
	events_add(w->events, EVENT_STEP, "display_lost", NULL, 0);
	rouse_loop_stop(loop);
}

/* Before the display is attached and after it is detached again, a server that dies must not
 * take the process with it either: both of Xlib's ways out are closed. */
static int stay_io(Display *display)
{
	(void)display;
	return 0;
}

static void stay_exit(Display *display, void *data)
{
	(void)display;
	(void)data;
}

static bool exposed(struct window *w)
{
	rouse_ns give_up = rouse_now() + 5 * TOOL_NS_PER_SEC;

	while (w->draws == 0 && !w->lost && !interrupt_caught() && rouse_now() < give_up)
		if (rouse_loop_turn(w->loop, give_up) < 0)
			return false;
	return w->draws > 0;
}

int window_open(rouse_loop *loop, const char *display, struct events *events,
                struct window **ret_window)
{
	struct window *w = calloc(1, sizeof *w);
	rouse_x11_options options = {
	        .size = sizeof options,
	        .data = w,
	        .event = on_event,
	        .message = on_message,
	        .error = on_error,
	        .lost = on_lost,
	};
	int rc;

	if (!w)
		return ROUSE_ENOMEM;
	w->loop = loop;
	w->events = events;
	XSetIOErrorHandler(stay_io);
	w->display = XOpenDisplay(display);
	if (!w->display) {
		tool_complain("cannot open the X display '%s'", display);
		free(w);
		return ROUSE_ELOST;
	}
	XSetIOErrorExitHandler(w->display, stay_exit, NULL);
	w->id = XCreateSimpleWindow(w->display, DefaultRootWindow(w->display), 0, 0, WIDTH, HEIGHT,
	                            0, BlackPixel(w->display, DefaultScreen(w->display)),
	                            WhitePixel(w->display, DefaultScreen(w->display)));
	w->gc = XCreateGC(w->display, w->id, 0, NULL);
	XStoreName(w->display, w->id, "rouse bench");
	XSelectInput(w->display, w->id, ExposureMask);
	XMapWindow(w->display, w->id);
	options.display = w->display;
	rc = rouse_x11_attach(loop, &options, &w->x11);
	if (rc < 0) {
		tool_complain("cannot attach the X display: %s", rouse_strerror(rc));
		window_close(w);
		return rc;
	}
	events_add(events, EVENT_WINDOW, NULL, NULL, w->id);
	if (!exposed(w)) {
		if (!interrupt_caught())
			tool_complain(w->lost ? "the X server went away"
			                      : "the window was not shown within 5 s");
		window_close(w);
		return ROUSE_ELOST;
	}
	*ret_window = w;
	return 0;
}

/* Whether the server still answers: XCloseDisplay() would wait for one that was stopped. */
static bool answers(struct window *w)
{
	xcb_connection_t *x = XGetXCBConnection(w->display);
	unsigned question = xcb_get_input_focus(x).sequence;
	struct pollfd pollfd = {.fd = xcb_get_file_descriptor(x), .events = POLLIN};
	rouse_ns give_up = rouse_now() + TOOL_NS_PER_SEC;
	xcb_generic_error_t *error = NULL;
	void *reply = NULL;

	xcb_flush(x);
	while (!xcb_poll_for_reply(x, question, &reply, &error)) {
		if (rouse_now() > give_up)
			return false;
		poll(&pollfd, 1, 20);
	}
	free(reply);
	free(error);
	return true;
}

void window_close(struct window *w)
{
	if (!w)
		return;
	rouse_x11_detach(w->x11);
	XSetIOErrorHandler(stay_io);
	XSetIOErrorExitHandler(w->display, stay_exit, NULL);
	XFreeGC(w->display, w->gc);
	if (!w->lost && !answers(w))
		shutdown(ConnectionNumber(w->display), SHUT_RDWR);
	XCloseDisplay(w->display);
	free(w);
}

void window_refresh(struct window *w)
{
	if (!w->lost)
		XClearArea(w->display, w->id, 0, 0, 0, 0, True);
}

bool window_lost(const struct window *w)
{
	return w->lost;
}

void window_server(const struct window *w, char *text, size_t size)
{
	snprintf(text, size, "%s %d", ServerVendor(w->display), VendorRelease(w->display));
}

const char *window_display(const struct window *w)
{
	return DisplayString(w->display);
}

int window_injector(struct window *w, rouse_x11_injector **ret_injector)
{
	return rouse_x11_injector_create(w->x11, w->id, ret_injector);
}

void window_on_message(struct window *w, void (*fn)(void *data, uint64_t payload, rouse_ns now),
                       void *data)
{
	w->message = fn;
	w->message_data = data;
}
