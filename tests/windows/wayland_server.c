#include "subject.h"

#include "display/weston.h"
#include "wayland_server.h"

#include <stdlib.h>
#include <string.h>
#include <wayland-client.h>

const char server_driver[] = "wayland";

struct weston wayland_server;

/* Asked, and not answered yet; of the one subject that there is. */
struct question {
	struct wl_list link;
	struct wl_callback *callback;
	struct subject *subject;
};

static struct wl_list questions;

void server_start(void)
{
	weston_start(&wayland_server);
}

void server_kill(void)
{
	weston_kill(&wayland_server);
}

void server_join(struct subject *s)
{
	(void)s;
	wl_list_init(&questions);
}

static void forget(struct question *question)
{
	wl_list_remove(&question->link);
	wl_callback_destroy(question->callback);
	free(question);
}

void server_leave(struct subject *s)
{
	struct question *question, *next;

	(void)s;
	wl_list_for_each_safe(question, next, &questions, link) forget(question);
}

static void on_done(void *data, struct wl_callback *callback, uint32_t serial)
{
	struct question *question = data;
	struct subject *s = question->subject;

	(void)callback, (void)serial;
	forget(question);
	subject_event(s);
}

void subject_ask(struct subject *s, unsigned count)
{
	static const struct wl_callback_listener listener = {.done = on_done};

	for (unsigned i = 0; i < count; i++) {
		struct question *question = malloc(sizeof(*question));

		question->subject = s;
		question->callback = wl_display_sync(s->wayland);
		wl_callback_add_listener(question->callback, &listener, question);
		wl_list_insert(questions.prev, &question->link);
	}
}

void server_settle(struct subject *s)
{
	for (unsigned i = 1; i <= 3; i++) {
		subject_ask(s, 1);
		fixture_until(s->loop, &s->events, i);
	}
	fixture_settle(s->loop);
}

void server_round_trip(struct subject *s)
{
	assert_true(wl_display_roundtrip(s->wayland) >= 0);
}

const bool server_draws = false;

void server_draw(struct subject *s)
{
	(void)s;
}

rouse_fd server_fd(const struct subject *s)
{
	return wl_display_get_fd(s->wayland);
}

void subject_send(struct subject *s, unsigned count)
{
	int fd = server_fd(s), before = fixture_bytes(fd);

	subject_ask(s, count);
	assert_true(wl_display_flush(s->wayland) >= 0);
	/* An answer, and that its name is free. */
	fixture_await_bytes_of(fd, before + 2 * 12 * (int)count);
}

void subject_queue(struct subject *s, unsigned count)
{
	struct wl_event_queue *queue = wl_display_create_queue(s->wayland);
	unsigned before = s->events;

	for (unsigned asked = 0, some; asked < count; asked += some) {
		some = count - asked < 100 ? count - asked : 100;
		subject_ask(s, some);
		assert_true(wl_display_roundtrip_queue(s->wayland, queue) >= 0);
	}
	assert_int_equal(s->events, before);
	wl_event_queue_destroy(queue);
}

static void on_global(void *data, struct wl_registry *registry, uint32_t name, const char *is,
                      uint32_t version)
{
	(void)registry, (void)name, (void)version;
	if (!strcmp(is, wl_seat_interface.name))
		*(bool *)data = true;
}

bool server_has_seat(void)
{
	const struct wl_registry_listener listener = {.global = on_global};
	struct wl_display *display = wl_display_connect(NULL);
	bool seat = false;

	assert_non_null(display);
	struct wl_registry *registry = wl_display_get_registry(display);
	wl_registry_add_listener(registry, &listener, &seat);
	wl_display_roundtrip(display);
	wl_registry_destroy(registry);
	wl_display_disconnect(display);
	return seat;
}
