#include "bench/display/x11_server.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <X11/Xlib.h>
#include <X11/Xlib-xcb.h>
#include <xcb/xcb.h>
#include <xcb/xcbext.h>

#include "tool.h"
#include "xvfb.h"

static struct xvfb xvfb = {.cookie = -1};

const char *x11_server_start(void)
{
	return xvfb_start(&xvfb) < 0 ? NULL : xvfb.display;
}

void x11_server_stop(void)
{
	xvfb_stop(&xvfb);
}

void x11_server_name(Display *display, struct window *w)
{
	snprintf(w->server, sizeof w->server, "%s %d", ServerVendor(display),
	         VendorRelease(display));
}

/* ---- A server that dies ------------------------------------------------ */

static atomic_bool dead;

static int stay_io(Display *display)
{
	(void)display;
	atomic_store_explicit(&dead, true, memory_order_release);
	return 0;
}

static void stay_exit(Display *display, void *data)
{
	(void)display;
	(void)data;
}

void x11_stay_early(void)
{
	atomic_store_explicit(&dead, false, memory_order_release);
	XSetIOErrorHandler(stay_io);
}

void x11_stay(Display *display)
{
	XSetIOErrorHandler(stay_io);
	XSetIOErrorExitHandler(display, stay_exit, NULL);
}

bool x11_found_dead(void)
{
	return atomic_load_explicit(&dead, memory_order_acquire);
}

bool x11_answers(Display *display)
{
	xcb_connection_t *x = XGetXCBConnection(display);
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

/* ---- What libraries ask ------------------------------------------------ */

void x11_set_variable(const char *display)
{
	static char *before;
	const char *now = getenv("DISPLAY");

	if (display) {
		before = now ? strdup(now) : NULL;
		setenv("DISPLAY", display, 1);
		return;
	}
	if (before)
		setenv("DISPLAY", before, 1);
	else
		unsetenv("DISPLAY");
	free(before);
	before = NULL;
}
