#include "bench/display/x11_window.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <X11/Xlib.h>

#include "bench/display/x11_server.h"
#include "tool.h"

enum { WIDTH = 320, HEIGHT = 200 };

struct x11_window {
	struct window window;
	rouse_x11 *x11;
	Display *display;
	Window id;
	GC gc;
	void (*message)(void *data, uint64_t payload, rouse_ns now);
	void *message_data;
	unsigned draws;
};

static void draw(struct x11_window *w)
{
	unsigned step = w->draws++ % 16;

	XFillRectangle(w->display, w->id, w->gc, (int)(step * WIDTH / 16), HEIGHT / 4, WIDTH / 16,
	               HEIGHT / 2);
	XDrawRectangle(w->display, w->id, w->gc, 4, 4, WIDTH - 9, HEIGHT - 9);
}

static void on_event(rouse_loop *loop, rouse_x11 *x11, union _XEvent *event, void *data)
{
	struct x11_window *w = data;

	(void)loop;
	(void)x11;
	if (event->type != Expose)
		return;
	events_add(w->window.events, EVENT_EXPOSE, NULL, NULL, (uint64_t)event->xexpose.count);
	if (event->xexpose.count == 0)
		draw(w);
}

static void on_message(rouse_loop *loop, rouse_x11 *x11, uint64_t payload, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct x11_window *w = data;

	(void)x11;
	if (w->message)
		w->message(w->message_data, payload, now);
}

static void on_error(rouse_loop *loop, rouse_x11 *x11, unsigned char error_code,
                     unsigned char request_code, unsigned char minor_code, unsigned long serial,
                     unsigned long resource, void *data)
{
	struct x11_window *w = data;

	(void)loop;
	(void)x11;
	(void)request_code;
	(void)minor_code;
	(void)serial;
	(void)resource;
	events_add(w->window.events, EVENT_X_ERROR, NULL, NULL, error_code);
}

static void on_lost(rouse_loop *loop, rouse_x11 *x11, void *data)
{
	struct x11_window *w = data;

	(void)loop;
	(void)x11;
	window_lost(&w->window);
}

static void close_window(struct window *window)
{
	struct x11_window *w = (struct x11_window *)window;

	if (!w)
		return;
	rouse_x11_detach(w->x11);
	/* Detached, it has Xlib's own ways out again. */
	x11_stay(w->display);
	XFreeGC(w->display, w->gc);
	if (!w->window.lost && !x11_answers(w->display))
		shutdown(ConnectionNumber(w->display), SHUT_RDWR);
	XCloseDisplay(w->display);
	free(w);
}

static int open_window(rouse_loop *loop, const char *display, struct events *events,
                       struct window **ret_window)
{
	struct x11_window *w = calloc(1, sizeof *w);
	rouse_x11_options options = {
	        .size = sizeof options,
	        .data = w,
	        .event = on_event,
	        .message = on_message,
	        .error = on_error,
	        .lost = on_lost,
	};
	int rc;

	if (!w) {
		tool_complain("no memory for the window");
		return ROUSE_ENOMEM;
	}
	w->window.loop = loop;
	w->window.events = events;
	x11_stay_early();
	w->display = XOpenDisplay(display);
	if (!w->display) {
		tool_complain("cannot open the X display '%s'", display);
		free(w);
		return ROUSE_ELOST;
	}
	x11_stay(w->display);
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
		close_window(&w->window);
		return rc;
	}
	events_add(events, EVENT_WINDOW, NULL, NULL, w->id);
	if (!window_wait(&w->window, &display_x11, &w->draws)) {
		close_window(&w->window);
		return ROUSE_ELOST;
	}
	x11_server_name(w->display, &w->window);
	*ret_window = &w->window;
	return 0;
}

/* Ask the server for an Expose of the whole window. */
static void refresh(struct window *window)
{
	struct x11_window *w = (struct x11_window *)window;

	if (!window->lost)
		XClearArea(w->display, w->id, 0, 0, 0, 0, True);
}

int x11_window_injector(struct window *window, rouse_x11_injector **ret_injector)
{
	struct x11_window *w = (struct x11_window *)window;

	return rouse_x11_injector_create(w->x11, w->id, ret_injector);
}

void x11_window_on_message(struct window *window,
                           void (*fn)(void *data, uint64_t payload, rouse_ns now), void *data)
{
	struct x11_window *w = (struct x11_window *)window;

	w->message = fn;
	w->message_data = data;
}

const struct display_ops display_x11 = {
        .loop = "x11",
        .name = "X11 display",
        .server = "the X server",
        .variable = "DISPLAY",
        .x11 = true,
        .program = "Xvfb",
        .package = "xvfb",
        .start = x11_server_start,
        .stop = x11_server_stop,
        .open = open_window,
        .close = close_window,
        .tick = refresh,
        .load = &load_x11,
};
