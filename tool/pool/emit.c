#include "pool/emit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <X11/Xlib.h>
#include <X11/extensions/XTest.h>
#include <X11/keysym.h>

#include <rouse/rouse.h>

#include "tool.h"
#include "xvfb.h"

struct pool_emitter {
	struct xvfb xvfb;
	Display *display;
	KeyCode key;
	bool down;
	bool lost;
};

const char *pool_emit_missing(void)
{
	return xvfb_installed() ? NULL : "Xvfb is not installed (apt install xvfb)";
}

/* A server that dies must not take the process with it: both of Xlib's ways out are closed. */
static int stay_io(Display *display)
{
	(void)display;
	return 0;
}

static void on_lost(Display *display, void *data)
{
	struct pool_emitter *e = data;

	(void)display;
	e->lost = true;
}

static int open_display(struct pool_emitter *e)
{
	int ignored;

	XSetIOErrorHandler(stay_io);
	e->display = XOpenDisplay(e->xvfb.display);
	if (!e->display) {
		tool_complain("cannot open the X display '%s'", e->xvfb.display);
		return -1;
	}
	XSetIOErrorExitHandler(e->display, on_lost, e);
	if (!XTestQueryExtension(e->display, &ignored, &ignored, &ignored, &ignored)) {
		tool_complain("the X server has no XTEST");
		return -1;
	}
	e->key = XKeysymToKeycode(e->display, XK_Shift_L);
	if (e->key == 0) {
		tool_complain("the X server's keyboard has no shift key");
		return -1;
	}
	return 0;
}

struct pool_emitter *pool_emit_open(void)
{
	struct pool_emitter *e = calloc(1, sizeof *e);

	if (!e) {
		tool_complain("no memory for the emits");
		return NULL;
	}
	if (xvfb_start(&e->xvfb) < 0) {
		free(e);
		return NULL;
	}
	if (open_display(e) < 0) {
		pool_emit_close(e);
		return NULL;
	}
	return e;
}

void pool_emit_close(struct pool_emitter *e)
{
	if (!e)
		return;
	/* First the server: XCloseDisplay() would wait for one that was stopped. */
	xvfb_stop(&e->xvfb);
	if (e->display)
		XCloseDisplay(e->display);
	free(e);
}

void pool_emit_server(const struct pool_emitter *e, char *text, size_t size)
{
	snprintf(text, size, "%s %d", ServerVendor(e->display), VendorRelease(e->display));
}

/* Pressed, then released, in turn: a key that stays down repeats. */
static void emit(struct pool_emitter *e)
{
	e->down = !e->down;
	XTestFakeKeyEvent(e->display, e->key, e->down, CurrentTime);
}

int pool_emit_burst(struct pool_emitter *e, double *flushed, double *answered, unsigned n)
{
	for (unsigned i = 0; i < n && !e->lost; i++) {
		rouse_ns start = rouse_now();

		emit(e);
		XFlush(e->display);
		flushed[i] = (double)(rouse_now() - start);
		XSync(e->display, False);

		start = rouse_now();
		emit(e);
		XSync(e->display, False);
		answered[i] = (double)(rouse_now() - start);
	}
	return e->lost ? -1 : 0;
}
