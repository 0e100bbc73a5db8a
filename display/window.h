/*
 * A connection that a window library (GLFW, SDL) has opened and reads by itself, in a loop.
 *
 * Such a library has one function, its pump, that reads what came, calls or queues what follows
 * from it, and is the only one that may: its listeners and translations are its own.  So the loop
 * reads nothing for itself.  It finds out when the pump has something to do, without a system
 * call where nothing came, and has it called then and only then:
 *   the descriptor is readable
 *   something is in memory already: Xlib's queue, XCB's (bytes were read since the last look), or
 *     Wayland's default queue.  Calls of the application's, and the pump's own flush, read too
 *   a moment has come: what the library looks at in its pump and no descriptor shows
 * What the application asked for is written before the wait.  On Wayland an intent to read is held
 * across it, where nothing else can run meanwhile, so that no other thread takes the events away.
 */
#ifndef ROUSE_DISPLAY_WINDOW_H
#define ROUSE_DISPLAY_WINDOW_H

#include "shared.h"

#include <stdbool.h>

struct _XDisplay;
struct xcb_connection_t;
struct wl_display;

struct rouse__window {
	struct _XDisplay *x11; /* one of the two */
	struct wl_display *wayland;
	struct xcb_connection_t *xcb; /* Xlib's */
	uint64_t seen;                /* bytes XCB had read when Xlib's queue was last filled */
	rouse_ns period;              /* between two pumps, at most; 0: as long as nothing comes */
	rouse_ns due;                 /* the next pump that nothing else asks for */
	unsigned watched;
	bool work;    /* found by prepare, for check to tell */
	bool holding; /* an intent to read */
	bool refused; /* what was to be written; the pump has been called since, and may say so */
	bool lost, lost_told; /* the server, or the library itself: the connection is not touched */
};

/* Fill in what follows from x11 or wayland.  ROUSE_ELOST, or 0. */
int rouse__window_init(struct rouse__window *window);
rouse_fd rouse__window_fd(const struct rouse__window *window);

/* Before the wait: write what was asked for.  Whether there is something to do already. */
bool rouse__window_prepare(struct rouse__window *window, rouse_loop *loop, rouse_source hook,
                           unsigned flags);
/* After it.  Whether there is something to do; a lost connection has one thing to tell. */
bool rouse__window_check(struct rouse__window *window, const rouse_loop *loop, unsigned ready);
/* Right before the library's pump. */
void rouse__window_pumps(struct rouse__window *window, const rouse_loop *loop);
/* The hook goes. */
void rouse__window_let_go(struct rouse__window *window);

/* A process has one of each library: ROUSE_EEXIST, or 0, and `self` is it. */
int rouse__window_enlist(const void **attached, const void *self);
void rouse__window_delist(const void **attached, const void *self);

#endif
