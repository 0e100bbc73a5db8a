#include "bench/load.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <xcb/xcb.h>

#include "thread.h"
#include "tool.h"

enum { SIDE = 512, FILLS = 64 };

struct client {
	xcb_connection_t *connection;
	pthread_t thread;
	atomic_bool quit;
};

struct load {
	unsigned n;
	struct client client[];
};

/* Fills a large pixmap again and again.  The reply at the end of each batch keeps the client no
 * further ahead of the server than one batch, so that stopping is quick. */
static void *client_main(void *data)
{
	struct client *c = data;
	xcb_connection_t *x = c->connection;
	xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(x)).data;
	xcb_pixmap_t pixmap = xcb_generate_id(x);
	xcb_gcontext_t gc = xcb_generate_id(x);
	xcb_rectangle_t all = {0, 0, SIDE, SIDE};

	xcb_create_pixmap(x, screen->root_depth, pixmap, screen->root, SIDE, SIDE);
	xcb_create_gc(x, gc, pixmap, 0, NULL);
	while (!atomic_load_explicit(&c->quit, memory_order_acquire) &&
	       !xcb_connection_has_error(x)) {
		for (int i = 0; i < FILLS; i++)
			xcb_poly_fill_rectangle(x, pixmap, gc, 1, &all);
		free(xcb_get_input_focus_reply(x, xcb_get_input_focus(x), NULL));
	}
	return NULL;
}

struct load *load_start(const char *display, unsigned clients)
{
	struct load *load = calloc(1, sizeof *load + clients * sizeof load->client[0]);

	if (!load) {
		tool_complain("no memory for --load");
		return NULL;
	}
	for (; load->n < clients; load->n++) {
		struct client *c = &load->client[load->n];
		int error;

		c->connection = xcb_connect(display, NULL);
		if (xcb_connection_has_error(c->connection)) {
			tool_complain("--load: client %u cannot connect to '%s'", load->n + 1,
			              display);
			xcb_disconnect(c->connection);
			load_stop(load);
			return NULL;
		}
		error = thread_start(&c->thread, client_main, c);
		if (error != 0) {
			tool_complain("--load: %s", strerror(error));
			xcb_disconnect(c->connection);
			load_stop(load);
			return NULL;
		}
	}
	return load;
}

void load_stop(struct load *load)
{
	if (!load)
		return;
	for (unsigned i = 0; i < load->n; i++) {
		struct client *c = &load->client[i];

		atomic_store_explicit(&c->quit, true, memory_order_release);
		/* Ends a wait for a server that does not answer. */
		shutdown(xcb_get_file_descriptor(c->connection), SHUT_RDWR);
	}
	for (unsigned i = 0; i < load->n; i++) {
		pthread_join(load->client[i].thread, NULL);
		xcb_disconnect(load->client[i].connection);
	}
	free(load);
}
