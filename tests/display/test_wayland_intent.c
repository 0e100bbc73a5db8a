/* The intent to read: who holds it, and who waits for whom. */
#include "rival.h"
#include "weston.h"
#include "wl_fixture.h"

#include <stdlib.h>
#include <unistd.h>

static struct weston server;

/* ---- Held across the wait, and not a moment longer ------------------------------------ */

static void y1_wake_releases_the_intent(void **state)
{
	struct wl_fixture f;
	rouse_waker *waker;
	unsigned wakes = 0;

	(void)state;
	wl_fixture_open(&f, NULL, NULL);
	assert_int_equal(rouse_waker_create(f.loop, fixture_count_wake, &wakes, &waker), 0);
	for (unsigned i = 1; i <= 20; i++) {
		assert_true(rouse_wake(waker) >= 0);
		fixture_prompt_turn(f.loop);
		assert_int_equal(wakes, i);
		rival_completes(f.display);
	}
	/* A deadline ends the wait as well. */
	assert_int_equal(rouse_loop_turn(f.loop, rouse_now() + MS), 0);
	rival_completes(f.display);
	rouse_waker_unref(waker);
	wl_fixture_close(&f);
}

static void y1_wake_while_a_rival_waits_for_the_intent(void **state)
{
	struct wl_fixture f;
	struct rival rival;
	rouse_waker *waker;
	unsigned wakes = 0;

	(void)state;
	wl_fixture_open(&f, NULL, NULL);
	assert_int_equal(rouse_waker_create(f.loop, fixture_count_wake, &wakes, &waker), 0);
	rival_start(&rival, f.display, fixture_scaled(1000));
	while (atomic_load(&rival.made) < rival.rounds && !atomic_load(&rival.failed)) {
		assert_true(rouse_wake(waker) >= 0);
		fixture_prompt_turn(f.loop);
	}
	rival_join(&rival);
	rouse_waker_unref(waker);
	wl_fixture_close(&f);
}

/* A bracket host stands between its prepare and its check. */
static void held(struct wl_fixture *f)
{
	rouse_ns deadline;

	wl_fixture_open(
	        f, NULL,
	        &(rouse_loop_options){.size = sizeof(rouse_loop_options), .poller = "epoll"});
	for (int i = 0; i < 3; i++)
		assert_int_equal(rouse_loop_prepare(f->loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	assert_int_equal(deadline, ROUSE_NEVER);
}

static void y1_check_destroy_and_detach_release_the_intent(void **state)
{
	struct wl_fixture f;
	rouse_ns deadline;

	(void)state;
	held(&f);
	assert_int_equal(rouse_loop_check(f.loop, 0), 0);
	rival_completes(f.display);
	wl_fixture_close(&f);

	held(&f);
	assert_int_equal(rouse_loop_destroy(f.loop), 0);
	rival_completes(f.display);
	assert_int_equal(rouse_loop_create(NULL, &f.loop), 0);
	f.wayland = NULL;
	wl_fixture_close(&f);

	held(&f);
	wl_fixture_detach(&f);
	rival_completes(f.display);
	wl_fixture_close(&f);

	/* A prepare that may hold nothing, after one that might. */
	held(&f);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, &deadline), 0);
	rival_completes(f.display);
	wl_fixture_close(&f);
}

/* ---- Beside another reader -------------------------------------------------------------- */

static void ask_again(struct wl_fixture *f)
{
	wl_fixture_ask(f);
}

static void y2_competing_reader_and_nobody_starved(void **state)
{
	unsigned cycles = fixture_scaled(1000);
	struct wl_fixture f;
	struct rival rival;

	(void)state;
	wl_fixture_open(&f, NULL, NULL);
	f.on_event = ask_again;
	wl_fixture_ask(&f);
	rival_start(&rival, f.display, cycles);
	fixture_until(f.loop, &f.events, cycles);
	/* Who is first goes on, so that the other one is not alone at its end. */
	while (atomic_load(&rival.made) < cycles && !atomic_load(&rival.failed))
		fixture_until(f.loop, &f.events, f.events + 1);
	rival_join(&rival);
	assert_int_equal(f.lost, 0);
	wl_fixture_close(&f);
}

struct second_loop {
	struct wl_fixture f;
	struct wl_display *display;
	unsigned cycles;
	pthread_t thread;
	int failed;
};

static void second_answered(void *data, struct wl_callback *callback, uint32_t serial)
{
	(void)serial;
	wl_callback_destroy(callback);
	++*(unsigned *)data;
}

static const struct wl_callback_listener second_listener = {.done = second_answered};

/* No assertions here: cmocka's are for its own thread. */
static void *run_second(void *data)
{
	struct second_loop *s = data;
	struct wl_event_queue *queue = wl_display_create_queue(s->display);
	struct wl_display *asker = wl_proxy_create_wrapper(s->display);
	rouse_wayland_options options = {
	        .size = sizeof(options), .display = s->display, .queue = queue};
	rouse_wayland *wayland;
	rouse_loop *loop;
	unsigned events = 0;

	wl_proxy_set_queue((struct wl_proxy *)asker, queue);
	s->failed =
	        rouse_loop_create(NULL, &loop) || rouse_wayland_attach(loop, &options, &wayland);
	for (unsigned i = 0; !s->failed && i < s->cycles; i++) {
		wl_callback_add_listener(wl_display_sync(asker), &second_listener, &events);
		while (!s->failed && events == i)
			s->failed = rouse_loop_turn(loop, ROUSE_NEVER) < 0;
	}
	s->failed = s->failed || rouse_wayland_detach(wayland) || rouse_loop_destroy(loop);
	wl_proxy_wrapper_destroy(asker);
	wl_event_queue_destroy(queue);
	return NULL;
}

static void y2_two_loops_read_one_display(void **state)
{
	struct second_loop s = {.cycles = fixture_scaled(1000)};
	struct wl_fixture f;

	(void)state;
	wl_fixture_open(&f, NULL, NULL);
	s.display = f.display;
	assert_int_equal(pthread_create(&s.thread, NULL, run_second, &s), 0);
	for (unsigned i = 1; i <= s.cycles; i++) {
		wl_fixture_ask(&f);
		fixture_until(f.loop, &f.events, i);
	}
	assert_int_equal(pthread_join(s.thread, NULL), 0);
	assert_int_equal(s.failed, 0);
	wl_fixture_close(&f);
}

/* Two intents of one thread would wait for each other. */
static void y2_two_queues_in_one_loop(void **state)
{
	struct wl_fixture f, second;
	unsigned rounds = fixture_scaled(200);

	(void)state;
	wl_fixture_open(&f, NULL, NULL);
	wl_fixture_open_queue(&second, &f);
	for (unsigned i = 1; i <= rounds; i++) {
		wl_fixture_ask(&f);
		wl_fixture_ask(&second);
		fixture_until(f.loop, &second.events, i);
		fixture_until(f.loop, &f.events, i);
		rival_completes(f.display);
	}
	wl_fixture_detach(&f);
	wl_fixture_ask(&second);
	fixture_until(f.loop, &second.events, rounds + 1);
	wl_fixture_close(&second);
	rival_completes(f.display);
	wl_fixture_close(&f);
}

/* ---- Events that are queued already ------------------------------------------------------- */

/* As a rival's thread does it that is quick. */
static void read_only(struct wl_fixture *f)
{
	struct wl_event_queue *queue = wl_display_create_queue(f->display);

	while (wl_fixture_readable(f)) {
		assert_int_equal(wl_display_prepare_read_queue(f->display, queue), 0);
		assert_int_equal(wl_display_read_events(f->display), 0);
	}
	wl_event_queue_destroy(queue);
}

static void y3_queued_events_are_dispatched_at_once(void **state)
{
	struct wl_fixture f, second;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_open_queue(&second, &f);
	for (unsigned i = 1; i <= 50; i++) {
		rouse_stats before = {.size = sizeof(before)}, after = before;

		wl_fixture_ask(&second);
		wl_fixture_asked(&f);
		read_only(&f);
		assert_false(wl_fixture_readable(&f));
		assert_int_equal(rouse_loop_stats(f.loop, &before), 0);
		fixture_prompt_turn(f.loop);
		assert_int_equal(f.events, i);
		assert_int_equal(second.events, i);
		/* One pass, and the one that finds that there is no more. */
		fixture_settle(f.loop);
		assert_int_equal(rouse_loop_stats(f.loop, &after), 0);
		assert_true(after.turns - before.turns <= 2);
	}
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

static rouse_ns attach_it(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	struct wl_fixture *f = data;

	(void)loop, (void)self, (void)flags;
	if (!f->wayland)
		wl_fixture_reattach(f);
	return ROUSE_NEVER;
}

/* Attached right before the wait, when the display has prepared for it already. */
static void y3_queue_attached_with_events_in_another_hooks_prepare(void **state)
{
	struct wl_fixture f, second;
	struct peer peer;
	const rouse_hook hook = {.size = sizeof(hook), .fd = ROUSE_NO_FD, .prepare = attach_it};
	rouse_source source;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_open_queue(&second, &f);
	assert_int_equal(rouse_hook_add(f.loop, &hook, &second, &source), 0);
	for (unsigned i = 1; i <= 20; i++) {
		wl_fixture_detach(&second);
		wl_fixture_asked(&second);
		read_only(&f);
		fixture_until(f.loop, &second.events, i);
	}
	assert_int_equal(rouse_remove(f.loop, source), 0);
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

/* ---- Round trips --------------------------------------------------------------------------- */

/* And what is for the attached queue is read, too. */
static void trip_on_another_queue(struct wl_fixture *f)
{
	struct wl_event_queue *queue = wl_display_create_queue(f->display);

	assert_true(wl_display_roundtrip_queue(f->display, queue) >= 0);
	wl_event_queue_destroy(queue);
}

struct tripper {
	struct wl_fixture *f;
	unsigned trips;
};

static void trip(struct tripper *tripper)
{
	assert_true(wl_display_roundtrip(tripper->f->display) >= 0);
	trip_on_another_queue(tripper->f);
	tripper->trips++;
}

static void trip_in_event(struct wl_fixture *f)
{
	trip(f->data);
}

static void trip_in_post(rouse_loop *loop, void *data)
{
	(void)loop;
	trip(data);
}

static void trip_in_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	trip(data);
}

static void trip_in_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                       void *data)
{
	(void)fd, (void)events;
	trip(data);
	assert_int_equal(rouse_remove(loop, self), 0);
}

/* All due at once. */
static void trips_due(struct tripper *tripper, const int *ends)
{
	struct wl_fixture *f = tripper->f;
	rouse_remote *remote = rouse_loop_remote(f->loop);

	assert_int_equal(rouse_post(remote, trip_in_post, tripper, NULL), 0);
	assert_int_equal(rouse_timer_add(f->loop, rouse_now(), 0, 0, trip_in_timer, tripper, NULL),
	                 0);
	assert_int_equal(rouse_fd_add(f->loop, ends[0], ROUSE_READABLE, trip_in_fd, tripper, NULL),
	                 0);
	rouse_remote_unref(remote);
}

static void y4_round_trips_in_callbacks(void **state)
{
	struct wl_fixture f;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	for (int i = 0; i < 20; i++) {
		struct tripper tripper = {.f = &f};

		wl_fixture_open(&f, NULL, NULL);
		trips_due(&tripper, ends);
		f.data = &tripper;
		f.on_event = trip_in_event;
		wl_fixture_asked(&f);
		fixture_until(f.loop, &tripper.trips, 4);
		fixture_settle(f.loop);
		assert_int_equal(tripper.trips, 4);
		wl_fixture_close(&f);
	}
	close(ends[0]);
	close(ends[1]);
}

/* A bracket host that prepares again, as its own nested loop would, with callbacks gathered: none
 * of them may find the intent held. */
static void y4_round_trip_in_what_was_gathered_before_the_prepare(void **state)
{
	struct wl_fixture f;
	struct tripper tripper = {.f = &f};
	rouse_ns deadline;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	held(&f);
	trips_due(&tripper, ends);
	assert_int_equal(rouse_loop_check(f.loop, 1), 1);
	assert_int_equal(rouse_loop_prepare(f.loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	assert_int_equal(deadline, 0);
	assert_true(rouse_loop_dispatch(f.loop) > 0);
	assert_int_equal(tripper.trips, 3);
	rival_completes(f.display);
	wl_fixture_close(&f);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(y1_wake_releases_the_intent),
	        cmocka_unit_test(y1_wake_while_a_rival_waits_for_the_intent),
	        cmocka_unit_test(y1_check_destroy_and_detach_release_the_intent),
	        cmocka_unit_test(y2_competing_reader_and_nobody_starved),
	        cmocka_unit_test(y2_two_loops_read_one_display),
	        cmocka_unit_test(y2_two_queues_in_one_loop),
	        cmocka_unit_test(y3_queued_events_are_dispatched_at_once),
	        cmocka_unit_test(y3_queue_attached_with_events_in_another_hooks_prepare),
	        cmocka_unit_test(y4_round_trips_in_callbacks),
	        cmocka_unit_test(y4_round_trip_in_what_was_gathered_before_the_prepare),
	};

	/* A hang is a failure, also where ctest is not there to see it. */
	alarm(280);
	weston_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
