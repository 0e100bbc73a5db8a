/* Another thread reads from the connection while the loop sleeps: seen, and counted. */
#include "fixture.h"
#include "xcb_fixture.h"
#include "core/fault.h"
#include "xvfb.h"

#include <X11/Xlib-xcb.h>
#include <pthread.h>
#include <semaphore.h>

static struct xvfb server;

/* Somebody who makes a round trip on another's connection, when told. */
struct stranger {
	xcb_connection_t *connection;
	pthread_t thread;
	sem_t go, done;
	unsigned trips;

	/* In the loop's thread, when it is about to sleep: the stranger is let go, once. */
	bool armed;
	void (*send)(void *data);
	void *data;
};

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

static void *make_round_trips(void *data)
{
	struct stranger *s = data;

	for (unsigned i = 0; i < s->trips; i++) {
		await(&s->go);
		xcb_fixture_sync(s->connection);
		sem_post(&s->done);
	}
	return NULL;
}

static void start_stranger(struct stranger *s, xcb_connection_t *connection, unsigned trips)
{
	s->connection = connection;
	s->trips = trips;
	assert_int_equal(sem_init(&s->go, 0, 0), 0);
	assert_int_equal(sem_init(&s->done, 0, 0), 0);
	assert_int_equal(pthread_create(&s->thread, NULL, make_round_trips, s), 0);
}

static void end_stranger(struct stranger *s)
{
	rouse__fault_pause(NULL, NULL);
	assert_int_equal(pthread_join(s->thread, NULL), 0);
	sem_destroy(&s->go);
	sem_destroy(&s->done);
}

static void round_trip(struct stranger *s)
{
	sem_post(&s->go);
	await(&s->done);
}

/* The event has come to the socket, and when the loop sleeps it is not there any more. */
static void at_point(enum rouse__point point, void *data)
{
	struct stranger *s = data;

	if (point != ROUSE__MARKED_ASLEEP || !s->armed)
		return;
	s->armed = false;
	s->send(s->data);
	round_trip(s);
}

/* One turn that could end at once, if nobody had read the event from under it. */
static void sleep_on_it(rouse_loop *loop, struct stranger *s)
{
	rouse_ns start = rouse_now();

	rouse__fault_pause(at_point, s);
	s->armed = true;
	assert_true(rouse_loop_turn(loop, start + 20 * MS) >= 0);
	assert_false(s->armed);
	assert_true(rouse_now() - start >= 20 * MS);
}

/* ---- Xlib --------------------------------------------------------------------- */

static uint64_t foreign_x11(struct fixture *f)
{
	uint64_t count = UINT64_MAX;

	assert_int_equal(rouse_x11_foreign_reads(f->x11, &count), 0);
	return count;
}

static void send_x11(void *data)
{
	fixture_send(data, 1);
}

static void sync_x11(struct fixture *f, XEvent *event)
{
	(void)event;
	XSync(f->display, False);
}

static void stranger_x11(struct fixture *f, XEvent *event)
{
	(void)event;
	round_trip(f->data);
}

static void x8_another_threads_round_trips_are_counted_x11(void **state)
{
	struct fixture f;
	struct stranger s = {.send = send_x11, .data = &f};

	(void)state;
	fixture_open(&f, NULL);
	start_stranger(&s, XGetXCBConnection(f.display), 3);

	/* What the loop's own thread reads, in a turn and outside, is no matter. */
	f.on_event = sync_x11;
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	XSync(f.display, False);
	fixture_settle(f.loop);
	/* Nor is what a stranger reads while the loop is awake: it looks before it sleeps. */
	f.on_event = stranger_x11;
	f.data = &s;
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 2);
	f.on_event = NULL;
	fixture_settle(f.loop);
	assert_int_equal(foreign_x11(&f), 0);

	for (unsigned i = 1; i <= 2; i++) {
		sleep_on_it(f.loop, &s);
		assert_int_equal(foreign_x11(&f), i);
		/* It is not lost for ever. */
		fixture_until(f.loop, &f.events, 2 + i);
	}
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 5);
	assert_int_equal(foreign_x11(&f), 2);
	end_stranger(&s);
	f.shared = true;
	fixture_close(&f);
}

/* ---- XCB ---------------------------------------------------------------------- */

static uint64_t foreign_xcb(struct xcb_fixture *f)
{
	uint64_t count = UINT64_MAX;

	assert_int_equal(rouse_xcb_foreign_reads(f->xcb, &count), 0);
	return count;
}

static void send_xcb(void *data)
{
	xcb_fixture_send(data, 1);
}

static void sync_xcb(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	(void)event;
	xcb_fixture_sync(f->connection);
}

static void stranger_xcb(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	(void)event;
	round_trip(f->data);
}

static void x8_another_threads_round_trips_are_counted_xcb(void **state)
{
	struct xcb_fixture f;
	struct stranger s = {.send = send_xcb, .data = &f};

	(void)state;
	xcb_fixture_open(&f, NULL);
	start_stranger(&s, f.connection, 3);

	f.on_event = sync_xcb;
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	xcb_fixture_sync(f.connection);
	fixture_settle(f.loop);
	f.on_event = stranger_xcb;
	f.data = &s;
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 2);
	f.on_event = NULL;
	fixture_settle(f.loop);
	assert_int_equal(foreign_xcb(&f), 0);

	for (unsigned i = 1; i <= 2; i++) {
		sleep_on_it(f.loop, &s);
		assert_int_equal(foreign_xcb(&f), i);
		fixture_until(f.loop, &f.events, 2 + i);
	}
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 5);
	assert_int_equal(foreign_xcb(&f), 2);
	end_stranger(&s);
	f.shared = true;
	xcb_fixture_close(&f);
}

/* As a guest: only a host that holds still says who has read. */
static void x8_guest_counts_where_the_host_holds(void **state)
{
	struct xcb_fixture f;
	struct stranger s = {0};
	rouse_ns deadline;

	(void)state;
	xcb_fixture_open(&f, NULL);
	start_stranger(&s, f.connection, 2);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, &deadline), 0);
	round_trip(&s);
	assert_int_equal(rouse_loop_check(f.loop, 0), 1);
	assert_true(rouse_loop_dispatch(f.loop) >= 0);
	assert_int_equal(foreign_xcb(&f), 0);
	assert_int_equal(rouse_loop_prepare(f.loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	round_trip(&s);
	assert_int_equal(rouse_loop_check(f.loop, 0), 1);
	assert_true(rouse_loop_dispatch(f.loop) >= 0);
	assert_int_equal(foreign_xcb(&f), 1);
	end_stranger(&s);
	f.shared = true;
	xcb_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x8_another_threads_round_trips_are_counted_x11),
	        cmocka_unit_test(x8_another_threads_round_trips_are_counted_xcb),
	        cmocka_unit_test(x8_guest_counts_where_the_host_holds),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
