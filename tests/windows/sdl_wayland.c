#define SDL_MAIN_HANDLED
#include "wayland_subject.h"

#include <rouse/sdl.h>

#include <SDL.h>
#include <SDL_syswm.h>
#include <string.h>
#include <wayland-client.h>

static rouse_sdl *attached;

static void on_event(rouse_loop *loop, rouse_sdl *sdl, const SDL_Event *event, void *data)
{
	struct wayland_subject *s = data;

	(void)loop, (void)sdl;
	s->asked_to_close = s->asked_to_close || event->type == SDL_QUIT;
}

static void on_after(rouse_loop *loop, rouse_sdl *sdl, void *data)
{
	(void)loop, (void)sdl;
	((struct wayland_subject *)data)->after++;
}

static void on_lost(rouse_loop *loop, rouse_sdl *sdl, void *data)
{
	(void)loop, (void)sdl;
	((struct wayland_subject *)data)->lost++;
}

static void on_global(void *data, struct wl_registry *registry, uint32_t name, const char *is,
                      uint32_t version)
{
	(void)registry, (void)name, (void)version;
	if (!strcmp(is, wl_seat_interface.name))
		*(bool *)data = true;
}

/* SDL 2.26 crashes in SDL_CreateWindow() where the compositor has no seat. */
static bool has_seat(void)
{
	const struct wl_registry_listener listener = {.global = on_global};
	struct wl_display *display = wl_display_connect(NULL);
	bool seat = false;

	assert_non_null(display);
	struct wl_registry *registry = wl_display_get_registry(display);
	wl_registry_add_listener(registry, &listener, &seat);
	wl_display_roundtrip(display);
	wl_registry_destroy(registry);
	wl_display_disconnect(display);
	return seat;
}

bool wayland_subject_open(struct wayland_subject *s)
{
	rouse_sdl_options options = {.size = sizeof(options),
	                             .data = s,
	                             .event = on_event,
	                             .after = on_after,
	                             .lost = on_lost};
	SDL_SysWMinfo info;

	if (!has_seat())
		return false;
	SDL_SetMainReady();
	SDL_SetHint(SDL_HINT_VIDEODRIVER, "wayland");
	if (SDL_Init(SDL_INIT_VIDEO))
		return false;
	options.window = SDL_CreateWindow("subject", 0, 0, 200, 100, 0);
	assert_non_null(options.window);
	SDL_VERSION(&info.version);
	assert_true(SDL_GetWindowWMInfo(options.window, &info));
	s->display = info.info.wl.display;
	assert_int_equal(rouse_sdl_attach(s->loop, &options, &attached), 0);
	return true;
}

void wayland_subject_detach(void)
{
	assert_int_equal(rouse_sdl_detach(attached), 0);
}

void wayland_subject_push(void)
{
	SDL_Event event = {.type = SDL_USEREVENT};

	SDL_PushEvent(&event);
}
