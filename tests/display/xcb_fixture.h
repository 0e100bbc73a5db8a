/* A loop with an attached XCB connection and a window, and a second client of the same server. */
#ifndef ROUSE_TESTS_XCB_FIXTURE_H
#define ROUSE_TESTS_XCB_FIXTURE_H

#include "turns.h"

#include <rouse/xcb.h>

#include <xcb/xcb.h>

struct xcb_fixture {
	rouse_loop *loop;
	xcb_connection_t *connection;
	xcb_window_t window;
	rouse_xcb *xcb;
	xcb_connection_t *other; /* a second client, used synchronously */

	/* What the callbacks saw. */
	unsigned events; /* client messages */
	uint32_t last;   /* the first slot of the last one */
	unsigned activity, errors, lost;
	uint8_t error_code;
	int reason;

	/* What a callback does besides; NULL: nothing. */
	void (*on_event)(struct xcb_fixture *f, xcb_generic_event_t *event);
	void (*on_activity)(struct xcb_fixture *f);
	void (*on_lost)(struct xcb_fixture *f);
	void (*on_error)(struct xcb_fixture *f);
	void *data;
	bool shared; /* another thread reads from the connection, against the rules */
};

/* `loop_options` may be NULL.  The poller is that of ROUSE_TEST_POLLER, where that is set. */
void xcb_fixture_open(struct xcb_fixture *f, const rouse_loop_options *loop_options);
/* Whatever is left of it; the server may be dead. */
void xcb_fixture_close(struct xcb_fixture *f);
rouse_xcb_options xcb_fixture_options(struct xcb_fixture *f);

xcb_connection_t *xcb_fixture_connect(void);
xcb_window_t xcb_fixture_window(xcb_connection_t *connection);
/* A round trip. */
void xcb_fixture_sync(xcb_connection_t *connection);
void xcb_fixture_message(xcb_client_message_event_t *message, xcb_window_t window, uint32_t value);

/* The second client sends a client message to the window, and it has come to the socket. */
void xcb_fixture_send(struct xcb_fixture *f, uint32_t value);
/* Whether bytes wait in the socket; until there are so many. */
bool xcb_fixture_readable(const struct xcb_fixture *f);
void xcb_fixture_await_bytes(const struct xcb_fixture *f, int least);

#endif
