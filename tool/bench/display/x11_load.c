#include "bench/load.h"

#include <stdlib.h>
#include <xcb/xcb.h>

enum { SIDE = 512, FILLS = 64 };

struct client {
	xcb_connection_t *x;
	xcb_pixmap_t pixmap;
	xcb_gcontext_t gc;
};

static void load_disconnect(void *client);

static void *load_connect(const char *display)
{
	struct client *c = malloc(sizeof *c);
	xcb_screen_t *screen;

	if (!c)
		return NULL;
	c->x = xcb_connect(display, NULL);
	if (xcb_connection_has_error(c->x)) {
		load_disconnect(c);
		return NULL;
	}
	screen = xcb_setup_roots_iterator(xcb_get_setup(c->x)).data;
	c->pixmap = xcb_generate_id(c->x);
	c->gc = xcb_generate_id(c->x);
	xcb_create_pixmap(c->x, screen->root_depth, c->pixmap, screen->root, SIDE, SIDE);
	xcb_create_gc(c->x, c->gc, c->pixmap, 0, NULL);
	return c;
}

/* Fills a large pixmap again and again. */
static bool load_work(void *data)
{
	static const xcb_rectangle_t all = {0, 0, SIDE, SIDE};
	struct client *c = data;

	for (int i = 0; i < FILLS; i++)
		xcb_poly_fill_rectangle(c->x, c->pixmap, c->gc, 1, &all);
	free(xcb_get_input_focus_reply(c->x, xcb_get_input_focus(c->x), NULL));
	return !xcb_connection_has_error(c->x);
}

static int load_descriptor(void *data)
{
	struct client *c = data;

	return xcb_get_file_descriptor(c->x);
}

static void load_disconnect(void *data)
{
	struct client *c = data;

	xcb_disconnect(c->x);
	free(c);
}

const struct load_ops load_x11 = {
        .connect = load_connect,
        .work = load_work,
        .descriptor = load_descriptor,
        .disconnect = load_disconnect,
};
