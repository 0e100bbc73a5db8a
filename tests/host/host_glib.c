#include "host.h"

#include <rouse/glib.h>

#include <glib.h>
#include <stddef.h>

const struct host_kind host_kind = {
        .name = "GLib", .nests = true, .adapter = true, .told = true, .bracket = true};
int host_result;
unsigned host_dones, host_busy_runs;
bool host_leaves;

static rouse_glib *attachment;
static GSource *ticking, *busy;

void host_init(int *argc, char **argv)
{
	(void)argc, (void)argv;
}

void host_open(void)
{
	host_dones = 0;
}

static void end(GSource **source)
{
	if (*source) {
		g_source_destroy(*source);
		g_source_unref(*source);
	}
	*source = NULL;
}

void host_close(void)
{
	end(&ticking);
	host_busy(false);
	/* A loop that was destroyed is not iterated on. */
	for (int i = 0; i < 10; i++)
		host_poll();
}

static void done(rouse_loop *loop, int result, void *data)
{
	(void)loop, (void)data;
	host_result = result;
	host_dones++;
	if (host_leaves)
		host_detach();
}

int host_attach(rouse_loop *loop)
{
	const rouse_glib_options options = {.size = sizeof options, .done = done};

	return rouse_glib_attach(loop, &options, &attachment);
}

int host_detach(void)
{
	return rouse_glib_detach(attachment);
}

void host_turn(void)
{
	g_main_context_iteration(NULL, TRUE);
}

void host_poll(void)
{
	g_main_context_iteration(NULL, FALSE);
}

struct tick {
	void (*fn)(void *data);
	void *data;
};

static gboolean tick(gpointer data)
{
	const struct tick *t = data;

	t->fn(t->data);
	return G_SOURCE_CONTINUE;
}

bool host_refuses_to_nest(void)
{
	return false;
}

void host_tick(void (*fn)(void *data), void *data)
{
	end(&ticking);
	if (!fn)
		return;
	struct tick *t = g_new(struct tick, 1);

	*t = (struct tick){fn, data};
	ticking = g_timeout_source_new(1);
	g_source_set_callback(ticking, tick, t, g_free);
	g_source_set_can_recurse(ticking, TRUE);
	g_source_attach(ticking, NULL);
}

static gboolean is_busy(gpointer data)
{
	(void)data;
	host_busy_runs++;
	return G_SOURCE_CONTINUE;
}

void host_busy(bool on)
{
	end(&busy);
	host_busy_runs = 0;
	if (!on)
		return;
	busy = g_idle_source_new();
	g_source_set_priority(busy, G_PRIORITY_DEFAULT);
	g_source_set_callback(busy, is_busy, NULL, NULL);
	g_source_attach(busy, NULL);
}
