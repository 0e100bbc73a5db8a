/* What the adapters of Xlib and of XCB share beyond shared.h: both libraries compile it in. */
#ifndef ROUSE_DISPLAY_X_SHARED_H
#define ROUSE_DISPLAY_X_SHARED_H

#include "shared.h"

#include <xcb/xcb.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* ---- Attaching ----------------------------------------------------------- */

/* Whether the server is known to be gone. */
bool rouse__x_gone(xcb_connection_t *connection);

/* xcb_disconnect() shuts the socket down, which a forked child shares with `owner`: there it gets
 * another descriptor to shut down, or, if there is none, is not called. */
void rouse__x_disconnect(xcb_connection_t *connection, pid_t owner);

/* ---- Writing ------------------------------------------------------------- */

/* Around what writes to a connection: a server that dies between XCB's look and its write must
 * not kill the process by SIGPIPE, neither now nor when the caller unblocks it.  `broke`: whether
 * a connection that was written to has an error. */
struct rouse__x_hushed {
	sigset_t mask;
	bool blocked, pending; /* SIGPIPE, before */
};
void rouse__x_hush(struct rouse__x_hushed *hushed);
void rouse__x_unhush(const struct rouse__x_hushed *hushed, bool broke);

/* ---- Reading ------------------------------------------------------------- */

/* Who reads while the loop sleeps is not the loop. */
struct rouse__x_sleep {
	bool asleep;
	uint64_t read;   /* bytes, when it went to sleep */
	uint64_t broken; /* sleeps in which bytes were read */
};
/* At the end of prepare; at the beginning of check. */
void rouse__x_sleeps(struct rouse__x_sleep *sleep, xcb_connection_t *connection, unsigned flags);
void rouse__x_wakes(struct rouse__x_sleep *sleep, xcb_connection_t *connection);

#endif
