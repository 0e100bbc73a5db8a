/*
 * The application's side of the loop as a guest of AppKit: what has to be Objective-C.
 */
#ifndef ROUSE_TOOL_BENCH_HOST_APPKIT_APP_H
#define ROUSE_TOOL_BENCH_HOST_APPKIT_APP_H

#include <stddef.h>

#include <rouse/rouse.h>

/* Before there is an application, which would open what the command line names as files. */
void app_begin(void);
/* The library: "GNUstep 0.29.0" */
void app_version(char *text, size_t size);

/* A window, which calls drawn(data) whenever it is drawn.  NULL: there is none. */
struct app_window;
struct app_window *app_window_open(void (*drawn)(void *data), void *data);
void app_window_dirty(struct app_window *window);
void app_window_close(struct app_window *window);
/* The connection to the X server. */
void *app_display(void);

/* One wait for an event, no longer than that, and what follows from it. */
void app_turn(rouse_ns until);

/* A target of calls; fn(data) on the main thread for each. */
struct app_target;
struct app_target *app_target_open(void (*fn)(void *data));
/* Any thread. */
void app_target_perform(struct app_target *target, void *data);
/* What is on its way still comes to nothing. */
void app_target_close(struct app_target *target);

/* A descriptor in the run loop itself; fn(data) when it is readable. */
struct app_watch;
struct app_watch *app_watch_open(int fd, void (*fn)(void *data), void *data);
void app_watch_close(struct app_watch *watch);

#endif
