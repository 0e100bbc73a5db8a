/* Detach in every callback, and what else callbacks remove. */
#include "fixture.h"
#include "xvfb.h"

#include <X11/Xlib-xcb.h>
#include <stdlib.h>
#include <unistd.h>

static struct xvfb server;

static void detach(struct fixture *f)
{
	assert_int_equal(rouse_x11_detach(f->x11), 0);
	f->x11 = NULL;
}

static void detach_event(struct fixture *f, XEvent *event)
{
	(void)event;
	detach(f);
}

static void nothing_more(struct fixture *f)
{
	unsigned events = f->events, activity = f->activity, errors = f->errors;

	fixture_send(f, 2);
	fixture_settle(f->loop);
	assert_int_equal(f->events, events);
	assert_int_equal(f->activity, activity);
	assert_int_equal(f->errors, errors);
	assert_null(f->x11);
	fixture_close(f);
}

static void l3_detach_in_event(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, NULL);
	f.on_event = detach_event;
	fixture_send(&f, 1);
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	nothing_more(&f);
}

static void detach_twice(struct fixture *f)
{
	rouse_x11 *x11 = f->x11;

	detach(f);
	/* The name is good until this callback returns. */
	assert_int_equal(rouse_x11_detach(x11), ROUSE_ESTALE);
}

static void detach_event_twice(struct fixture *f, XEvent *event)
{
	(void)event;
	detach_twice(f);
}

static void l3_second_detach_is_stale(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, NULL);
	f.on_event = detach_event_twice;
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	nothing_more(&f);
	/* Also where no function of ours is on the stack. */
	fixture_open(&f, NULL);
	f.on_error = detach_twice;
	XMapWindow(f.display, 1);
	XSync(f.display, False);
	assert_int_equal(f.errors, 1);
	nothing_more(&f);
}

static void l3_detach_in_activity(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, NULL);
	unsigned before = f.activity;
	f.on_activity = detach;
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.activity, before + 1);
	assert_int_equal(f.events, 0);
	nothing_more(&f);
}

static void l3_detach_in_error(void **state)
{
	struct fixture f;

	(void)state;
	/* Read by the adapter just before it would sleep: then it does not. */
	fixture_open(&f, NULL);
	f.on_error = detach;
	XMapWindow(f.display, 1);
	xcb_connection_t *c = XGetXCBConnection(f.display);
	free(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL));
	assert_int_equal(f.errors, 0);
	rouse_ns start = rouse_now();
	fixture_until(f.loop, &f.errors, 1);
	assert_true(rouse_now() - start < SOON / 2);
	assert_int_equal(f.error_code, BadWindow);
	nothing_more(&f);
	/* Read by the user. */
	fixture_open(&f, NULL);
	f.on_error = detach;
	XMapWindow(f.display, 1);
	XSync(f.display, False);
	assert_int_equal(f.errors, 1);
	nothing_more(&f);
}

/* A timer runs before hooks, a descriptor after them; both are due in the same turn. */
struct pair {
	struct fixture *f;
	unsigned timers, fds;
	rouse_source timer, fd;
	int pipe[2];
};

static void pair_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct pair *pair = data;

	(void)loop, (void)self, (void)deadline;
	pair->timers++;
	if (pair->f->x11)
		detach(pair->f);
}

static void pair_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct pair *pair = data;

	(void)loop, (void)self, (void)fd, (void)events;
	pair->fds++;
}

static void pair_event(struct fixture *f, XEvent *event)
{
	struct pair *pair = f->data;

	(void)event;
	assert_int_equal(rouse_remove(f->loop, pair->fd), 0);
}

static void l3_detach_in_timer_while_an_event_is_due(void **state)
{
	struct fixture f;
	struct pair pair = {.f = &f};

	(void)state;
	fixture_open(&f, NULL);
	fixture_send(&f, 1);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 0, 0, pair_timer, &pair, NULL), 0);
	fixture_until(f.loop, &pair.timers, 1);
	assert_int_equal(f.events, 0);
	nothing_more(&f);
}

static void l3_event_removes_a_ready_descriptor(void **state)
{
	struct fixture f;
	struct pair pair = {.f = &f};

	(void)state;
	fixture_open(&f, NULL);
	f.data = &pair;
	f.on_event = pair_event;
	assert_int_equal(pipe(pair.pipe), 0);
	assert_int_equal(write(pair.pipe[1], "x", 1), 1);
	assert_int_equal(
	        rouse_fd_add(f.loop, pair.pipe[0], ROUSE_READABLE, pair_fd, &pair, &pair.fd), 0);
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	fixture_settle(f.loop);
	assert_int_equal(pair.fds, 0);
	close(pair.pipe[0]);
	close(pair.pipe[1]);
	fixture_close(&f);
}

static void detach_other(struct fixture *f, XEvent *event)
{
	struct fixture *second = f->data;

	(void)event;
	if (second->x11)
		detach(second);
}

static void l3_event_detaches_another_display(void **state)
{
	struct fixture f, second;
	rouse_loop *loop;

	(void)state;
	fixture_open(&f, NULL);
	fixture_open(&second, NULL);
	detach(&second);
	loop = second.loop;
	second.loop = f.loop;
	rouse_x11_options options = fixture_options(&second);
	assert_int_equal(rouse_x11_attach(f.loop, &options, &second.x11), 0);
	fixture_settle(f.loop);
	f.data = &second;
	second.data = &f;
	f.on_event = second.on_event = detach_other;
	fixture_send(&f, 1);
	fixture_send(&second, 1);
	fixture_settle(f.loop);
	/* Whoever was first detached the other. */
	assert_int_equal(f.events + second.events, 1);
	assert_true(!f.x11 != !second.x11);
	if (second.x11)
		detach(&second);
	second.loop = loop;
	fixture_close(&second);
	fixture_close(&f);
}

static void l3_loop_destroyed_with_an_attachment(void **state)
{
	struct fixture f;
	rouse_x11_injector *injector;

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(rouse_x11_injector_create(f.x11, f.window, &injector), 0);
	assert_int_equal(rouse_loop_destroy(f.loop), 0);
	assert_int_equal(rouse_x11_injector_send(injector, 1), ROUSE_ELOST);
	rouse_x11_injector_unref(injector);
	/* The display is free again. */
	assert_int_equal(rouse_loop_create(NULL, &f.loop), 0);
	rouse_x11_options options = fixture_options(&f);
	assert_int_equal(rouse_x11_attach(f.loop, &options, &f.x11), 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(l3_detach_in_event),
	        cmocka_unit_test(l3_second_detach_is_stale),
	        cmocka_unit_test(l3_detach_in_activity),
	        cmocka_unit_test(l3_detach_in_error),
	        cmocka_unit_test(l3_detach_in_timer_while_an_event_is_due),
	        cmocka_unit_test(l3_event_removes_a_ready_descriptor),
	        cmocka_unit_test(l3_event_detaches_another_display),
	        cmocka_unit_test(l3_loop_destroyed_with_an_attachment),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
