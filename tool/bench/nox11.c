/*
 * In place of the X11 parts, in a build without them: the loop x11 is then not available, and
 * none of this is called.
 */
#include "bench/load.h"
#include "bench/mech.h"
#include "bench/window.h"
#include "xvfb.h"

const struct mech_ops mech_clientmessage = {
        .name = "clientmessage",
        .summary = "ClientMessage to the loop's window",
        .x11 = true,
};

int window_open(rouse_loop *loop, const char *display, struct events *events,
                struct window **ret_window)
{
	(void)loop;
	(void)display;
	(void)events;
	(void)ret_window;
	return ROUSE_ENOTSUP;
}

void window_close(struct window *window)
{
	(void)window;
}

void window_refresh(struct window *window)
{
	(void)window;
}

bool window_lost(const struct window *window)
{
	(void)window;
	return false;
}

void window_server(const struct window *window, char *text, size_t size)
{
	(void)window;
	if (size > 0)
		text[0] = '\0';
}

const char *window_display(const struct window *window)
{
	(void)window;
	return "";
}

bool xvfb_installed(void)
{
	return false;
}

int xvfb_start(struct xvfb *xvfb)
{
	(void)xvfb;
	return -1;
}

void xvfb_stop(struct xvfb *xvfb)
{
	(void)xvfb;
}

struct load *load_start(const char *display, unsigned clients)
{
	(void)display;
	(void)clients;
	return NULL;
}

void load_stop(struct load *load)
{
	(void)load;
}
