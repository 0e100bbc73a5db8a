#include "display/turns.h"
#include "display/weston.h"
#include "screen.h"
#include "screen_protocols.h"

#include <linux/input-event-codes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const screen_system = "wayland";
static struct weston server;
static unsigned screen_width, screen_height;

struct screen {
	struct wl_display *display;
	struct wl_registry *registry;
	struct wl_shm *shm;
	struct wl_output *output;
	struct wl_proxy *shooter, *copier, *pointers; /* NULL: the compositor has none */
	struct wl_proxy *pointer;
	struct wl_buffer *buffer;
	uint32_t *pixels;
	bool taken, upside_down;
};

void screen_start(unsigned width, unsigned height)
{
	screen_width = width;
	screen_height = height;
	weston_start_screen(&server, width, height);
}

void screen_stop(void)
{
	weston_stop(&server);
}

const char *screen_server(void)
{
	return weston_is_weston() ? "weston" : "sway";
}

/* What the test stands on is missing. */
static void need(bool condition)
{
	if (!condition)
		abort();
}

static void on_global(void *data, struct wl_registry *registry, uint32_t name,
                      const char *interface, uint32_t version)
{
	struct screen *s = data;
	const struct {
		const struct wl_interface *interface;
		void *bound; /* the address of a pointer */
	} wanted[] = {
	        {&wl_shm_interface, &s->shm},        {&wl_output_interface, &s->output},
	        {&shooter_interface, &s->shooter},   {&copier_interface, &s->copier},
	        {&pointers_interface, &s->pointers},
	};

	(void)version;
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (!strcmp(interface, wanted[i].interface->name)) {
			void *bound = wl_registry_bind(registry, name, wanted[i].interface, 1);

			memcpy(wanted[i].bound, &bound, sizeof bound);
		}
}

static void on_global_gone(void *data, struct wl_registry *registry, uint32_t name)
{
	(void)data, (void)registry, (void)name;
}

static const struct wl_registry_listener registry_listener = {on_global, on_global_gone};

static void make_buffer(struct screen *s)
{
	size_t size = (size_t)screen_width * screen_height * sizeof *s->pixels;
	int fd = memfd_create("screen", MFD_CLOEXEC);

	need(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	s->pixels = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(s->pixels != MAP_FAILED);
	struct wl_shm_pool *pool = wl_shm_create_pool(s->shm, fd, (int32_t)size);
	s->buffer =
	        wl_shm_pool_create_buffer(pool, 0, (int32_t)screen_width, (int32_t)screen_height,
	                                  (int32_t)screen_width * 4, WL_SHM_FORMAT_XRGB8888);
	wl_shm_pool_destroy(pool);
	close(fd);
}

/* ---- Looking ----------------------------------------------------------------------------- */

static void on_shot(void *data, struct wl_proxy *shooter)
{
	(void)shooter;
	((struct screen *)data)->taken = true;
}

static const struct shooter_listener shooter_listener = {on_shot};

static void on_buffer(void *data, struct wl_proxy *frame, uint32_t format, uint32_t width,
                      uint32_t height, uint32_t stride)
{
	struct screen *s = data;

	need(format == WL_SHM_FORMAT_XRGB8888 && width == screen_width && height == screen_height &&
	     stride == width * 4);
	wl_proxy_marshal_flags(frame, FRAME_COPY, NULL, 1, 0, s->buffer);
}

static void on_flags(void *data, struct wl_proxy *frame, uint32_t flags)
{
	(void)frame;
	((struct screen *)data)->upside_down = flags & 1;
}

static void on_ready(void *data, struct wl_proxy *frame, uint32_t high, uint32_t low,
                     uint32_t nanoseconds)
{
	(void)frame, (void)high, (void)low, (void)nanoseconds;
	((struct screen *)data)->taken = true;
}

static void on_failed(void *data, struct wl_proxy *frame)
{
	(void)data, (void)frame;
	need(false);
}

static const struct frame_listener frame_listener = {on_buffer, on_flags, on_ready, on_failed};

/* libwayland has listeners as arrays of functions. */
static void listen(struct wl_proxy *proxy, const void *listener, struct screen *s)
{
	void (**functions)(void);

	memcpy(&functions, &listener, sizeof functions);
	wl_proxy_add_listener(proxy, functions, s);
}

static void take(struct screen *s)
{
	struct wl_proxy *frame = NULL;

	s->taken = false;
	if (s->copier) {
		frame = wl_proxy_marshal_flags(s->copier, COPIER_OUTPUT, &frame_interface, 1, 0,
		                               NULL, 0, s->output);
		listen(frame, &frame_listener, s);
	} else {
		wl_proxy_marshal_flags(s->shooter, SHOOTER_TAKE, NULL, 1, 0, s->output, s->buffer);
	}
	while (!s->taken)
		need(wl_display_dispatch(s->display) >= 0);
	if (frame)
		wl_proxy_marshal_flags(frame, FRAME_DESTROY, NULL, 1, WL_MARSHAL_FLAG_DESTROY);
}

static unsigned pixel(const struct screen *s, int x, int y)
{
	unsigned row = s->upside_down ? screen_height - 1 - (unsigned)y : (unsigned)y;

	return s->pixels[row * screen_width + (unsigned)x] & 0xffffff;
}

unsigned screen_pixel(struct screen *screen, int x, int y)
{
	take(screen);
	return pixel(screen, x, y);
}

void screen_save(struct screen *screen, int width, int height, const char *path)
{
	FILE *file = fopen(path, "wb");

	need(file != NULL);
	take(screen);
	fprintf(file, "P6 %d %d 255\n", width, height);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++) {
			unsigned colour = pixel(screen, x, y);

			fputc((int)(colour >> 16 & 255), file);
			fputc((int)(colour >> 8 & 255), file);
			fputc((int)(colour & 255), file);
		}
	fclose(file);
}

/* ---- The pointer --------------------------------------------------------------------------- */

bool screen_has_pointer(const struct screen *screen)
{
	return screen->pointer != NULL;
}

static void frame(struct screen *s)
{
	wl_proxy_marshal_flags(s->pointer, POINTER_FRAME, NULL, 1, 0);
}

static void button(struct screen *s, uint32_t ms, bool down)
{
	wl_proxy_marshal_flags(s->pointer, POINTER_BUTTON, NULL, 1, 0, ms, BTN_LEFT,
	                       (uint32_t)down);
	frame(s);
}

static void move_to(struct screen *s, uint32_t ms, uint32_t x, uint32_t y)
{
	wl_proxy_marshal_flags(s->pointer, POINTER_MOVE_TO, NULL, 1, 0, ms, x, y, screen_width,
	                       screen_height);
	frame(s);
}

void screen_click(struct screen *screen, int x, int y)
{
	uint32_t ms = (uint32_t)(rouse_now() / MS);

	move_to(screen, ms, (uint32_t)x, (uint32_t)y);
	button(screen, ms, true);
	button(screen, ms, false);
	need(wl_display_roundtrip(screen->display) >= 0);
}

/* ---- Open and close -------------------------------------------------------------------------- */

struct screen *screen_open(void)
{
	struct screen *s = calloc(1, sizeof *s);

	need(s != NULL);
	s->display = wl_display_connect(NULL);
	need(s->display != NULL);
	s->registry = wl_display_get_registry(s->display);
	wl_registry_add_listener(s->registry, &registry_listener, s);
	need(wl_display_roundtrip(s->display) >= 0);
	need(s->shm && s->output && (s->shooter || s->copier));
	if (s->shooter)
		listen(s->shooter, &shooter_listener, s);
	if (s->pointers)
		s->pointer = wl_proxy_marshal_flags(s->pointers, POINTERS_CREATE,
		                                    &pointer_interface, 1, 0, NULL, NULL);
	/* Out of the picture. */
	if (s->pointer)
		move_to(s, 0, screen_width - 1, screen_height - 1);
	make_buffer(s);
	need(wl_display_roundtrip(s->display) >= 0);
	return s;
}

static void destroy(void *proxy)
{
	if (proxy)
		wl_proxy_destroy(proxy);
}

void screen_close(struct screen *screen)
{
	wl_buffer_destroy(screen->buffer);
	munmap(screen->pixels, (size_t)screen_width * screen_height * sizeof *screen->pixels);
	destroy(screen->pointer);
	destroy(screen->pointers);
	destroy(screen->copier);
	destroy(screen->shooter);
	destroy(screen->output);
	destroy(screen->shm);
	destroy(screen->registry);
	wl_display_disconnect(screen->display);
	free(screen);
}
