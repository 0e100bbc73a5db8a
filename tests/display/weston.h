/* A private headless weston for one test program, in a runtime folder of its own. */
#ifndef ROUSE_TESTS_WESTON_H
#define ROUSE_TESTS_WESTON_H

#include <stdbool.h>
#include <sys/types.h>

struct weston {
	pid_t pid;   /* 0: not running */
	pid_t guard; /* its parent, which outlives this process by as long as cleaning up takes */
	int alive;   /* a pipe whose end tells the guard that this process is done */
	char folder[64];
};

/* Sets XDG_RUNTIME_DIR and WAYLAND_DISPLAY.  Exits with 77 where weston is not installed, with 1
 * where it does not start.  It is stopped, and the folder removed, at exit and when the process
 * dies, however that is; so in a test *weston is static, and is there also when the test has
 * failed. ROUSE_TEST_COMPOSITOR=sway runs that one instead. */
void weston_start(struct weston *weston);
/* One that draws, and lets pictures be taken: a screen of that size, of which a full-screen window
 * has all. */
void weston_start_screen(struct weston *weston, unsigned width, unsigned height);
/* As a crash does it.  Returns when it is dead. */
void weston_kill(struct weston *weston);
void weston_stop(struct weston *weston);
/* It stops answering, and goes on. */
void weston_freeze(const struct weston *weston);
void weston_thaw(const struct weston *weston);
/* Whether it is weston, or what ROUSE_TEST_COMPOSITOR names. */
bool weston_is_weston(void);

#endif
