/*
 * A private X server: Xvfb, which nobody but this process can use.
 *
 * No TCP, and an authority cookie that exists in memory alone (a memfd, which the server opens
 * as /proc/self/fd/N): there is no file that could stay behind.  Upon SIGTERM the server removes
 * its socket.  (With -displayfd there is no lock file.)
 */
#ifndef ROUSE_TOOL_XVFB_H
#define ROUSE_TOOL_XVFB_H

#include "server.h"

struct xvfb {
	struct server server;
	int cookie;
	char display[16];
};

bool xvfb_installed(void);

/* Main thread only, as server_start().  Sets XAUTHORITY.  0, or -1 after one line of complaint. */
int xvfb_start(struct xvfb *xvfb);
/* Nothing of the server is left when this returns. */
void xvfb_stop(struct xvfb *xvfb);

#endif
