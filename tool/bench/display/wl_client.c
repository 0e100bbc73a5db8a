#include "bench/display/wl_client.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wayland-client-protocol.h>

#include <xdg-shell-client-protocol.h>

enum { STEPS = 16 };

/* ---- What the compositor says -------------------------------------------- */

static void on_ping(void *data, struct xdg_wm_base *wm_base, uint32_t serial)
{
	(void)data;
	xdg_wm_base_pong(wm_base, serial);
}

static const struct xdg_wm_base_listener wm_base_listener = {.ping = on_ping};

static void on_global(void *data, struct wl_registry *registry, uint32_t name,
                      const char *interface, uint32_t version)
{
	struct wl_client *c = data;

	/* 4 has wl_surface.damage_buffer. */
	if (strcmp(interface, wl_compositor_interface.name) == 0 && version >= 4 && !c->compositor)
		c->compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 4);
	else if (strcmp(interface, wl_shm_interface.name) == 0 && !c->shm)
		c->shm = wl_registry_bind(registry, name, &wl_shm_interface, 1);
	else if (strcmp(interface, xdg_wm_base_interface.name) == 0 && !c->wm_base)
		c->wm_base = wl_registry_bind(registry, name, &xdg_wm_base_interface, 1);
	else
		return;
	if (c->wm_base && !xdg_wm_base_get_user_data(c->wm_base))
		xdg_wm_base_add_listener(c->wm_base, &wm_base_listener, c);
}

static void on_global_remove(void *data, struct wl_registry *registry, uint32_t name)
{
	(void)data;
	(void)registry;
	(void)name;
}

static const struct wl_registry_listener registry_listener = {
        .global = on_global,
        .global_remove = on_global_remove,
};

static void on_configure(void *data, struct xdg_surface *xdg_surface, uint32_t serial)
{
	struct wl_client *c = data;

	xdg_surface_ack_configure(xdg_surface, serial);
	if (c->configured)
		c->configured(c->data);
}

static const struct xdg_surface_listener xdg_surface_listener = {.configure = on_configure};

/* The size is fixed, and the window stays open. */
static void on_toplevel_configure(void *data, struct xdg_toplevel *toplevel, int32_t width,
                                  int32_t height, struct wl_array *states)
{
	(void)data;
	(void)toplevel;
	(void)width;
	(void)height;
	(void)states;
}

static void on_toplevel_close(void *data, struct xdg_toplevel *toplevel)
{
	(void)data;
	(void)toplevel;
}

static const struct xdg_toplevel_listener toplevel_listener = {
        .configure = on_toplevel_configure,
        .close = on_toplevel_close,
};

static void on_release(void *data, struct wl_buffer *buffer)
{
	struct wl_client_buffer *b = data;

	(void)buffer;
	b->busy = false;
}

static const struct wl_buffer_listener buffer_listener = {.release = on_release};

/* ---- The window ----------------------------------------------------------- */

int wl_client_open(struct wl_client *c, const char *display)
{
	c->display = wl_display_connect(display);
	if (!c->display)
		return -1;
	c->registry = wl_display_get_registry(c->display);
	wl_registry_add_listener(c->registry, &registry_listener, c);
	return 0;
}

const char *wl_client_lacks(const struct wl_client *c)
{
	if (!c->compositor)
		return "wl_compositor 4";
	if (!c->shm)
		return "wl_shm";
	return c->wm_base ? NULL : "xdg_wm_base";
}

static int make_buffers(struct wl_client *c)
{
	int stride = c->width * 4, one = stride * c->height, all = one * WL_CLIENT_BUFFERS;
	int fd = memfd_create("window", MFD_CLOEXEC);
	struct wl_shm_pool *pool;
	void *memory = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, all) == 0)
		memory = mmap(NULL, (size_t)all, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	c->memory = memory;
	c->size = (size_t)all;
	memset(memory, 0xff, (size_t)all);
	pool = wl_shm_create_pool(c->shm, fd, all);
	for (int i = 0; i < WL_CLIENT_BUFFERS; i++) {
		struct wl_client_buffer *b = &c->buffer[i];

		b->pixels = (uint32_t *)memory + (size_t)i * (size_t)(one / 4);
		b->buffer = wl_shm_pool_create_buffer(pool, i * one, c->width, c->height, stride,
		                                      WL_SHM_FORMAT_XRGB8888);
		wl_buffer_add_listener(b->buffer, &buffer_listener, b);
	}
	wl_shm_pool_destroy(pool);
	close(fd);
	return 0;
}

int wl_client_show(struct wl_client *c, const char *title, int width, int height)
{
	c->width = width;
	c->height = height;
	if (make_buffers(c) < 0)
		return -1;
	c->surface = wl_compositor_create_surface(c->compositor);
	c->xdg_surface = xdg_wm_base_get_xdg_surface(c->wm_base, c->surface);
	xdg_surface_add_listener(c->xdg_surface, &xdg_surface_listener, c);
	c->toplevel = xdg_surface_get_toplevel(c->xdg_surface);
	xdg_toplevel_add_listener(c->toplevel, &toplevel_listener, c);
	xdg_toplevel_set_title(c->toplevel, title);
	xdg_toplevel_set_min_size(c->toplevel, width, height);
	xdg_toplevel_set_max_size(c->toplevel, width, height);
	/* Without a picture: it asks for the first configure. */
	wl_surface_commit(c->surface);
	return 0;
}

/* A bar that moves from left to right. */
static void paint(const struct wl_client *c, uint32_t *pixels, unsigned step)
{
	int from = (int)step * c->width / STEPS, to = (int)(step + 1) * c->width / STEPS;

	for (int y = 0; y < c->height; y++)
		for (int x = 0; x < c->width; x++)
			pixels[y * c->width + x] = x >= from && x < to ? 0x00202020 : 0x00ffffff;
}

void wl_client_commit(struct wl_client *c, unsigned buffer)
{
	c->buffer[buffer].busy = true;
	wl_surface_attach(c->surface, c->buffer[buffer].buffer, 0, 0);
	wl_surface_damage_buffer(c->surface, 0, 0, c->width, c->height);
	wl_surface_commit(c->surface);
}

bool wl_client_draw(struct wl_client *c)
{
	for (unsigned i = 0; i < WL_CLIENT_BUFFERS; i++) {
		if (c->buffer[i].busy)
			continue;
		paint(c, c->buffer[i].pixels, c->draws++ % STEPS);
		wl_client_commit(c, i);
		return true;
	}
	return false;
}

void wl_client_close(struct wl_client *c)
{
	if (!c->display)
		return;
	if (c->toplevel)
		xdg_toplevel_destroy(c->toplevel);
	if (c->xdg_surface)
		xdg_surface_destroy(c->xdg_surface);
	if (c->surface)
		wl_surface_destroy(c->surface);
	for (int i = 0; i < WL_CLIENT_BUFFERS; i++)
		if (c->buffer[i].buffer)
			wl_buffer_destroy(c->buffer[i].buffer);
	if (c->wm_base)
		xdg_wm_base_destroy(c->wm_base);
	if (c->shm)
		wl_shm_destroy(c->shm);
	if (c->compositor)
		wl_compositor_destroy(c->compositor);
	wl_registry_destroy(c->registry);
	wl_display_disconnect(c->display);
	if (c->memory)
		munmap(c->memory, c->size);
	memset(c, 0, sizeof *c);
}
