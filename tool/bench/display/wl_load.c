#include "bench/load.h"

#include <stdlib.h>

#include "bench/display/wl_client.h"

enum { SIDE = 512 };

struct client {
	struct wl_client wl;
	bool configured;
};

static void on_configured(void *data)
{
	struct client *c = data;

	c->configured = true;
}

static void *load_connect(const char *display)
{
	struct client *c = calloc(1, sizeof *c);

	if (!c)
		return NULL;
	c->wl.configured = on_configured;
	c->wl.data = c;
	if (wl_client_open(&c->wl, display) == 0)
		return c;
	free(c);
	return NULL;
}

static bool show(struct client *c)
{
	if (wl_display_roundtrip(c->wl.display) < 0 || wl_client_lacks(&c->wl) ||
	    wl_client_show(&c->wl, "rouse bench --load", SIDE, SIDE) < 0)
		return false;
	while (!c->configured)
		if (wl_display_dispatch(c->wl.display) < 0)
			return false;
	return true;
}

/* A whole new picture again and again, for the compositor to read; this thread paints none. */
static bool load_work(void *data)
{
	struct client *c = data;

	if (!c->configured && !show(c))
		return false;
	for (unsigned i = 0; i < WL_CLIENT_BUFFERS; i++)
		wl_client_commit(&c->wl, i);
	return wl_display_roundtrip(c->wl.display) >= 0;
}

static int load_descriptor(void *data)
{
	struct client *c = data;

	return wl_display_get_fd(c->wl.display);
}

static void load_disconnect(void *data)
{
	struct client *c = data;

	wl_client_close(&c->wl);
	free(c);
}

const struct load_ops load_wayland = {
        .connect = load_connect,
        .work = load_work,
        .descriptor = load_descriptor,
        .disconnect = load_disconnect,
};
