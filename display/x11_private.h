/* What the files of rouse-x11 share. */
#ifndef ROUSE_DISPLAY_X11_PRIVATE_H
#define ROUSE_DISPLAY_X11_PRIVATE_H

#include "x11_output.h"
#include "x_shared.h"

#include <rouse/x11.h>

#include <X11/Xlib.h>
#include <stdbool.h>

/* One internal connection of Xlib's, an input method's for one. */
struct rouse__x11_internal {
	struct rouse__x11_internal *next;
	rouse_x11 *x11;
	rouse_source source;
};

struct rouse_x11 {
	rouse_x11 *next; /* in the process's list, under its mutex */
	rouse_loop *loop;
	Display *display;
	xcb_connection_t *connection; /* Xlib's own */
	rouse_allocator allocator;
	rouse_x11_options options;
	rouse_source hook;
	struct rouse__x11_internal *internals;
	rouse_x11_injector *injectors;
	Atom atom;     /* None until the first injector: then no message is ours */
	uint64_t seen; /* bytes XCB had read when Xlib's queue was last filled from XCB's */
	uint64_t told; /* bytes XCB had read when `activity` last ran */
	struct rouse__x_sleep sleep;
	unsigned depth; /* frames of ours that use this struct and that user code may be under */
	int unjoined;   /* why an internal connection could not be joined: tried again */
	bool enlisted, watching;
	bool spoke;  /* `error` was called */
	bool gone;   /* detached; freed when depth is 0 */
	bool lost;   /* the server: set inside Xlib, told from dispatch */
	bool paused; /* the descriptor of a lost display is not watched */
	bool lost_told;
};

/* Frames: user code may detach the display whose function called it. */
void rouse__x11_enter(rouse_x11 *x11);
void rouse__x11_leave(rouse_x11 *x11);

/* ---- x11_errors.c ------------------------------------------------------ */

/* The process's list of attached displays.  ROUSE_EEXIST, or 0. */
int rouse__x11_enlist(rouse_x11 *x11);
void rouse__x11_delist(rouse_x11 *x11);

/* ---- x11_injector.c ---------------------------------------------------- */

/* Whether a message of this display is of an injector of ours. */
bool rouse__x11_is_ours(const rouse_x11 *x11, const XClientMessageEvent *message,
                        uint64_t *ret_payload);
/* The display goes: its injectors leave the loop, and answer ROUSE_ELOST. */
void rouse__x11_part_injectors(rouse_x11 *x11);

#endif
