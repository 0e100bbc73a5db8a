/* Another thread that reads the same display, on a queue of its own. */
#ifndef ROUSE_TESTS_RIVAL_H
#define ROUSE_TESTS_RIVAL_H

#include <pthread.h>
#include <stdatomic.h>

struct wl_display;

struct rival {
	struct wl_display *display;
	unsigned rounds; /* round trips to make */
	atomic_uint made;
	atomic_bool failed;
	pthread_t thread;
};

void rival_start(struct rival *rival, struct wl_display *display, unsigned rounds);
/* Fails the test where it hangs. */
void rival_join(struct rival *rival);
/* That it can make one, now, while this thread does nothing. */
void rival_completes(struct wl_display *display);

#endif
