/* Floods: X events starve nobody, and nobody starves X events. */
#include "xcb_fixture.h"
#include "xvfb.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static struct xvfb server;

enum { BUDGET = 64, QUEUED = 20000 };

struct flood {
	unsigned since_fd, worst; /* X events between two runs of the descriptor's callback */
	unsigned fds, timers, wakes;
	rouse_waker *waker;
};

static void flood_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct flood *flood = data;

	(void)loop, (void)self, (void)fd, (void)events;
	flood->fds++;
	if (flood->since_fd > flood->worst)
		flood->worst = flood->since_fd;
	flood->since_fd = 0;
}

static void flood_wake(rouse_loop *loop, void *data)
{
	struct flood *flood = data;

	(void)loop;
	flood->wakes++;
	rouse_wake(flood->waker);
}

static void flood_event(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	(void)event;
	((struct flood *)f->data)->since_fd++;
}

/* All of them in XCB's queue already, read while a reply was waited for: the harshest flood there
 * is.  The socket holds fewer than that. */
static void queue_events(struct xcb_fixture *f, unsigned count)
{
	xcb_client_message_event_t message;

	for (unsigned i = 1; i <= count; i++) {
		xcb_fixture_message(&message, f->window, i);
		xcb_send_event(f->other, 0, f->window, XCB_EVENT_MASK_NO_EVENT,
		               (const char *)&message);
		if (i % 1000 == 0 || i == count) {
			xcb_fixture_sync(f->other);
			xcb_fixture_sync(f->connection);
		}
	}
	assert_false(xcb_fixture_readable(f));
}

static void x4_flood_of_x_events_starves_nobody(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = BUDGET};
	struct xcb_fixture f;
	struct flood flood = {0};
	int pipes[2];

	(void)state;
	xcb_fixture_open(&f, &options);
	f.data = &flood;
	f.on_event = flood_event;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(rouse_fd_add(f.loop, pipes[0], ROUSE_READABLE, flood_fd, &flood, NULL), 0);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 1, 0, fixture_count_timer,
	                                 &flood.timers, NULL),
	                 0);
	assert_int_equal(rouse_waker_create(f.loop, flood_wake, &flood, &flood.waker), 0);
	rouse_wake(flood.waker);
	queue_events(&f, QUEUED);
	fixture_until(f.loop, &f.events, QUEUED);
	assert_int_equal(f.events, QUEUED);
	assert_int_equal(f.last, QUEUED);
	assert_true(flood.worst <= BUDGET);
	assert_true(flood.fds >= QUEUED / BUDGET - 1);
	assert_true(flood.timers >= QUEUED / BUDGET - 1);
	assert_true(flood.wakes >= QUEUED / BUDGET - 1);
	rouse_waker_unref(flood.waker);
	xcb_fixture_close(&f);
	close(pipes[0]);
	close(pipes[1]);
}

/* Another client floods, and the loop has to read it as well: a turn reads once, however fast the
 * flood is. */
struct sender {
	xcb_window_t window;
	atomic_bool stop;
};

static void *send_flood(void *data)
{
	struct sender *sender = data;
	xcb_connection_t *c = xcb_connect(NULL, NULL);
	xcb_client_message_event_t message;

	xcb_fixture_message(&message, sender->window, 1);
	while (!xcb_connection_has_error(c) && !atomic_load(&sender->stop)) {
		for (int i = 0; i < 500; i++)
			xcb_send_event(c, 0, sender->window, XCB_EVENT_MASK_NO_EVENT,
			               (const char *)&message);
		xcb_fixture_sync(c);
	}
	xcb_disconnect(c);
	return NULL;
}

static void x4_flood_from_another_client(void **state)
{
	struct xcb_fixture f;
	struct sender sender = {0};
	pthread_t thread;
	unsigned ticks = 0;

	(void)state;
	xcb_fixture_open(&f, NULL);
	sender.window = f.window;
	assert_int_equal(pthread_create(&thread, NULL, send_flood, &sender), 0);
	fixture_until(f.loop, &f.events, 1000);
	assert_int_equal(
	        rouse_timer_add(f.loop, rouse_now(), 10 * MS, 0, fixture_count_timer, &ticks, NULL),
	        0);
	while (ticks < 30) {
		unsigned before = f.events;
		assert_true(rouse_loop_turn(f.loop, rouse_now() + SOON) >= 0);
		assert_true(f.events - before <= ROUSE_DEFAULT_BATCH);
	}
	atomic_store(&sender.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(f.events >= 2000);
	xcb_fixture_close(&f);
}

/* An `activity` that makes a round trip each time is never done, and starves nobody either. */
static void always_busy(struct xcb_fixture *f)
{
	xcb_fixture_sync(f->connection);
}

static void x4_activity_that_reads_starves_no_events(void **state)
{
	struct xcb_fixture f;
	unsigned ticks = 0;

	(void)state;
	xcb_fixture_open(&f, NULL);
	queue_events(&f, 100);
	f.on_activity = always_busy;
	assert_int_equal(rouse_timer_add(f.loop, rouse_now() + 10 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.events, 100);
	fixture_until(f.loop, &ticks, 1);
	f.on_activity = NULL;
	xcb_fixture_close(&f);
}

/* The number of turns between two X events does not depend on the machine. */
static void x4_flood_of_wakes_does_not_starve_x_events(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = 1};
	struct xcb_fixture f;
	struct flood flood = {0};

	(void)state;
	xcb_fixture_open(&f, &options);
	f.data = &flood;
	f.on_event = flood_event;
	assert_int_equal(rouse_waker_create(f.loop, flood_wake, &flood, &flood.waker), 0);
	rouse_wake(flood.waker);
	queue_events(&f, 100);
	for (unsigned turns = 0; f.events < 100; turns++) {
		assert_true(turns < 110);
		assert_true(rouse_loop_turn(f.loop, rouse_now() + LONG) >= 0);
	}
	assert_true(flood.wakes >= 90);
	rouse_waker_unref(flood.waker);
	xcb_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x4_flood_of_x_events_starves_nobody),
	        cmocka_unit_test(x4_flood_from_another_client),
	        cmocka_unit_test(x4_activity_that_reads_starves_no_events),
	        cmocka_unit_test(x4_flood_of_wakes_does_not_starve_x_events),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
