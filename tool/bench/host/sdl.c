/*
 * A window of SDL's, on X11: in the loop, which SDL_PushEvent() wakes there (pushevent-loop), and
 * by turns with that in SDL's own wait (handover.h), which SDL_PushEvent() ends (pushevent).
 */
#define SDL_MAIN_HANDLED
#include <SDL.h>
#include <SDL_syswm.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <rouse/sdl.h>

#include "bench/display.h"
#include "bench/display/x11_server.h"
#include "bench/handover.h"
#include "bench/host/stamps.h"

enum { WIDTH = 320, HEIGHT = 200 };

struct sdl_window {
	struct window window;
	rouse_sdl *sdl; /* NULL: SDL is not in the loop. */
	SDL_Window *shown;
	Display *display;
	Uint32 own, loop; /* The types of event of the two mechanisms. */
	unsigned draws;
	rouse_ns entered; /* SDL's own wait, the latest time. */
};

/*
 * In Xlib's place: SDL has a second Display, through which it wakes its own wait, and tells nobody
 * of it.  Where the server dies, that one must not take the process with it either.  (A build of
 * SDL that loads Xlib by itself is not reached by this.)
 */
__attribute__((visibility("default"))) Display *XOpenDisplay(const char *name)
{
	Display *(*real)(const char *);
	Display *display;

	*(void **)&real = dlsym(RTLD_NEXT, "XOpenDisplay");
	display = real(name);
	if (display)
		x11_stay(display);
	return display;
}

static bool find(struct sdl_window *w, SDL_SysWMinfo *info)
{
	SDL_VERSION(&info->version);
	return SDL_GetWindowWMInfo(w->shown, info) && info->subsystem == SDL_SYSWM_X11;
}

static void draw(struct sdl_window *w)
{
	SDL_Surface *surface = SDL_GetWindowSurface(w->shown);
	unsigned step = w->draws++ % 16;
	SDL_Rect bar = {(int)(step * WIDTH / 16), HEIGHT / 4, WIDTH / 16, HEIGHT / 2};

	events_add(w->window.events, EVENT_EXPOSE, NULL, NULL, 0);
	if (!surface)
		return;
	SDL_FillRect(surface, NULL, SDL_MapRGB(surface->format, 255, 255, 255));
	SDL_FillRect(surface, &bar, SDL_MapRGB(surface->format, 0, 0, 0));
	SDL_UpdateWindowSurface(w->shown);
}

static void handle(struct sdl_window *w, const SDL_Event *event)
{
	if (event->type == SDL_WINDOWEVENT && event->window.event == SDL_WINDOWEVENT_EXPOSED)
		draw(w);
}

static void on_event(rouse_loop *loop, rouse_sdl *sdl, const SDL_Event *event, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct sdl_window *w = data;

	(void)sdl;
	if (event->type == w->loop)
		stamps_answer(event->user.data1, now);
	else if (event->type == w->own)
		stamps_refuse(event->user.data1); /* SDL's own wait should have had it. */
	else
		handle(w, event);
}

static void on_lost(rouse_loop *loop, rouse_sdl *sdl, void *data)
{
	(void)loop;
	(void)sdl;
	window_lost(data);
}

static int attach(struct sdl_window *w)
{
	const rouse_sdl_options options = {.size = sizeof options,
	                                   .window = w->shown,
	                                   .data = w,
	                                   .event = on_event,
	                                   .lost = on_lost};
	int rc = rouse_sdl_attach(w->window.loop, &options, &w->sdl);

	if (rc < 0 && rc != ROUSE_ELOST)
		tool_complain("cannot attach SDL: %s", rouse_strerror(rc));
	return rc;
}

static void detach(struct sdl_window *w)
{
	rouse_sdl_detach(w->sdl);
	w->sdl = NULL;
}

/* After a server that is gone, or does not answer, SDL's own end would use what is not there. */
static void close_window(struct window *window)
{
	struct sdl_window *w = (struct sdl_window *)window;

	detach(w);
	if (!w->display || (!window->lost && x11_answers(w->display)))
		SDL_Quit();
	x11_set_variable(NULL);
	free(w);
}

static bool open_shown(struct sdl_window *w)
{
	SDL_SysWMinfo info;

	SDL_SetMainReady();
	SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
	SDL_SetHint("SDL_VIDEODRIVER", "x11");
	/* Else the picture goes through OpenGL, with threads and a connection of its own. */
	SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
	/* Where there is no session bus, libdbus would start one. */
	setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:", 0);
	if (SDL_Init(SDL_INIT_VIDEO) < 0)
		return false;
	w->own = SDL_RegisterEvents(2);
	w->loop = w->own + 1;
	w->shown = SDL_CreateWindow("rouse bench", 0, 0, WIDTH, HEIGHT, 0);
	if (!w->shown || !SDL_GetWindowSurface(w->shown) || !find(w, &info))
		return false;
	w->display = info.info.x11.display;
	x11_stay(w->display);
	events_add(w->window.events, EVENT_WINDOW, NULL, NULL, info.info.x11.window);
	return true;
}

static int open_window(rouse_loop *loop, const char *display, struct events *events,
                       struct window **ret_window)
{
	struct sdl_window *w = calloc(1, sizeof *w);
	SDL_version version;

	if (!w) {
		tool_complain("no memory for the window");
		return ROUSE_ENOMEM;
	}
	w->window.loop = loop;
	w->window.events = events;
	x11_stay_early();
	x11_set_variable(display);
	if (!open_shown(w)) {
		tool_complain("SDL has no window on the X display '%s': %s", display,
		              SDL_GetError());
		close_window(&w->window);
		return ROUSE_ELOST;
	}
	if (attach(w) < 0 || !window_wait(&w->window, &display_sdl, &w->draws)) {
		close_window(&w->window);
		return ROUSE_ELOST;
	}
	x11_server_name(w->display, &w->window);
	SDL_GetVersion(&version);
	snprintf(w->window.library, sizeof w->window.library, "SDL %d.%d.%d", version.major,
	         version.minor, version.patch);
	*ret_window = &w->window;
	return 0;
}

static void refresh(struct window *window)
{
	struct sdl_window *w = (struct sdl_window *)window;
	SDL_SysWMinfo info;

	if (!window->lost && find(w, &info))
		XClearArea(w->display, info.info.x11.window, 0, 0, 0, 0, True);
}

const struct display_ops display_sdl = {
        .loop = "sdl",
        .name = "X11 display for SDL",
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

/* ---- pushevent, pushevent-loop ----------------------------------------- */

static int push(Uint32 type, struct mech *m, rouse_ns stamp)
{
	SDL_Event event = {.user = {.type = type, .data1 = stamps_take(m, stamp)}};

	return SDL_PushEvent(&event) == 1 ? 0 : ROUSE_EOS;
}

static int own_fire(struct mech *m, rouse_ns stamp)
{
	return push(((struct sdl_window *)m->window)->own, m, stamp);
}

static int loop_fire(struct mech *m, rouse_ns stamp)
{
	return push(((struct sdl_window *)m->window)->loop, m, stamp);
}

/* Nothing that is still queued is looked at any more. */
static void push_close(struct mech *m)
{
	free(m->handle);
}

static void wait_once(struct mech *m, int ms)
{
	struct sdl_window *w = (struct sdl_window *)m->window;
	SDL_Event event = {0};
	int got = SDL_WaitEventTimeout(&event, ms);
	rouse_ns now = rouse_now();
	struct stamp *stamp = event.user.data1;

	if (x11_found_dead())
		window_lost(m->window);
	else if (got && event.type != w->own)
		handle(w, &event);
	else if (got && stamp->at >= w->entered)
		stamps_answer(stamp, now);
	else if (got)
		stamps_refuse(stamp);
}

/* Without the loop: the wait is SDL's own, and a push tells nobody else. */
static void await(struct mech *m)
{
	struct sdl_window *w = (struct sdl_window *)m->window;

	detach(w);
	w->entered = rouse_now();
	handover_await(m, wait_once);
	if (!m->window->lost && attach(w) < 0)
		window_lost(m->window);
}

const struct mech_ops mech_pushevent = {
        .name = "pushevent",
        .summary = "SDL_PushEvent(), in SDL's own wait: SDL_WaitEventTimeout()",
        .display = &display_sdl,
        .open = stamps_open,
        .fire = own_fire,
        .close = push_close,
        .await = await,
};

const struct mech_ops mech_pushevent_loop = {
        .name = "pushevent-loop",
        .summary = "SDL_PushEvent(), in the loop",
        .display = &display_sdl,
        .open = stamps_open,
        .fire = loop_fire,
        .close = push_close,
};
