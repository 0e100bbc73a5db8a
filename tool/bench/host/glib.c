/*
 * The loop as a guest of GLib's default main context, and GLib's own ways to wake that: a source
 * that looks at a flag (wakeup), and a new source for each call (idle).
 */
#include <glib.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <rouse/glib.h>

#include "bench/host.h"
#include "bench/host/stamps.h"
#include "tool.h"

struct glib_host {
	struct host host;
	GMainLoop *main;
	rouse_glib *guest;
	int result;
};

static void on_done(rouse_loop *loop, int result, void *data)
{
	struct glib_host *h = data;

	(void)loop;
	h->result = result;
	g_main_loop_quit(h->main);
}

static void glib_close(struct host *host)
{
	struct glib_host *h = (struct glib_host *)host;

	rouse_glib_detach(h->guest);
	g_main_loop_unref(h->main);
	free(h);
}

static int glib_open(rouse_loop *loop, struct host **ret_host)
{
	struct glib_host *h = calloc(1, sizeof *h);
	rouse_glib_options options = {.size = sizeof options, .done = on_done, .data = h};
	int rc;

	if (!h) {
		tool_complain("no memory for GLib's loop");
		return ROUSE_ENOMEM;
	}
	h->host.loop = loop;
	snprintf(h->host.library, sizeof h->host.library, "GLib %u.%u.%u", glib_major_version,
	         glib_minor_version, glib_micro_version);
	h->main = g_main_loop_new(NULL, FALSE);
	rc = rouse_glib_attach(loop, &options, &h->guest);
	if (rc < 0) {
		tool_complain("cannot attach the loop to GLib: %s", rouse_strerror(rc));
		glib_close(&h->host);
		return rc;
	}
	*ret_host = &h->host;
	return 0;
}

static int glib_run(struct host *host)
{
	struct glib_host *h = (struct glib_host *)host;

	g_main_loop_run(h->main);
	return h->result;
}

static gboolean on_timeout(void *data)
{
	*(bool *)data = true;
	return G_SOURCE_REMOVE;
}

static void glib_turn(struct host *host, rouse_ns until)
{
	rouse_ns now = rouse_now();
	bool over = false;
	unsigned id = g_timeout_add(until > now ? (unsigned)((until - now) / 1000000) + 1 : 0,
	                            on_timeout, &over);

	(void)host;
	g_main_context_iteration(NULL, TRUE);
	if (!over)
		g_source_remove(id);
}

const struct host_ops host_glib = {
        .open = glib_open, .run = glib_run, .turn = glib_turn, .close = glib_close};

/* ---- wakeup ------------------------------------------------------------ */

struct wakeup {
	GSource source;
	struct mech *m;
	atomic_bool set;
};

static gboolean wakeup_prepare(GSource *source, int *timeout)
{
	struct wakeup *w = (struct wakeup *)source;

	*timeout = -1;
	return atomic_load_explicit(&w->set, memory_order_acquire);
}

static gboolean wakeup_check(GSource *source)
{
	struct wakeup *w = (struct wakeup *)source;

	return atomic_load_explicit(&w->set, memory_order_acquire);
}

static gboolean wakeup_dispatch(GSource *source, GSourceFunc fn, void *data)
{
	struct wakeup *w = (struct wakeup *)source;
	rouse_ns now = rouse_loop_now(w->m->loop);

	(void)fn;
	(void)data;
	atomic_exchange_explicit(&w->set, false, memory_order_acq_rel);
	meter_answer_all(&w->m->meter, now, 0);
	return G_SOURCE_CONTINUE;
}

static int wakeup_open(struct mech *m)
{
	static GSourceFuncs functions = {
	        .prepare = wakeup_prepare, .check = wakeup_check, .dispatch = wakeup_dispatch};
	struct wakeup *w = (struct wakeup *)g_source_new(&functions, sizeof *w);

	w->m = m;
	m->handle = w;
	g_source_attach(&w->source, NULL);
	return 0;
}

static int wakeup_fire(struct mech *m, rouse_ns stamp)
{
	struct wakeup *w = m->handle;

	(void)stamp;
	atomic_store_explicit(&w->set, true, memory_order_release);
	g_main_context_wakeup(NULL);
	return 0;
}

static void wakeup_close(struct mech *m)
{
	struct wakeup *w = m->handle;

	g_source_destroy(&w->source);
	g_source_unref(&w->source);
}

const struct mech_ops mech_wakeup = {
        .name = "wakeup",
        .summary = "g_main_context_wakeup(), for a source that looks at a flag",
        .host = &host_glib,
        .open = wakeup_open,
        .fire = wakeup_fire,
        .close = wakeup_close,
};

/* ---- idle -------------------------------------------------------------- */

static gboolean on_idle(void *data)
{
	struct stamp *stamp = data;
	rouse_ns now = rouse_loop_now(stamp->m->loop);

	stamps_answer(stamp, now);
	return G_SOURCE_REMOVE;
}

/* At the priority of the loop's own source. */
static int idle_fire(struct mech *m, rouse_ns stamp)
{
	g_idle_add_full(G_PRIORITY_DEFAULT, on_idle, stamps_take(m, stamp), NULL);
	return 0;
}

/* The context outlives us: what is in it still would run in the next run. */
static void idle_close(struct mech *m)
{
	struct stamps *s = m->handle;

	for (size_t i = 0; i < s->next; i++)
		if (!s->stamp[i].answered)
			g_idle_remove_by_data(&s->stamp[i]);
	free(s);
}

const struct mech_ops mech_idle = {
        .name = "idle",
        .summary = "g_idle_add_full() of a function, at G_PRIORITY_DEFAULT",
        .host = &host_glib,
        .open = stamps_open,
        .fire = idle_fire,
        .close = idle_close,
};
