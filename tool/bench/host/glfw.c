/*
 * A window of GLFW's, on X11: in the loop, which glfwPostEmptyEvent() does not wake, and by turns
 * with that in GLFW's own wait (handover.h), which it does.
 */
#define GLFW_INCLUDE_NONE
#define GLFW_EXPOSE_NATIVE_X11
#include <GLFW/glfw3.h>
#include <GLFW/glfw3native.h>
#include <stdio.h>
#include <stdlib.h>

#include <rouse/glfw.h>

#include "bench/display.h"
#include "bench/display/x11_server.h"
#include "bench/handover.h"

/* A GLFW that was built for Wayland alone has neither. */
#pragma weak glfwGetX11Display
#pragma weak glfwGetX11Window

enum { WIDTH = 320, HEIGHT = 200 };

struct glfw_window {
	struct window window;
	rouse_glfw *glfw; /* NULL: GLFW is not in the loop. */
	GLFWwindow *shown;
	Display *display;
	GC gc;
	unsigned draws;
	rouse_ns entered; /* GLFW's own wait, the latest time. */
};

static void on_refresh(GLFWwindow *shown)
{
	struct glfw_window *w = glfwGetWindowUserPointer(shown);
	unsigned step = w->draws++ % 16;

	events_add(w->window.events, EVENT_EXPOSE, NULL, NULL, 0);
	XFillRectangle(w->display, glfwGetX11Window(shown), w->gc, (int)(step * WIDTH / 16),
	               HEIGHT / 4, WIDTH / 16, HEIGHT / 2);
}

static void on_lost(rouse_loop *loop, rouse_glfw *glfw, void *data)
{
	(void)loop;
	(void)glfw;
	window_lost(data);
}

static int attach(struct glfw_window *w)
{
	const rouse_glfw_options options = {.size = sizeof options, .data = w, .lost = on_lost};
	int rc = rouse_glfw_attach(w->window.loop, &options, &w->glfw);

	if (rc < 0 && rc != ROUSE_ELOST)
		tool_complain("cannot attach GLFW: %s", rouse_strerror(rc));
	return rc;
}

static void detach(struct glfw_window *w)
{
	rouse_glfw_detach(w->glfw);
	w->glfw = NULL;
}

/* After a server that is gone, or does not answer, GLFW's own end would use what is not there. */
static void close_window(struct window *window)
{
	struct glfw_window *w = (struct glfw_window *)window;

	detach(w);
	if (!w->display) {
		glfwTerminate();
	} else if (!window->lost && x11_answers(w->display)) {
		XFreeGC(w->display, w->gc);
		glfwDestroyWindow(w->shown);
		glfwTerminate();
	}
	x11_set_variable(NULL);
	free(w);
}

static void say_why(const char *display)
{
	const char *why = NULL;

	glfwGetError(&why);
	tool_complain("GLFW has no window on the X display '%s': %s", display,
	              why ? why : "it was built without X11");
}

static bool open_shown(struct glfw_window *w)
{
	glfwInitHint(GLFW_JOYSTICK_HAT_BUTTONS, GLFW_FALSE);
#ifdef GLFW_PLATFORM
	glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
#endif
	if (!glfwInit() || !glfwGetX11Display)
		return false;
	w->display = glfwGetX11Display();
	x11_stay(w->display);
	glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
	glfwWindowHint(GLFW_FOCUSED, GLFW_FALSE);
	w->shown = glfwCreateWindow(WIDTH, HEIGHT, "rouse bench", NULL, NULL);
	if (!w->shown)
		return false;
	w->gc = XCreateGC(w->display, glfwGetX11Window(w->shown), 0, NULL);
	glfwSetWindowUserPointer(w->shown, w);
	glfwSetWindowRefreshCallback(w->shown, on_refresh);
	return true;
}

static int open_window(rouse_loop *loop, const char *display, struct events *events,
                       struct window **ret_window)
{
	struct glfw_window *w = calloc(1, sizeof *w);
	int major, minor, revision;

	if (!w) {
		tool_complain("no memory for the window");
		return ROUSE_ENOMEM;
	}
	w->window.loop = loop;
	w->window.events = events;
	x11_stay_early();
	x11_set_variable(display);
	if (!open_shown(w)) {
		say_why(display);
		close_window(&w->window);
		return ROUSE_ELOST;
	}
	events_add(events, EVENT_WINDOW, NULL, NULL, glfwGetX11Window(w->shown));
	if (attach(w) < 0 || !window_wait(&w->window, &display_glfw, &w->draws)) {
		close_window(&w->window);
		return ROUSE_ELOST;
	}
	x11_server_name(w->display, &w->window);
	glfwGetVersion(&major, &minor, &revision);
	snprintf(w->window.library, sizeof w->window.library, "GLFW %d.%d.%d", major, minor,
	         revision);
	*ret_window = &w->window;
	return 0;
}

static void refresh(struct window *window)
{
	struct glfw_window *w = (struct glfw_window *)window;

	if (!window->lost)
		XClearArea(w->display, glfwGetX11Window(w->shown), 0, 0, 0, 0, True);
}

const struct display_ops display_glfw = {
        .loop = "glfw",
        .name = "X11 display for GLFW",
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

/* ---- emptyevent -------------------------------------------------------- */

/* GLFW does not say what has ended its wait: whatever is not the time. */
static void wait_once(struct mech *m, int ms)
{
	struct glfw_window *w = (struct glfw_window *)m->window;
	rouse_ns begin = rouse_now(), now;

	glfwWaitEventsTimeout(ms / 1e3);
	now = rouse_now();
	if (x11_found_dead())
		window_lost(m->window);
	else if (now - begin < (rouse_ns)ms * 1000000)
		meter_answer_all(&m->meter, now, w->entered);
}

/* Without the loop: the wait is GLFW's own and nothing else. */
static void await(struct mech *m)
{
	struct glfw_window *w = (struct glfw_window *)m->window;

	detach(w);
	w->entered = rouse_now();
	handover_await(m, wait_once);
	if (!m->window->lost && attach(w) < 0)
		window_lost(m->window);
}

static int emptyevent_open(struct mech *m)
{
	(void)m;
	return 0;
}

static int emptyevent_fire(struct mech *m, rouse_ns stamp)
{
	(void)m;
	(void)stamp;
	glfwPostEmptyEvent();
	return 0;
}

static void emptyevent_close(struct mech *m)
{
	(void)m;
}

const struct mech_ops mech_emptyevent = {
        .name = "emptyevent",
        .summary = "glfwPostEmptyEvent(), in GLFW's own wait: glfwWaitEventsTimeout()",
        .display = &display_glfw,
        .open = emptyevent_open,
        .fire = emptyevent_fire,
        .close = emptyevent_close,
        .await = await,
};
