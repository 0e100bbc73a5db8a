/*
 * A private Wayland compositor: headless weston, which nobody but this user can use.
 *
 * Its socket is in a folder of its own, of mode 0700.  That is removed when weston_stop() is
 * called and when this process ends in any way, killed included, by a small process that
 * waits for just that.
 */
#ifndef ROUSE_TOOL_WESTON_H
#define ROUSE_TOOL_WESTON_H

#include <sys/socket.h>
#include <sys/un.h>

#include "server.h"

/* All zero: none. */
struct weston {
	struct server server;
	pid_t sweeper;
	int alive; /* The sweeper waits for its end. */
	struct sockaddr_un address;
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* Main thread only, as server_start().  0, or -1 after one line of complaint. */
int weston_start(struct weston *weston);
/* Nothing of the compositor is left when this returns. */
void weston_stop(struct weston *weston);
/* What WAYLAND_DISPLAY would say. */
const char *weston_display(const struct weston *weston);
/* "weston 10.0.1" */
void weston_version(const struct weston *weston, char *text, size_t size);

#endif
