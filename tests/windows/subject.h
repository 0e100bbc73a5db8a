/* A loop with a window library attached, GLFW or SDL, and a second client of the same X server:
 * what the tests of both share, and each of them does in its own way. */
#ifndef ROUSE_TESTS_SUBJECT_H
#define ROUSE_TESTS_SUBJECT_H

#include "display/turns.h"

#include <X11/Xlib.h>

struct subject {
	rouse_loop *loop;
	Display *display; /* the library's */
	Window window;
	Display *other; /* a second client, used synchronously */
	void *attached; /* the adapter's; NULL: detached */
	rouse_ns period;

	/* What the callbacks saw. */
	unsigned events; /* Expose events, each of them */
	unsigned after, lost;

	/* What a callback does besides; NULL: nothing. */
	void (*on_event)(struct subject *s);
	void (*on_after)(struct subject *s);
	void (*on_lost)(struct subject *s);
	void *data;
};

/* Whether a turn hands out one budget of events at most. */
extern const bool subject_has_budget;

/* The library is initialised, with a window, and attached to a loop.  `loop_options` may be NULL.
 */
void subject_open(struct subject *s, const rouse_loop_options *loop_options);
void subject_close(struct subject *s);
int subject_attach(struct subject *s, rouse_loop *loop, void **ret_attached);
int subject_detach(void *attached);
/* The library's own end, with its windows. */
void subject_quit(struct subject *s);

/* The second client sends Expose events to the window, and they have come to the socket. */
void subject_send(struct subject *s, unsigned count);
/* So many more, from the library's own connection and into its queue in memory. */
void subject_queue(struct subject *s, unsigned count);
/* What the two above do it with. */
void subject_expose(Display *display, Window window, unsigned count);

#endif
