/* A loop with an attached display and a window, and a second client of the same server. */
#ifndef ROUSE_TESTS_FIXTURE_H
#define ROUSE_TESTS_FIXTURE_H

#include "turns.h"

#include <rouse/x11.h>

#include <X11/Xlib.h>

struct fixture {
	rouse_loop *loop;
	Display *display;
	Window window;
	rouse_x11 *x11;
	Display *other; /* a second client, used synchronously */

	/* What the callbacks saw. */
	unsigned events;   /* client messages named "FOREIGN" */
	long last;         /* the first slot of the last one */
	unsigned messages; /* of injectors */
	uint64_t payload;
	unsigned activity, errors, lost;
	unsigned char error_code;

	/* What an event's callback does besides; NULL: nothing. */
	void (*on_event)(struct fixture *f, XEvent *event);
	void (*on_activity)(struct fixture *f);
	void (*on_lost)(struct fixture *f);
	void (*on_error)(struct fixture *f);
	void *data;
	bool shared; /* another thread reads from the connection, against the rules */
};

/* `loop_options` may be NULL.  The poller is that of ROUSE_TEST_POLLER, where that is set. */
void fixture_open(struct fixture *f, const rouse_loop_options *loop_options);
/* Whatever is left of it; the server may be dead. */
void fixture_close(struct fixture *f);
rouse_x11_options fixture_options(struct fixture *f);

/* The second client sends a client message to the window, and it has come to the socket. */
void fixture_send(struct fixture *f, long value);
/* Whether bytes wait in the socket. */
bool fixture_readable(const struct fixture *f);
/* Until so many bytes wait in the socket. */
void fixture_await_bytes(const struct fixture *f, int least);

#endif
