#include "bench/display/wl_window.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <wayland-client-protocol.h>

#include <rouse/wayland.h>

#include "bench/display/wl_client.h"
#include "tool.h"
#include "weston.h"

enum { WIDTH = 320, HEIGHT = 200 };

struct wl_window {
	struct window window;
	rouse_wayland *wayland;
	struct wl_client client;
	struct wl_callback *globals, *frame;
	unsigned announced, shown; /* 1: the globals are; the first frame was. */
};

static void request_frame(struct wl_window *w);

/* The picture is late where the compositor has kept all buffers: the next frame brings one. */
static void draw(struct wl_window *w)
{
	request_frame(w);
	if (!wl_client_draw(&w->client))
		wl_surface_commit(w->client.surface);
}

static void on_frame(void *data, struct wl_callback *callback, uint32_t ms)
{
	struct wl_window *w = data;

	events_add(w->window.events, EVENT_FRAME, NULL, NULL, ms);
	w->window.frames++;
	w->shown = 1;
	wl_callback_destroy(callback);
	w->frame = NULL;
	draw(w);
}

static const struct wl_callback_listener frame_listener = {.done = on_frame};

/* Goes out with the commit that follows. */
static void request_frame(struct wl_window *w)
{
	w->frame = wl_surface_frame(w->client.surface);
	wl_callback_add_listener(w->frame, &frame_listener, w);
}

/* Frames draw from then on. */
static void on_configured(void *data)
{
	struct wl_window *w = data;

	if (!w->frame)
		draw(w);
}

static void on_lost(rouse_loop *loop, rouse_wayland *wayland, const rouse_wayland_loss *how,
                    void *data)
{
	struct wl_window *w = data;

	(void)loop;
	(void)wayland;
	if (how->interface)
		tool_complain("error %u of %s", how->code, how->interface->name);
	window_lost(&w->window);
}

struct wl_display *wl_window_display(struct window *window)
{
	struct wl_window *w = (struct wl_window *)window;

	return w->client.display;
}

static struct weston weston;

/* The name of the program at the other end, with its version where it is ours. */
static void name_server(struct wl_window *w)
{
	struct ucred peer;
	socklen_t length = sizeof peer;
	char path[32];
	FILE *file;

	if (weston.folder[0]) {
		weston_version(&weston, w->window.server, sizeof w->window.server);
		return;
	}
	if (getsockopt(wl_display_get_fd(w->client.display), SOL_SOCKET, SO_PEERCRED, &peer,
	               &length) < 0)
		return;
	snprintf(path, sizeof path, "/proc/%ld/comm", (long)peer.pid);
	file = fopen(path, "re");
	if (file && fgets(w->window.server, sizeof w->window.server, file))
		w->window.server[strcspn(w->window.server, "\n")] = '\0';
	if (file)
		fclose(file);
}

static void on_globals(void *data, struct wl_callback *callback, uint32_t serial)
{
	struct wl_window *w = data;

	(void)callback;
	(void)serial;
	w->announced = 1;
}

static const struct wl_callback_listener globals_listener = {.done = on_globals};

static bool show(struct wl_window *w)
{
	const char *lacks;

	w->globals = wl_display_sync(w->client.display);
	wl_callback_add_listener(w->globals, &globals_listener, w);
	if (!window_wait(&w->window, &display_wayland, &w->announced))
		return false;
	lacks = wl_client_lacks(&w->client);
	if (lacks) {
		tool_complain("the compositor has no %s", lacks);
		return false;
	}
	if (wl_client_show(&w->client, "rouse bench", WIDTH, HEIGHT) < 0) {
		tool_complain("cannot make the window: %s", strerror(errno));
		return false;
	}
	events_add(w->window.events, EVENT_WINDOW, NULL, NULL,
	           wl_proxy_get_id((struct wl_proxy *)w->client.surface));
	return window_wait(&w->window, &display_wayland, &w->shown);
}

static void close_window(struct window *window)
{
	struct wl_window *w = (struct wl_window *)window;

	if (!w)
		return;
	rouse_wayland_detach(w->wayland);
	if (w->globals)
		wl_callback_destroy(w->globals);
	if (w->frame)
		wl_callback_destroy(w->frame);
	wl_client_close(&w->client);
	free(w);
}

/* What libwayland has to say is said by whoever finds the error, in one line. */
static void say_nothing(const char *format, va_list args)
{
	(void)format;
	(void)args;
}

/* The library says "no such file" to both. */
static void complain_of_opening(const char *display)
{
	const char *why = strerror(errno);

	if (display[0] != '/' && !getenv("XDG_RUNTIME_DIR"))
		why = "XDG_RUNTIME_DIR is not set";
	tool_complain("cannot open the Wayland display '%s': %s", display, why);
}

static int open_window(rouse_loop *loop, const char *display, struct events *events,
                       struct window **ret_window)
{
	struct wl_window *w = calloc(1, sizeof *w);
	rouse_wayland_options options = {.size = sizeof options, .data = w, .lost = on_lost};
	int rc;

	if (!w) {
		tool_complain("no memory for the window");
		return ROUSE_ENOMEM;
	}
	w->window.loop = loop;
	w->window.events = events;
	w->client.configured = on_configured;
	w->client.data = w;
	wl_log_set_handler_client(say_nothing);
	/* One connection that somebody opened for us, where several are needed. */
	unsetenv("WAYLAND_SOCKET");
	if (wl_client_open(&w->client, display) < 0) {
		complain_of_opening(display);
		close_window(&w->window);
		return ROUSE_ELOST;
	}
	name_server(w);
	options.display = w->client.display;
	rc = rouse_wayland_attach(loop, &options, &w->wayland);
	if (rc < 0) {
		tool_complain("cannot attach the Wayland display: %s", rouse_strerror(rc));
	} else if (show(w)) {
		*ret_window = &w->window;
		return 0;
	}
	close_window(&w->window);
	return rc < 0 ? rc : ROUSE_ELOST;
}

static const char *start(void)
{
	return weston_start(&weston) < 0 ? NULL : weston_display(&weston);
}

static void stop(void)
{
	weston_stop(&weston);
}

const struct display_ops display_wayland = {
        .loop = "wayland",
        .name = "Wayland compositor",
        .server = "the compositor",
        .variable = "WAYLAND_DISPLAY",
        .program = "weston",
        .package = "weston",
        .drawn = "frame callbacks",
        .frames = 75,
        .start = start,
        .stop = stop,
        .open = open_window,
        .close = close_window,
        .load = &load_wayland,
};
