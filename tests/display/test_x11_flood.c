/* Floods: X events starve nobody, and nobody starves X events. */
#include "fixture.h"
#include "xvfb.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct xvfb server;

/* ---- X4: a flood of X events -------------------------------------------------- */

enum { BUDGET = 64, QUEUED = 20000 };

struct flood {
	struct fixture *f;
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

static void flood_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	((struct flood *)data)->timers++;
}

static void flood_wake(rouse_loop *loop, void *data)
{
	struct flood *flood = data;

	(void)loop;
	flood->wakes++;
	rouse_wake(flood->waker);
}

static void flood_event(struct fixture *f, XEvent *event)
{
	(void)event;
	((struct flood *)f->data)->since_fd++;
}

/* All of them wait already in Xlib's queue: the harshest flood there is. */
static void queue_events(struct fixture *f, unsigned count)
{
	XEvent event = {.xclient = {.type = ClientMessage, .window = f->window, .format = 32}};

	for (unsigned i = 0; i < count; i++)
		XPutBackEvent(f->display, &event);
}

static void x4_flood_of_x_events_starves_nobody(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = BUDGET};
	struct fixture f;
	struct flood flood = {.f = &f};
	int pipes[2];

	(void)state;
	fixture_open(&f, &options);
	f.data = &flood;
	f.on_event = flood_event;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(rouse_fd_add(f.loop, pipes[0], ROUSE_READABLE, flood_fd, &flood, NULL), 0);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 1, 0, flood_timer, &flood, NULL), 0);
	assert_int_equal(rouse_waker_create(f.loop, flood_wake, &flood, &flood.waker), 0);
	rouse_wake(flood.waker);
	queue_events(&f, QUEUED);
	fixture_until(f.loop, &f.events, QUEUED);
	assert_true(flood.worst <= BUDGET);
	assert_true(flood.fds >= QUEUED / BUDGET - 1);
	assert_true(flood.timers >= QUEUED / BUDGET - 1);
	assert_true(flood.wakes >= QUEUED / BUDGET - 1);
	rouse_waker_unref(flood.waker);
	fixture_close(&f);
	close(pipes[0]);
	close(pipes[1]);
}

/* Another client floods, and the loop has to read it as well.  Xlib reads until the socket is
 * empty, which nothing can bound: a flood that is sent as fast as it is read never lets it
 * return.  So this one lasts and has an end: some thousand events are always under way. */
enum { UNDER_WAY = 4000 };

struct sender {
	Window window;
	atomic_bool stop;
	atomic_uint received;
};

static void *send_flood(void *data)
{
	struct sender *sender = data;
	Display *display = XOpenDisplay(NULL);
	XEvent event = {.xclient = {.type = ClientMessage, .window = sender->window, .format = 32}};
	unsigned sent = 0;

	while (display && !atomic_load(&sender->stop)) {
		if (sent - atomic_load(&sender->received) > UNDER_WAY) {
			sched_yield();
			continue;
		}
		for (int i = 0; i < 500; i++)
			XSendEvent(display, sender->window, False, NoEventMask, &event);
		XSync(display, False);
		sent += 500;
	}
	if (display)
		XCloseDisplay(display);
	return NULL;
}

static void count_received(struct fixture *f, XEvent *event)
{
	if (event->type == ClientMessage)
		atomic_fetch_add(&((struct sender *)f->data)->received, 1);
}

static void x4_flood_from_another_client(void **state)
{
	struct fixture f;
	struct sender sender = {0};
	pthread_t thread;

	(void)state;
	fixture_open(&f, NULL);
	f.data = &sender;
	f.on_event = count_received;
	sender.window = f.window;
	assert_int_equal(pthread_create(&thread, NULL, send_flood, &sender), 0);
	fixture_until(f.loop, &f.events, 1000);
	struct flood flood = {.f = &f};
	rouse_ns start = rouse_now();
	assert_int_equal(rouse_timer_add(f.loop, start, 10 * MS, 0, flood_timer, &flood, NULL), 0);
	fixture_until(f.loop, &flood.timers, 30);
	atomic_store(&sender.stop, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(f.events >= 2000);
	fixture_close(&f);
}

/* ---- Q3, and X4 the other way round: floods beside X ------------------------- */

struct gap {
	rouse_remote *remote;
	atomic_bool stop;
	rouse_ns last, worst;
	unsigned events;
};

static void nothing(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
}

static void *post_flood(void *data)
{
	struct gap *gap = data;

	while (!atomic_load(&gap->stop))
		for (int i = 0; i < 100; i++)
			if (rouse_post(gap->remote, nothing, NULL, NULL) < 0)
				return gap;
	return NULL;
}

/* Each event sends the next one through the server. */
static void gap_event(struct fixture *f, XEvent *event)
{
	struct gap *gap = f->data;
	rouse_ns now = rouse_now();

	if (event->type != ClientMessage)
		return;
	if (gap->last && now - gap->last > gap->worst)
		gap->worst = now - gap->last;
	gap->last = now;
	gap->events++;
	XSendEvent(f->display, f->window, False, NoEventMask, event);
}

static rouse_ns worst_gap(void)
{
	struct fixture f;
	struct gap gap = {0};
	pthread_t threads[2];
	unsigned fired = 0;
	struct flood flood = {0};

	fixture_open(&f, NULL);
	f.data = &gap;
	f.on_event = gap_event;
	gap.remote = rouse_loop_remote(f.loop);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_flood, &gap), 0);
	fixture_send(&f, 1);
	assert_int_equal(
	        rouse_timer_add(f.loop, rouse_now() + 300 * MS, 0, 0, flood_timer, &flood, NULL),
	        0);
	fixture_until(f.loop, &flood.timers, 1);
	fired = gap.events;
	atomic_store(&gap.stop, true);
	for (int i = 0; i < 2; i++) {
		void *failed;
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	rouse_remote_unref(gap.remote);
	fixture_close(&f);
	return fired < 5 ? ROUSE_NEVER : gap.worst;
}

static void q3_flood_of_posts_does_not_starve_x_events(void **state)
{
	rouse_ns worst = ROUSE_NEVER;

	(void)state;
	/* Four busy threads on what may be two processors: one undisturbed run is enough. */
	for (int i = 0; i < 6 && worst >= 50 * MS; i++)
		worst = worst_gap();
	assert_true(worst < 50 * MS);
}

/* The number of turns between two X events does not depend on the machine. */
static void x4_flood_of_wakes_does_not_starve_x_events(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = 1};
	struct fixture f;
	struct flood flood = {.f = &f};

	(void)state;
	fixture_open(&f, &options);
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
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x4_flood_of_x_events_starves_nobody),
	        cmocka_unit_test(x4_flood_from_another_client),
	        cmocka_unit_test(x4_flood_of_wakes_does_not_starve_x_events),
	        cmocka_unit_test(q3_flood_of_posts_does_not_starve_x_events),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
