/*
 * A real window in the loop: mapped, drawn on each Expose, so that the loop has X traffic as an
 * application's has.
 */
#ifndef ROUSE_TOOL_BENCH_WINDOW_H
#define ROUSE_TOOL_BENCH_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include <rouse/x11.h>

#include "bench/events.h"

struct window;

/*
 * Opens the display, maps a window and waits until it is drawn for the first time.  Events are
 * noted in `events`.  0, or a negative ROUSE_E* after one line of complaint.
 */
int window_open(rouse_loop *loop, const char *display, struct events *events,
                struct window **ret_window);
void window_close(struct window *window);

/* Ask the server for an Expose of the whole window. */
void window_refresh(struct window *window);
/* The server went away: the loop was then stopped. */
bool window_lost(const struct window *window);
/* "vendor release", for the report. */
void window_server(const struct window *window, char *text, size_t size);
const char *window_display(const struct window *window);

/* A connection that sends messages to the window, and who is told of those that arrive. */
int window_injector(struct window *window, rouse_x11_injector **ret_injector);
void window_on_message(struct window *window,
                       void (*fn)(void *data, uint64_t payload, rouse_ns now), void *data);

#endif
