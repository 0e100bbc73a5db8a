/*
 * The contract of a display: a server, a real window in the loop, and clients that keep the server
 * busy.
 *
 * start  a private server, where nobody has named one; main thread only.  Its display's name,
 *        there until stop; NULL after one line of complaint.  NULL where the system itself is the
 *        server: then there is no variable, program or stop either.
 * stop   allowed without a start, too.  Nothing of the server is left.
 * open   connects, joins the loop, shows a window, and returns when it was drawn for the first
 *        time.  0, or a negative ROUSE_E* after one line of complaint.
 * close  on the loop's thread.
 * tick   with each tick of the external descriptor: have the server ask for a drawing.  May be
 *        NULL.
 */
#ifndef ROUSE_TOOL_BENCH_DISPLAY_H
#define ROUSE_TOOL_BENCH_DISPLAY_H

#include <stdbool.h>

#include <rouse/rouse.h>

#include "bench/events.h"
#include "bench/load.h"

/* What the window of every display has; the display's own is around it. */
struct window {
	rouse_loop *loop;
	struct events *events;
	bool lost;        /* The server went away: the loop was then stopped. */
	size_t frames;    /* Frame callbacks or other drawings, where the display has them. */
	char server[64];  /* What it is, for the report, */
	char library[64]; /* and whose window it is, where that is somebody else's; empty: ours. */
};

struct display_ops {
	const char *loop;     /* The loop it makes: "x11" */
	const char *name;     /* "X11 display" */
	const char *server;   /* "the X server" */
	const char *variable; /* The environment's name for the one to use. */
	bool x11;             /* It is an X server. */
	const char *program;  /* The private one, */
	const char *package;  /* and what to install for it. */
	const char *missing;  /* What a build of this needs; NULL: this build has it. */
	const char *drawn;    /* What `frames` are: "frame callbacks". */
	unsigned frames; /* Frame callbacks a second that the log has room for; 0: none come. */
	const char *(*start)(void);
	void (*stop)(void);
	int (*open)(rouse_loop *loop, const char *display, struct events *events,
	            struct window **ret_window);
	void (*close)(struct window *window);
	void (*tick)(struct window *window);
	const struct load_ops *load;
};

extern const struct display_ops display_x11, display_wayland, display_glfw, display_sdl,
        display_appkit, display_win32;

/* Turns the window's loop until `done` is not 0 any more, on the way to its first drawing.  False
 * if that takes over 5 s, or cannot be: after one line of complaint, or an interrupt. */
bool window_wait(struct window *window, const struct display_ops *display, const unsigned *done);
/* The display's `lost`: notes it, and stops the loop. */
void window_lost(struct window *window);

#endif
