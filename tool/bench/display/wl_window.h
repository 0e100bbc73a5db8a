/*
 * A real Wayland window in the loop, drawn and committed anew with each frame callback: some 60
 * times a second, as an application with an animation does.
 */
#ifndef ROUSE_TOOL_BENCH_WL_WINDOW_H
#define ROUSE_TOOL_BENCH_WL_WINDOW_H

#include <wayland-client-core.h>

#include "bench/display.h"

/* The window's connection; its default queue is the loop's. */
struct wl_display *wl_window_display(struct window *window);

#endif
