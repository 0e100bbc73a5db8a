#define SDL_MAIN_HANDLED
#include "sdl_subject.h"

bool subject_has_budget;
SDL_Window *sdl_subject_window;
void (*sdl_subject_event)(struct subject *s, const SDL_Event *event);

static void on_event(rouse_loop *loop, rouse_sdl *sdl, const SDL_Event *event, void *data)
{
	struct subject *s = data;

	assert_ptr_equal(loop, s->loop);
	assert_ptr_equal(sdl, s->attached);
	s->asked_to_close = s->asked_to_close || event->type == SDL_QUIT;
	if (sdl_subject_event)
		sdl_subject_event(s, event);
	/* SDL merges its own events of that kind. */
	if (s->display && event->type == SDL_SYSWMEVENT &&
	    event->syswm.msg->msg.x11.event.type == Expose)
		subject_event(s);
}

static void on_after(rouse_loop *loop, rouse_sdl *sdl, void *data)
{
	(void)loop, (void)sdl;
	subject_after(data);
}

static void on_lost(rouse_loop *loop, rouse_sdl *sdl, void *data)
{
	(void)loop, (void)sdl;
	subject_lost(data);
}

rouse_sdl_options sdl_subject_options(struct subject *s)
{
	return (rouse_sdl_options){.size = sizeof(rouse_sdl_options),
	                           .window = sdl_subject_window,
	                           .data = s,
	                           .period = s->period,
	                           .event = on_event,
	                           .after = on_after,
	                           .lost = on_lost};
}

int subject_attach(struct subject *s, rouse_loop *loop, void **ret_attached)
{
	rouse_sdl_options options = sdl_subject_options(s);
	rouse_sdl *sdl;
	int result = rouse_sdl_attach(loop, &options, &sdl);

	if (result == 0)
		*ret_attached = sdl;
	return result;
}

int subject_detach(void *attached)
{
	return rouse_sdl_detach(attached);
}

bool library_open(struct subject *s)
{
	SDL_SysWMinfo info;

	/* SDL 2.26 crashes in SDL_CreateWindow() where a compositor has no seat. */
	if (!server_has_seat())
		return false;
	SDL_SetMainReady();
	SDL_SetHint(SDL_HINT_VIDEODRIVER, server_driver);
	assert_int_equal(SDL_Init(SDL_INIT_VIDEO | SDL_INIT_TIMER), 0);
	SDL_EventState(SDL_SYSWMEVENT, SDL_ENABLE);
	sdl_subject_event = NULL;
	sdl_subject_window = SDL_CreateWindow("subject", 0, 0, 200, 100, 0);
	assert_non_null(sdl_subject_window);
	SDL_VERSION(&info.version);
	assert_true(SDL_GetWindowWMInfo(sdl_subject_window, &info));
	subject_has_budget = info.subsystem == SDL_SYSWM_X11;
	if (subject_has_budget) {
		s->display = info.info.x11.display;
		s->window = info.info.x11.window;
	} else {
		s->wayland = info.info.wl.display;
	}
	return true;
}

void library_quit(void)
{
	SDL_Quit();
	sdl_subject_window = NULL;
}

void library_push(void)
{
	SDL_Event event = {.type = SDL_USEREVENT};

	SDL_PushEvent(&event);
}

void library_wait(rouse_ns longest)
{
	SDL_Event event;

	SDL_WaitEventTimeout(&event, (int)(longest / MS));
}
