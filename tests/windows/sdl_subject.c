#define SDL_MAIN_HANDLED
#include "sdl_subject.h"

#include <stdlib.h>
#include <string.h>

const bool subject_has_budget = true;
SDL_Window *sdl_subject_window;
void (*sdl_subject_event)(struct subject *s, const SDL_Event *event);

static void on_event(rouse_loop *loop, rouse_sdl *sdl, const SDL_Event *event, void *data)
{
	struct subject *s = data;

	assert_ptr_equal(loop, s->loop);
	assert_ptr_equal(sdl, s->attached);
	if (sdl_subject_event)
		sdl_subject_event(s, event);
	/* SDL merges its own events of that kind. */
	if (event->type != SDL_SYSWMEVENT || event->syswm.msg->msg.x11.event.type != Expose)
		return;
	s->events++;
	if (s->on_event)
		s->on_event(s);
}

static void on_after(rouse_loop *loop, rouse_sdl *sdl, void *data)
{
	struct subject *s = data;

	(void)loop, (void)sdl;
	s->after++;
	if (s->on_after)
		s->on_after(s);
}

static void on_lost(rouse_loop *loop, rouse_sdl *sdl, void *data)
{
	struct subject *s = data;

	(void)loop, (void)sdl;
	s->lost++;
	if (s->on_lost)
		s->on_lost(s);
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

void subject_open(struct subject *s, const rouse_loop_options *loop_options)
{
	rouse_loop_options options = {.size = sizeof(options)};
	rouse_ns period = s->period;
	SDL_SysWMinfo info;

	if (loop_options)
		options = *loop_options;
	if (!options.poller)
		options.poller = getenv("ROUSE_TEST_POLLER");
	memset(s, 0, sizeof(*s));
	s->period = period;
	assert_int_equal(rouse_loop_create(&options, &s->loop), 0);
	SDL_SetMainReady();
	assert_int_equal(SDL_Init(SDL_INIT_VIDEO | SDL_INIT_TIMER), 0);
	SDL_EventState(SDL_SYSWMEVENT, SDL_ENABLE);
	sdl_subject_window = SDL_CreateWindow("subject", 0, 0, 200, 100, 0);
	assert_non_null(sdl_subject_window);
	SDL_VERSION(&info.version);
	assert_true(SDL_GetWindowWMInfo(sdl_subject_window, &info));
	s->display = info.info.x11.display;
	s->window = info.info.x11.window;
	s->other = XOpenDisplay(NULL);
	assert_non_null(s->other);
	XSync(s->display, False);
	assert_int_equal(subject_attach(s, s->loop, &s->attached), 0);
	fixture_settle(s->loop);
	s->events = s->after = 0;
}

void subject_quit(struct subject *s)
{
	s->display = NULL;
	SDL_Quit();
}

void subject_close(struct subject *s)
{
	assert_int_equal(rouse_sdl_detach(s->attached), 0);
	if (s->display)
		subject_quit(s);
	if (s->other)
		XCloseDisplay(s->other);
	assert_int_equal(rouse_loop_destroy(s->loop), 0);
	sdl_subject_event = NULL;
}
