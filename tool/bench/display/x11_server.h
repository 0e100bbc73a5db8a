/*
 * The X server of a run: the private one, and how a process survives that one goes away.
 */
#ifndef ROUSE_TOOL_BENCH_X11_SERVER_H
#define ROUSE_TOOL_BENCH_X11_SERVER_H

#include <stdbool.h>

#include "bench/display.h"

struct _XDisplay;

const char *x11_server_start(void);
void x11_server_stop(void);
void x11_server_name(struct _XDisplay *display, struct window *window);

/*
 * A server that dies must not take the process with it: Xlib has two ways out, and both are closed.
 * The first one is the process's, and may be closed before there is a Display.
 */
void x11_stay_early(void);
void x11_stay(struct _XDisplay *display);
/* Some Display was found dead since x11_stay_early(). */
bool x11_found_dead(void);

/* Whether the server still answers: closing waits for one that was stopped. */
bool x11_answers(struct _XDisplay *display);

/* Names the display for a library that asks the environment; then NULL, once: as it was. */
void x11_set_variable(const char *display);

#endif
