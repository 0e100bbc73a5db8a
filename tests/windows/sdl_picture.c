#define SDL_MAIN_HANDLED
#include "picture.h"

#include <rouse/sdl.h>

#include <SDL.h>
#include <SDL_syswm.h>

const char picture_name[] = "sdl";
static SDL_Window *the_window;
static rouse_sdl *attached;

static void on_event(rouse_loop *loop, rouse_sdl *sdl, const SDL_Event *event, void *data)
{
	struct picture *p = data;

	(void)loop, (void)sdl;
	if (event->type != SDL_MOUSEBUTTONDOWN)
		return;
	p->clicks++;
	picture_draw(p);
}

bool picture_open(struct picture *p)
{
	rouse_sdl_options options = {.size = sizeof(options), .event = on_event, .data = p};
	SDL_SysWMinfo info;

	SDL_SetMainReady();
	assert_int_equal(SDL_Init(SDL_INIT_VIDEO), 0);
	the_window = SDL_CreateWindow("picture", 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT, 0);
	assert_non_null(the_window);
	/* The first surface may be a new X window. */
	assert_non_null(SDL_GetWindowSurface(the_window));
	SDL_VERSION(&info.version);
	assert_true(SDL_GetWindowWMInfo(the_window, &info));
	p->display = info.info.x11.display;
	p->window = info.info.x11.window;
	options.window = the_window;
	assert_int_equal(rouse_sdl_attach(p->loop, &options, &attached), 0);
	return true;
}

static void fill(SDL_Surface *surface, SDL_Rect where, unsigned red, unsigned green, unsigned blue)
{
	SDL_FillRect(surface, &where,
	             SDL_MapRGB(surface->format, (Uint8)red, (Uint8)green, (Uint8)blue));
}

void picture_draw(struct picture *p)
{
	SDL_Surface *surface = SDL_GetWindowSurface(the_window);
	int length = (int)(p->number * PICTURE_WIDTH / PICTURE_FULL);

	fill(surface, (SDL_Rect){0, 0, PICTURE_WIDTH, PICTURE_HEIGHT}, 0, 0, 0);
	fill(surface, (SDL_Rect){0, 40, length, 40}, picture_red(p), picture_green(p), 255);
	if (p->clicks)
		fill(surface, (SDL_Rect){10, 10, 20, 20}, 255, 255, 255);
	SDL_UpdateWindowSurface(the_window);
}

void picture_close(struct picture *p)
{
	(void)p;
	assert_int_equal(rouse_sdl_detach(attached), 0);
	SDL_Quit();
}
