/*
 * sync: a round trip through the compositor, which some toolkits use as their wake.
 *
 * The worker sends wl_display.sync, and the compositor's answer makes the loop call back.  While
 * the worker holds an intent to read, nobody reads the connection: so the answer cannot come
 * before its listener is there, whoever sends the request.
 */
#include "bench/mech.h"

#include <errno.h>
#include <stdlib.h>
#include <wayland-client-protocol.h>

#include "bench/display/wl_window.h"

struct sync {
	struct mech *m;
	struct wl_callback *callback; /* NULL: not sent, or answered. */
	rouse_ns stamp;
};

struct syncs {
	struct wl_display *display;
	struct wl_event_queue *none; /* Nothing ever comes into it: it names the intent. */
	size_t next;                 /* The worker's. */
	struct sync sync[];          /* One for each call. */
};

static void on_done(void *data, struct wl_callback *callback, uint32_t serial)
{
	struct sync *sync = data;
	rouse_ns now = rouse_loop_now(sync->m->loop);

	(void)serial;
	wl_callback_destroy(callback);
	sync->callback = NULL;
	meter_answer_stamps(&sync->m->meter, &sync->stamp, 1, now);
}

static const struct wl_callback_listener listener = {.done = on_done};

static int sync_open(struct mech *m)
{
	struct syncs *syncs = malloc(sizeof *syncs + m->meter.cap * sizeof syncs->sync[0]);

	if (!syncs)
		return ROUSE_ENOMEM;
	for (size_t i = 0; i < m->meter.cap; i++)
		syncs->sync[i] = (struct sync){.m = m};
	syncs->next = 0;
	syncs->display = wl_window_display(m->window);
	syncs->none = wl_display_create_queue(syncs->display);
	if (!syncs->none) {
		free(syncs);
		return ROUSE_ENOMEM;
	}
	m->handle = syncs;
	return 0;
}

static int sync_fire(struct mech *m, rouse_ns stamp)
{
	struct syncs *syncs = m->handle;
	struct sync *sync = &syncs->sync[syncs->next++];

	sync->stamp = stamp;
	if (wl_display_prepare_read_queue(syncs->display, syncs->none) < 0)
		return ROUSE_ELOST;
	struct wl_callback *callback = wl_display_sync(syncs->display);
	sync->callback = callback;
	if (callback)
		wl_callback_add_listener(callback, &listener, sync);
	/* From here on it may be answered, and be the loop's. */
	wl_display_cancel_read(syncs->display);
	if (!callback)
		return ROUSE_ENOMEM;
	/* What does not fit into the socket now goes out before the loop's next wait. */
	return wl_display_flush(syncs->display) < 0 && errno != EAGAIN ? ROUSE_ELOST : 0;
}

static void sync_close(struct mech *m)
{
	struct syncs *syncs = m->handle;

	for (size_t i = 0; i < syncs->next; i++)
		if (syncs->sync[i].callback)
			wl_callback_destroy(syncs->sync[i].callback);
	wl_event_queue_destroy(syncs->none);
	free(syncs);
}

const struct mech_ops mech_sync = {
        .name = "sync",
        .summary = "wl_display_sync() on the window's connection: through the compositor",
        .display = &display_wayland,
        .open = sync_open,
        .fire = sync_fire,
        .close = sync_close,
};
