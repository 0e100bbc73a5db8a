#ifndef ROUSE_TESTS_SDL_SUBJECT_H
#define ROUSE_TESTS_SDL_SUBJECT_H

#include "subject.h"

#include <rouse/sdl.h>

#include <SDL.h>
#include <SDL_syswm.h>

/* The window, and what else the subject's callback does with each event. */
extern SDL_Window *sdl_subject_window;
extern void (*sdl_subject_event)(struct subject *s, const SDL_Event *event);

rouse_sdl_options sdl_subject_options(struct subject *s);

#endif
