/* A window that a worker thread posts to 20 times; each post makes it brighter. */
#include "xdg-shell-client-protocol.h"
#include <rouse/wayland.h>
#include <wayland-client.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STEPS = 20, W = 220, H = 100, BYTES = W * H * 4 };
static void *globals[3], *pixels; /* wl_compositor, wl_shm, xdg_wm_base */
static struct wl_surface *surface;
static struct wl_buffer *buffer;

static void step(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
	memset(pixels, *(unsigned char *)pixels + 12, BYTES); /* posts are never merged */
	wl_surface_attach(surface, buffer, 0, 0);
	wl_surface_damage(surface, 0, 0, W, H);
	wl_surface_commit(surface); /* nobody flushes: the loop does */
}

static void *work(void *remote)
{
	for (int i = 0; i < STEPS && rouse_post(remote, step, NULL, NULL) >= 0; i++)
		usleep(20000);
	return rouse_remote_stop(remote), NULL;
}

static void global(void *data, struct wl_registry *all, uint32_t name, const char *is, uint32_t v)
{
	const struct wl_interface *wanted[] = {&wl_compositor_interface, &wl_shm_interface,
	                                       &xdg_wm_base_interface};
	(void)data, (void)v;
	for (int i = 0; i < 3; i++)
		if (!strcmp(is, wanted[i]->name))
			globals[i] = wl_registry_bind(all, name, wanted[i], 1);
}

static void configure(void *data, struct xdg_surface *window, uint32_t serial)
{
	(void)data, xdg_surface_ack_configure(window, serial);
}

int main(void)
{
	struct wl_display *display = wl_display_connect(NULL);
	rouse_wayland_options options = {.size = sizeof(options), .display = display};
	rouse_remote *remote = NULL;
	pthread_t worker;
	rouse_loop *loop;
	rouse_wayland *wayland;
	struct wl_registry *r = display ? wl_display_get_registry(display) : NULL;
	if (!r || wl_registry_add_listener(r, &(struct wl_registry_listener){global, NULL}, NULL) ||
	    wl_display_roundtrip(display) < 0 || !globals[0] || !globals[1] || !globals[2])
		return puts("SKIP: no Wayland display, or no xdg-shell"), 77;
	wl_registry_destroy(r);
	int fd = memfd_create("pixels", MFD_CLOEXEC);
	pixels = mmap(NULL, ftruncate(fd, BYTES) ? 0 : BYTES, PROT_WRITE, MAP_SHARED, fd, 0);
	struct wl_shm_pool *pool = wl_shm_create_pool(globals[1], fd, BYTES);
	buffer = wl_shm_pool_create_buffer(pool, 0, W, H, W * 4, WL_SHM_FORMAT_XRGB8888);
	wl_shm_pool_destroy(pool);
	surface = wl_compositor_create_surface(globals[0]);
	struct xdg_surface *window = xdg_wm_base_get_xdg_surface(globals[2], surface);
	xdg_surface_add_listener(window, &(struct xdg_surface_listener){configure}, NULL);
	struct xdg_toplevel *toplevel = xdg_surface_get_toplevel(window);
	wl_surface_commit(surface);
	if (wl_display_roundtrip(display) < 0 || rouse_loop_create(NULL, &loop) ||
	    rouse_wayland_attach(loop, &options, &wayland) || !(remote = rouse_loop_remote(loop)) ||
	    pthread_create(&worker, NULL, work, remote) || rouse_loop_run(loop))
		return 1;
	pthread_join(worker, NULL), rouse_remote_unref(remote);
	rouse_wayland_detach(wayland);
	xdg_toplevel_destroy(toplevel), xdg_surface_destroy(window);
	wl_display_disconnect(display);
	return rouse_loop_destroy(loop);
}
