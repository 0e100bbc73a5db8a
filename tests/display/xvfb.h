/* A private X server for one test program: no TCP, an authority of its own. */
#ifndef ROUSE_TESTS_XVFB_H
#define ROUSE_TESTS_XVFB_H

#include <sys/types.h>

struct xvfb {
	pid_t pid;        /* 0: not running */
	char display[16]; /* ":7" */
	int authority; /* in memory, inherited by programs that are run: no file to leave behind */
};

/* From the main thread only: the server ends with the thread that forks it.  Sets DISPLAY and
 * XAUTHORITY.  Exits with 77 where Xvfb is not installed, with 1 where it does not start.  It is
 * stopped at exit, too, and when the process dies; so in a test *xvfb is static, and is there also
 * when the test has failed. */
void xvfb_start(struct xvfb *xvfb);
/* As a crash does it.  Returns when the server is dead. */
void xvfb_kill(struct xvfb *xvfb);
void xvfb_stop(struct xvfb *xvfb);

#endif
