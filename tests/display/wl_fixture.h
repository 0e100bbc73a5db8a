/* A loop with an attached Wayland display, and a compositor: weston, or the test itself. */
#ifndef ROUSE_TESTS_WL_FIXTURE_H
#define ROUSE_TESTS_WL_FIXTURE_H

#include "peer.h"
#include "turns.h"

#include <rouse/wayland.h>

#include <wayland-client.h>

struct wl_fixture {
	rouse_loop *loop;
	struct wl_display *display;
	struct wl_event_queue *queue; /* NULL: the default queue */
	struct wl_display *asker;     /* the display, for answers in that queue */
	rouse_wayland *wayland;
	struct peer *peer; /* NULL: weston */

	/* What listeners and callbacks saw. */
	unsigned events; /* answers to wl_fixture_ask() */
	unsigned scales; /* events of peer_flood() */
	unsigned lost, pressures;
	int blocked; /* the last of `pressures` */
	rouse_wayland_loss how;

	/* What they do besides; NULL: nothing. */
	void (*on_event)(struct wl_fixture *f);
	void (*on_lost)(struct wl_fixture *f);
	void (*on_pressure)(struct wl_fixture *f);
	void *data;

	struct question *questions; /* not answered yet */
	struct wl_registry *registry;
	struct wl_output *output;
	uint32_t output_name;
};

/* Both options may be NULL.  The poller is that of ROUSE_TEST_POLLER, where that is set. */
void wl_fixture_open(struct wl_fixture *f, struct peer *peer, const rouse_loop_options *options);
/* Another queue of the display of `of`, in its loop. */
void wl_fixture_open_queue(struct wl_fixture *f, const struct wl_fixture *of);
/* Whatever is left of it; the compositor may be dead. */
void wl_fixture_close(struct wl_fixture *f);
void wl_fixture_disconnect(struct wl_fixture *f);
rouse_wayland_options wl_fixture_options(struct wl_fixture *f);
void wl_fixture_detach(struct wl_fixture *f);
void wl_fixture_reattach(struct wl_fixture *f);

/* A request whose answer is an event of this queue.  Nobody flushes it here. */
void wl_fixture_ask(struct wl_fixture *f);
/* The answer has come to the socket. */
void wl_fixture_asked(struct wl_fixture *f);
/* Whether bytes wait in the socket; until there are some. */
bool wl_fixture_readable(const struct wl_fixture *f);
void wl_fixture_await_bytes(const struct wl_fixture *f);
/* The peer's wl_output, whose events are counted. */
void wl_fixture_bind_output(struct wl_fixture *f);

#endif
