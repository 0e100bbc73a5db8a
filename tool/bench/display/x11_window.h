/*
 * A real X11 window in the loop: mapped, drawn on each Expose, so that the loop has X traffic as
 * an application's has.
 */
#ifndef ROUSE_TOOL_BENCH_X11_WINDOW_H
#define ROUSE_TOOL_BENCH_X11_WINDOW_H

#include <rouse/x11.h>

#include "bench/display.h"

/* A connection that sends messages to the window, and who is told of those that arrive. */
int x11_window_injector(struct window *window, rouse_x11_injector **ret_injector);
void x11_window_on_message(struct window *window,
                           void (*fn)(void *data, uint64_t payload, rouse_ns now), void *data);

#endif
