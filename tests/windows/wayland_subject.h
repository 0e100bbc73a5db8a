/* A window library on Wayland, attached to a loop: the little that its tests need of either. */
#ifndef ROUSE_TESTS_WAYLAND_SUBJECT_H
#define ROUSE_TESTS_WAYLAND_SUBJECT_H

#include "display/turns.h"

struct wl_display;

struct wayland_subject {
	rouse_loop *loop;
	struct wl_display *display; /* the library's */
	unsigned after, lost;
	bool asked_to_close; /* by what the library tells of a lost compositor */
};

/* False where the library cannot run on this compositor. */
bool wayland_subject_open(struct wayland_subject *s);
void wayland_subject_detach(void);
/* The library's own empty event, or a push; on any thread. */
void wayland_subject_push(void);

#endif
