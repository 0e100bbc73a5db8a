/* Detach in every callback, and what else callbacks remove. */
#include "xcb_fixture.h"
#include "xvfb.h"

#include <stdlib.h>
#include <unistd.h>

static struct xvfb server;

static void detach(struct xcb_fixture *f)
{
	assert_int_equal(rouse_xcb_detach(f->xcb), 0);
	f->xcb = NULL;
}

static void detach_event(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	(void)event;
	detach(f);
}

static void nothing_more(struct xcb_fixture *f)
{
	unsigned events = f->events, activity = f->activity, errors = f->errors;

	xcb_fixture_send(f, 2);
	fixture_settle(f->loop);
	assert_int_equal(f->events, events);
	assert_int_equal(f->activity, activity);
	assert_int_equal(f->errors, errors);
	assert_null(f->xcb);
	xcb_fixture_close(f);
}

static void l3_detach_in_event(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	f.on_event = detach_event;
	xcb_fixture_send(&f, 1);
	xcb_fixture_send(&f, 2);
	fixture_until(f.loop, &f.events, 1);
	/* What was read and not delivered is in XCB's queue, for whoever looks next. */
	xcb_client_message_event_t *next = (void *)xcb_poll_for_queued_event(f.connection);
	assert_non_null(next);
	assert_int_equal(next->data.data32[0], 2);
	free(next);
	nothing_more(&f);
}

/* The connection is closed and the data freed in the same callback; the event is freed still. */
struct mine {
	rouse_xcb *xcb;
	xcb_connection_t *connection;
	unsigned *calls;
};

static void detach_close_and_free(rouse_loop *loop, rouse_xcb *xcb, void *event, void *data)
{
	struct mine *mine = data;

	(void)loop, (void)event;
	++*mine->calls;
	assert_int_equal(rouse_xcb_detach(xcb), 0);
	xcb_disconnect(mine->connection);
	free(mine);
}

static void l4_detach_close_and_free_in_event(void **state)
{
	struct xcb_fixture f;
	struct mine *mine = calloc(1, sizeof(*mine));
	unsigned calls = 0;

	(void)state;
	xcb_fixture_open(&f, NULL);
	detach(&f);
	*mine = (struct mine){.connection = f.connection, .calls = &calls};
	rouse_xcb_options options = {.size = sizeof(options),
	                             .connection = f.connection,
	                             .data = mine,
	                             .event = detach_close_and_free};
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &mine->xcb), 0);
	xcb_fixture_send(&f, 1);
	xcb_fixture_send(&f, 2);
	fixture_until(f.loop, &calls, 1);
	fixture_settle(f.loop);
	assert_int_equal(calls, 1);
	f.connection = NULL;
	xcb_fixture_close(&f);
}

static void detach_twice(struct xcb_fixture *f)
{
	rouse_xcb *xcb = f->xcb;

	detach(f);
	/* The name is good until this callback returns. */
	assert_int_equal(rouse_xcb_detach(xcb), ROUSE_ESTALE);
}

static void l3_second_detach_is_stale(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	f.on_error = detach_twice;
	xcb_map_window(f.connection, 1);
	fixture_until(f.loop, &f.errors, 1);
	nothing_more(&f);
}

static void l3_detach_in_activity(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	unsigned before = f.activity;
	f.on_activity = detach;
	/* Read by somebody else, so that it is the first that is told. */
	xcb_fixture_sync(f.connection);
	fixture_until(f.loop, &f.activity, before + 1);
	nothing_more(&f);
}

static void l3_detach_in_error(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	f.on_error = detach;
	xcb_map_window(f.connection, 1);
	xcb_fixture_sync(f.connection);
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.errors, 1);
	assert_int_equal(f.error_code, XCB_WINDOW);
	assert_int_equal(f.events, 0);
	nothing_more(&f);
}

/* Attached anew in the same callback: the rest is the new one's. */
static void reattach(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	rouse_xcb_options options = xcb_fixture_options(f);

	(void)event;
	f->on_event = NULL;
	detach(f);
	assert_int_equal(rouse_xcb_attach(f->loop, &options, &f->xcb), 0);
}

static void l3_attach_anew_in_event(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	f.on_event = reattach;
	xcb_fixture_send(&f, 1);
	xcb_fixture_send(&f, 2);
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.events, 1);
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.events, 2);
	xcb_fixture_close(&f);
}

/* A timer runs before hooks, a descriptor after them; both are due in the same turn. */
struct pair {
	struct xcb_fixture *f;
	unsigned timers, fds;
	rouse_source fd;
	int pipe[2];
};

static void pair_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct pair *pair = data;

	(void)loop, (void)self, (void)deadline;
	pair->timers++;
	if (pair->f->xcb)
		detach(pair->f);
}

static void pair_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct pair *pair = data;

	(void)loop, (void)self, (void)fd, (void)events;
	pair->fds++;
	if (pair->f->xcb)
		detach(pair->f);
}

static void pair_wake(rouse_loop *loop, void *data)
{
	pair_timer(loop, (rouse_source){0}, 0, data);
}

static void pair_event(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	struct pair *pair = f->data;

	(void)event;
	assert_int_equal(rouse_remove(f->loop, pair->fd), 0);
}

static void l3_detach_in_timer_while_an_event_is_due(void **state)
{
	struct xcb_fixture f;
	struct pair pair = {.f = &f};

	(void)state;
	xcb_fixture_open(&f, NULL);
	xcb_fixture_send(&f, 1);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 0, 0, pair_timer, &pair, NULL), 0);
	fixture_until(f.loop, &pair.timers, 1);
	assert_int_equal(f.events, 0);
	nothing_more(&f);
}

static void l3_detach_in_wake_and_post_while_an_event_is_due(void **state)
{
	struct xcb_fixture f;
	struct pair pair = {.f = &f};
	rouse_waker *waker;

	(void)state;
	xcb_fixture_open(&f, NULL);
	xcb_fixture_send(&f, 1);
	assert_int_equal(rouse_waker_create(f.loop, pair_wake, &pair, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	fixture_until(f.loop, &pair.timers, 1);
	assert_int_equal(f.events, 0);
	rouse_waker_unref(waker);
	nothing_more(&f);

	pair = (struct pair){.f = &f};
	xcb_fixture_open(&f, NULL);
	rouse_remote *remote = rouse_loop_remote(f.loop);
	xcb_fixture_send(&f, 1);
	assert_int_equal(rouse_post(remote, pair_wake, &pair, NULL), 0);
	fixture_until(f.loop, &pair.timers, 1);
	assert_int_equal(f.events, 0);
	rouse_remote_unref(remote);
	nothing_more(&f);
}

static void l3_detach_in_descriptor(void **state)
{
	struct xcb_fixture f;
	struct pair pair = {.f = &f};

	(void)state;
	xcb_fixture_open(&f, NULL);
	assert_int_equal(pipe(pair.pipe), 0);
	assert_int_equal(write(pair.pipe[1], "x", 1), 1);
	assert_int_equal(
	        rouse_fd_add(f.loop, pair.pipe[0], ROUSE_READABLE, pair_fd, &pair, &pair.fd), 0);
	fixture_until(f.loop, &pair.fds, 1);
	assert_int_equal(rouse_remove(f.loop, pair.fd), 0);
	nothing_more(&f);
	close(pair.pipe[0]);
	close(pair.pipe[1]);
}

static void l3_event_removes_a_ready_descriptor(void **state)
{
	struct xcb_fixture f;
	struct pair pair = {.f = &f};

	(void)state;
	xcb_fixture_open(&f, NULL);
	f.data = &pair;
	f.on_event = pair_event;
	assert_int_equal(pipe(pair.pipe), 0);
	assert_int_equal(write(pair.pipe[1], "x", 1), 1);
	assert_int_equal(
	        rouse_fd_add(f.loop, pair.pipe[0], ROUSE_READABLE, pair_fd, &pair, &pair.fd), 0);
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	fixture_settle(f.loop);
	assert_int_equal(pair.fds, 0);
	close(pair.pipe[0]);
	close(pair.pipe[1]);
	xcb_fixture_close(&f);
}

/* A timer and a waker that are due when an event's callback removes them. */
struct due {
	unsigned calls;
	rouse_source timer;
	rouse_waker *waker;
};

static void remove_due(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	struct due *due = f->data;

	(void)event;
	assert_int_equal(rouse_timer_set(f->loop, due->timer, rouse_loop_now(f->loop), 0, 0), 0);
	assert_true(rouse_wake(due->waker) >= 0);
	assert_int_equal(rouse_remove(f->loop, due->timer), 0);
	assert_int_equal(rouse_waker_close(due->waker), 0);
}

static void l3_event_removes_a_due_timer_and_waker(void **state)
{
	struct xcb_fixture f;
	struct due due = {0};

	(void)state;
	xcb_fixture_open(&f, NULL);
	f.data = &due;
	f.on_event = remove_due;
	assert_int_equal(rouse_timer_add(f.loop, ROUSE_NEVER, 0, 0, fixture_count_timer, &due.calls,
	                                 &due.timer),
	                 0);
	assert_int_equal(rouse_waker_create(f.loop, fixture_count_wake, &due.calls, &due.waker), 0);
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	fixture_settle(f.loop);
	assert_int_equal(due.calls, 0);
	rouse_waker_unref(due.waker);
	xcb_fixture_close(&f);
}

static void detach_other(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	struct xcb_fixture *second = f->data;

	(void)event;
	if (second->xcb)
		detach(second);
}

static void l3_event_detaches_another_connection(void **state)
{
	struct xcb_fixture f, second;
	rouse_loop *loop;

	(void)state;
	xcb_fixture_open(&f, NULL);
	xcb_fixture_open(&second, NULL);
	detach(&second);
	loop = second.loop;
	second.loop = f.loop;
	rouse_xcb_options options = xcb_fixture_options(&second);
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &second.xcb), 0);
	fixture_settle(f.loop);
	f.data = &second;
	second.data = &f;
	f.on_event = second.on_event = detach_other;
	xcb_fixture_send(&f, 1);
	xcb_fixture_send(&second, 1);
	fixture_settle(f.loop);
	/* Whoever was first detached the other. */
	assert_int_equal(f.events + second.events, 1);
	assert_true(!f.xcb != !second.xcb);
	if (second.xcb)
		detach(&second);
	second.loop = loop;
	xcb_fixture_close(&second);
	xcb_fixture_close(&f);
}

static void l3_loop_destroyed_with_an_attachment(void **state)
{
	struct xcb_fixture f;

	(void)state;
	xcb_fixture_open(&f, NULL);
	assert_int_equal(rouse_loop_destroy(f.loop), 0);
	/* The connection works, and is free again. */
	xcb_fixture_sync(f.connection);
	assert_int_equal(rouse_loop_create(NULL, &f.loop), 0);
	rouse_xcb_options options = xcb_fixture_options(&f);
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &f.xcb), 0);
	xcb_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(l3_detach_in_event),
	        cmocka_unit_test(l4_detach_close_and_free_in_event),
	        cmocka_unit_test(l3_second_detach_is_stale),
	        cmocka_unit_test(l3_detach_in_activity),
	        cmocka_unit_test(l3_detach_in_error),
	        cmocka_unit_test(l3_attach_anew_in_event),
	        cmocka_unit_test(l3_detach_in_timer_while_an_event_is_due),
	        cmocka_unit_test(l3_detach_in_wake_and_post_while_an_event_is_due),
	        cmocka_unit_test(l3_detach_in_descriptor),
	        cmocka_unit_test(l3_event_removes_a_ready_descriptor),
	        cmocka_unit_test(l3_event_removes_a_due_timer_and_waker),
	        cmocka_unit_test(l3_event_detaches_another_connection),
	        cmocka_unit_test(l3_loop_destroyed_with_an_attachment),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
