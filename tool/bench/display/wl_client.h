/*
 * A Wayland client with one window: an xdg_toplevel that is drawn into shared memory.
 *
 * Nothing here waits.  Whoever dispatches the display's default queue calls, in this order:
 * wl_client_open(), then, once the globals were announced (one round trip), wl_client_show();
 * and from the first wl_client.configured on, wl_client_draw().
 */
#ifndef ROUSE_TOOL_BENCH_WL_CLIENT_H
#define ROUSE_TOOL_BENCH_WL_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <wayland-client-core.h>

enum { WL_CLIENT_BUFFERS = 2 };

struct wl_client_buffer {
	struct wl_buffer *buffer;
	uint32_t *pixels;
	bool busy; /* The compositor reads from it. */
};

/* All zero: none. */
struct wl_client {
	struct wl_display *display;
	struct wl_registry *registry;
	struct wl_compositor *compositor;
	struct wl_shm *shm;
	struct xdg_wm_base *wm_base;
	struct wl_surface *surface;
	struct xdg_surface *xdg_surface;
	struct xdg_toplevel *toplevel;
	struct wl_client_buffer buffer[WL_CLIENT_BUFFERS];
	int width, height;
	unsigned draws;
	void *memory; /* Of the buffers. */
	size_t size;
	/* Called with each new state of the window, which is to be drawn then.  May be NULL. */
	void (*configured)(void *data);
	void *data;
};

/* 0, or -1: nobody answers there. */
int wl_client_open(struct wl_client *client, const char *display);
/* NULL if there is all that a window takes, else the interface that the compositor lacks. */
const char *wl_client_lacks(const struct wl_client *client);
/* 0, or -1 with errno. */
int wl_client_show(struct wl_client *client, const char *title, int width, int height);
/* The next picture, whole.  False: all buffers are with the compositor, and nothing was done. */
bool wl_client_draw(struct wl_client *client);
/* A picture that was drawn before, as if it were new. */
void wl_client_commit(struct wl_client *client, unsigned buffer);
/* Waits for nobody. */
void wl_client_close(struct wl_client *client);

#endif
