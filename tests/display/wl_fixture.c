#include "wl_fixture.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

static void on_pressure(rouse_loop *loop, rouse_wayland *wayland, int blocked, void *data)
{
	struct wl_fixture *f = data;

	assert_ptr_equal(loop, f->loop);
	assert_ptr_equal(wayland, f->wayland);
	f->pressures++;
	f->blocked = blocked;
	if (f->on_pressure)
		f->on_pressure(f);
}

static void on_lost(rouse_loop *loop, rouse_wayland *wayland, const rouse_wayland_loss *how,
                    void *data)
{
	struct wl_fixture *f = data;

	assert_ptr_equal(loop, f->loop);
	assert_ptr_equal(wayland, f->wayland);
	f->lost++;
	f->how = *how;
	if (f->on_lost)
		f->on_lost(f);
}

rouse_wayland_options wl_fixture_options(struct wl_fixture *f)
{
	return (rouse_wayland_options){.size = sizeof(rouse_wayland_options),
	                               .display = f->display,
	                               .queue = f->queue,
	                               .data = f,
	                               .pressure = on_pressure,
	                               .lost = on_lost};
}

void wl_fixture_detach(struct wl_fixture *f)
{
	rouse_wayland *wayland = f->wayland;

	f->wayland = NULL;
	assert_int_equal(rouse_wayland_detach(wayland), 0);
}

void wl_fixture_reattach(struct wl_fixture *f)
{
	rouse_wayland_options options = wl_fixture_options(f);

	assert_int_equal(rouse_wayland_attach(f->loop, &options, &f->wayland), 0);
}

void wl_fixture_open(struct wl_fixture *f, struct peer *peer, const rouse_loop_options *given)
{
	rouse_loop_options options = {.size = sizeof(options)};

	if (given)
		options = *given;
	if (!options.poller)
		options.poller = getenv("ROUSE_TEST_POLLER");
	memset(f, 0, sizeof(*f));
	assert_int_equal(rouse_loop_create(&options, &f->loop), 0);
	f->peer = peer;
	f->display = peer ? wl_display_connect_to_fd(peer_open(peer)) : wl_display_connect(NULL);
	assert_non_null(f->display);
	wl_fixture_reattach(f);
	fixture_settle(f->loop);
}

void wl_fixture_open_queue(struct wl_fixture *f, const struct wl_fixture *of)
{
	memset(f, 0, sizeof(*f));
	f->loop = of->loop;
	f->peer = of->peer;
	f->display = of->display;
	f->queue = wl_display_create_queue(f->display);
	f->asker = wl_proxy_create_wrapper(f->display);
	assert_non_null(f->asker);
	wl_proxy_set_queue((struct wl_proxy *)f->asker, f->queue);
	wl_fixture_reattach(f);
	fixture_settle(f->loop);
}

/* ---- Events ---------------------------------------------------------------------------- */

/* A question that is not answered yet. */
struct question {
	struct question *next;
	struct wl_fixture *f;
	struct wl_callback *callback;
};

static void forget(struct question *question)
{
	struct question **link = &question->f->questions;

	while (*link != question)
		link = &(*link)->next;
	*link = question->next;
	wl_callback_destroy(question->callback);
	free(question);
}

static void answered(void *data, struct wl_callback *callback, uint32_t serial)
{
	struct question *question = data;
	struct wl_fixture *f = question->f;

	(void)callback, (void)serial;
	forget(question);
	f->events++;
	if (f->on_event)
		f->on_event(f);
}

void wl_fixture_ask(struct wl_fixture *f)
{
	static const struct wl_callback_listener listener = {.done = answered};

	struct question *question = malloc(sizeof(*question));

	assert_non_null(question);
	*question = (struct question){
	        .next = f->questions,
	        .f = f,
	        .callback = wl_display_sync(f->asker ? f->asker : f->display),
	};
	f->questions = question;
	wl_callback_add_listener(question->callback, &listener, question);
}

void wl_fixture_asked(struct wl_fixture *f)
{
	wl_fixture_ask(f);
	assert_true(wl_display_flush(f->display) >= 0);
	if (f->peer)
		peer_serve(f->peer);
	wl_fixture_await_bytes(f);
}

bool wl_fixture_readable(const struct wl_fixture *f)
{
	return fixture_bytes(wl_display_get_fd(f->display)) > 0;
}

void wl_fixture_await_bytes(const struct wl_fixture *f)
{
	fixture_await_bytes_of(wl_display_get_fd(f->display), 1);
}

void wl_fixture_disconnect(struct wl_fixture *f)
{
	while (f->questions)
		forget(f->questions);
	if (f->display)
		wl_display_disconnect(f->display);
	f->display = NULL;
}

void wl_fixture_close(struct wl_fixture *f)
{
	assert_int_equal(rouse_wayland_detach(f->wayland), 0);
	while (f->questions)
		forget(f->questions);
	if (f->output)
		wl_output_destroy(f->output);
	if (f->registry)
		wl_registry_destroy(f->registry);
	if (f->asker)
		wl_proxy_wrapper_destroy(f->asker);
	if (f->queue) {
		wl_event_queue_destroy(f->queue);
	} else {
		wl_fixture_disconnect(f);
		if (f->peer)
			peer_close(f->peer);
		assert_int_equal(rouse_loop_destroy(f->loop), 0);
	}
	memset(f, 0, sizeof(*f));
}

/* ---- The peer's output -------------------------------------------------------------------- */

static void geometry(void *data, struct wl_output *output, int32_t x, int32_t y, int32_t width,
                     int32_t height, int32_t subpixel, const char *make, const char *model,
                     int32_t transform)
{
	(void)data, (void)output, (void)x, (void)y, (void)width, (void)height, (void)subpixel;
	(void)make, (void)model, (void)transform;
}

static void mode(void *data, struct wl_output *output, uint32_t flags, int32_t width,
                 int32_t height, int32_t refresh)
{
	(void)data, (void)output, (void)flags, (void)width, (void)height, (void)refresh;
}

static void done(void *data, struct wl_output *output)
{
	(void)data, (void)output;
}

static void scale(void *data, struct wl_output *output, int32_t factor)
{
	struct wl_fixture *f = data;

	(void)output;
	f->scales++;
	assert_int_equal(factor, (int)f->scales);
	if (f->on_event)
		f->on_event(f);
}

static const struct wl_output_listener output_listener = {
        .geometry = geometry, .mode = mode, .done = done, .scale = scale};

static void global(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                   uint32_t version)
{
	struct wl_fixture *f = data;

	(void)version;
	if (strcmp(interface, wl_output_interface.name) != 0)
		return;
	f->output_name = name;
	f->output = wl_registry_bind(registry, name, &wl_output_interface, 2);
	wl_output_add_listener(f->output, &output_listener, f);
}

static void global_remove(void *data, struct wl_registry *registry, uint32_t name)
{
	(void)data, (void)registry, (void)name;
}

void wl_fixture_bind_output(struct wl_fixture *f)
{
	static const struct wl_registry_listener listener = {.global = global,
	                                                     .global_remove = global_remove};

	f->registry = wl_display_get_registry(f->asker ? f->asker : f->display);
	wl_registry_add_listener(f->registry, &listener, f);
	for (int i = 0; i < 4; i++) {
		wl_display_flush(f->display);
		peer_serve(f->peer);
		fixture_settle(f->loop);
	}
	assert_non_null(f->output);
	assert_non_null(f->peer->output);
}
