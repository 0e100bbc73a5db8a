/* A Wayland display in a loop that is the guest of another one: who reads then. */
#include "rival.h"
#include "weston.h"
#include "wl_guest.h"

#include <time.h>
#include <unistd.h>

static struct weston server;

/* ---- Who reads ------------------------------------------------------------------------- */

/* Suspended, a display is not told that the host promises. */
static void nest_bracket(struct wl_fixture *f)
{
	rouse_ns deadline;

	assert_int_equal(rouse_loop_prepare(f->loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	if (rouse_loop_check(f->loop, 1) > 0)
		assert_true(rouse_loop_dispatch(f->loop) >= 0);
	assert_true(wl_display_roundtrip(f->display) >= 0);
}

static void no_thread_is_started_that_is_not_needed(void **state)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	struct wl_fixture f;
	rouse_ns deadline;
	rouse_fd fd;

	(void)state;
	wl_guest_readers(0);
	/* A loop of its own; a bracket host that promises. */
	wl_fixture_open(&f, NULL, &epoll);
	wl_guest_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	wl_guest_readers(0);
	f.on_event = nest_bracket;
	for (unsigned i = 2; i < 10; i++) {
		wl_guest_asked(&f);
		while (f.events < i) {
			assert_int_equal(rouse_loop_prepare(f.loop, ROUSE_PREPARE_HOLD, &deadline),
			                 0);
			if (rouse_loop_check(f.loop, 1))
				assert_true(rouse_loop_dispatch(f.loop) >= 0);
		}
	}
	wl_guest_readers(0);
	wl_fixture_close(&f);
	fd = wl_guest_open(&f, true);
	wl_guest_asked(&f);
	wl_guest_until(&f, fd, &f.events, 1);
	wl_guest_readers(0);
	wl_fixture_close(&f);
}

static void y1_reader_ends_with_the_last_detach_and_with_the_loop(void **state)
{
	struct wl_fixture f, second;

	(void)state;
	for (int i = 0; i < 20; i++) {
		rouse_fd fd = wl_guest_open(&f, false);

		wl_guest_readers(1);
		wl_fixture_open_queue(&second, &f);
		wl_guest_asked(&second);
		wl_guest_until(&second, fd, &second.events, 1);
		rival_completes(f.display);
		wl_fixture_detach(&f);
		wl_guest_asked(&second);
		wl_guest_until(&second, fd, &second.events, 2);
		wl_guest_readers(1);
		/* Now and then while there is something to read. */
		if (i % 2)
			wl_guest_asked(&f);
		wl_fixture_close(&second);
		wl_guest_readers(0);
		rival_completes(f.display);
		wl_fixture_reattach(&f);
		wl_guest_rests(&f, fd);
		wl_guest_readers(1);
		f.wayland = NULL;
		assert_int_equal(rouse_loop_destroy(f.loop), 0);
		wl_guest_readers(0);
		rival_completes(f.display);
		assert_int_equal(rouse_loop_create(NULL, &f.loop), 0);
		wl_fixture_close(&f);
	}
}

static void detach_in_event(struct wl_fixture *f)
{
	wl_fixture_detach(f);
}

static void y1_detach_in_a_listener_stops_the_reader(void **state)
{
	struct wl_fixture f;

	(void)state;
	for (int i = 0; i < 20; i++) {
		rouse_fd fd = wl_guest_open(&f, false);

		f.on_event = detach_in_event;
		wl_guest_asked(&f);
		wl_guest_until(&f, fd, &f.events, 1);
		wl_guest_readers(0);
		rival_completes(f.display);
		wl_fixture_close(&f);
	}
}

/* ---- G1 ------------------------------------------------------------------------------------ */

static void events_wherever_they_hide(bool sole)
{
	struct wl_fixture f;
	rouse_fd fd = wl_guest_open(&f, sole);
	unsigned events = 0, at_once = 0;

	for (int i = 0; i < 50; i++) {
		/* In the socket, without any call of the host's. */
		wl_guest_asked(&f);
		/* The first turn after it has all that it takes.  Before that there may be one for
		 * a wake that the reader still owed. */
		wl_guest_turn(&f, fd);
		at_once += f.events > events;
		if (f.events == events)
			wl_guest_turn(&f, fd);
		assert_int_equal(f.events, ++events);
		wl_guest_rests(&f, fd);
		/* A request that the host made outside of a turn, and an answer that a round trip
		 * of its own took out of the socket. */
		wl_fixture_ask(&f);
		assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
		wl_guest_until(&f, fd, &f.events, ++events);
		struct wl_event_queue *queue = wl_display_create_queue(f.display);
		wl_fixture_ask(&f);
		assert_true(wl_display_roundtrip_queue(f.display, queue) >= 0);
		assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
		wl_guest_until(&f, fd, &f.events, ++events);
		wl_event_queue_destroy(queue);
	}
	assert_true(at_once > 0);
	wl_guest_rests(&f, fd);
	assert_false(wl_guest_wakes(fd, 50 * MS));
	wl_fixture_close(&f);
}

static void g1_events_wherever_they_hide(void **state)
{
	(void)state;
	events_wherever_they_hide(false);
}

static void g1_events_wherever_they_hide_for_a_sole_reader(void **state)
{
	(void)state;
	events_wherever_they_hide(true);
}

/* Another queue, whose events were there before it was attached. */
static void queue_attached_with_events(bool sole)
{
	struct wl_fixture f, second;
	rouse_fd fd = wl_guest_open(&f, sole);
	struct wl_event_queue *queue = wl_display_create_queue(f.display);

	wl_fixture_open_queue(&second, &f);
	rouse_wayland_options options = wl_fixture_options(&second);
	options.sole_reader = sole;
	for (unsigned i = 1; i <= 20; i++) {
		wl_fixture_detach(&second);
		wl_fixture_ask(&second);
		assert_true(wl_display_roundtrip_queue(f.display, queue) >= 0);
		wl_guest_rests(&f, fd);
		assert_int_equal(rouse_wayland_attach(f.loop, &options, &second.wayland), 0);
		wl_guest_until(&f, fd, &second.events, i);
	}
	wl_event_queue_destroy(queue);
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

static void g1_queue_attached_with_events(void **state)
{
	(void)state;
	queue_attached_with_events(false);
	queue_attached_with_events(true);
}

/* The rival takes the bytes, and the host is told nevertheless. */
static void g1_events_that_a_rival_reads(void **state)
{
	unsigned rounds = fixture_scaled(1000);
	struct wl_fixture f;
	struct rival rival;
	rouse_fd fd = wl_guest_open(&f, false);

	(void)state;
	rival_start(&rival, f.display, rounds);
	for (unsigned i = 1; i <= rounds; i++) {
		wl_fixture_ask(&f);
		assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
		wl_guest_until(&f, fd, &f.events, i);
	}
	rival_join(&rival);
	assert_int_equal(f.lost, 0);
	wl_fixture_close(&f);
}

static void ask_again(struct wl_fixture *f)
{
	wl_fixture_ask(f);
}

static void y2_competing_reader_of_a_guest(void **state)
{
	unsigned cycles = fixture_scaled(1000);
	struct wl_fixture f;
	struct rival rival;
	rouse_fd fd = wl_guest_open(&f, false);

	(void)state;
	f.on_event = ask_again;
	wl_fixture_ask(&f);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	rival_start(&rival, f.display, cycles);
	wl_guest_until(&f, fd, &f.events, cycles);
	while (atomic_load(&rival.made) < cycles && !atomic_load(&rival.failed))
		wl_guest_until(&f, fd, &f.events, f.events + 1);
	rival_join(&rival);
	wl_fixture_close(&f);
}

/* ---- Round trips of the host's ----------------------------------------------------------- */

static void round_trips(bool sole)
{
	struct wl_fixture f;
	rouse_fd fd = wl_guest_open(&f, sole);

	/* Where an intent of the loop's would be held, if it did hold one. */
	for (unsigned i = 1; i <= 300; i++) {
		assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
		assert_true(wl_display_roundtrip(f.display) >= 0);
		wl_fixture_ask(&f);
		assert_true(wl_display_roundtrip(f.display) >= 0);
		assert_int_equal(f.events, i);
	}
	wl_guest_asked(&f);
	wl_guest_until(&f, fd, &f.events, 301);
	wl_fixture_close(&f);
}

static void y4_round_trips_of_a_hosts_code(void **state)
{
	(void)state;
	round_trips(false);
}

static void y4_round_trips_of_a_hosts_code_for_a_sole_reader(void **state)
{
	(void)state;
	round_trips(true);
}

/* ---- Nested ---------------------------------------------------------------------------------- */

struct nested {
	rouse_remote *remote;
	unsigned depth, deepest, posts;
	rouse_fd fd;
};

/* A modal dialog of the host's, in a listener. */
static void open_dialog(struct wl_fixture *f)
{
	struct nested *nested = f->data;
	struct timespec before, after;
	rouse_ns end;

	if (++nested->depth > nested->deepest)
		nested->deepest = nested->depth;
	if (f->events == 1) {
		struct wl_event_queue *queue = wl_display_create_queue(f->display);

		/* An event of the queue whose listener this is; it has to wait. */
		wl_fixture_ask(f);
		assert_true(wl_display_roundtrip_queue(f->display, queue) >= 0);
		assert_int_equal(
		        rouse_post(nested->remote, fixture_count_wake, &nested->posts, NULL), 0);
		wl_guest_until(f, nested->fd, &nested->posts, 1);
		/* A round trip works in there, and nobody spins for what cannot be dispatched. */
		assert_true(wl_display_roundtrip_queue(f->display, queue) >= 0);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
		end = rouse_now() + 300 * MS;
		while (rouse_now() < end) {
			(void)wl_guest_wakes(nested->fd, 100 * MS);
			assert_int_equal(rouse_loop_prepare(f->loop, 0, NULL), 0);
			assert_true(rouse_loop_turn(f->loop, 0) >= 0);
		}
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
		assert_true((after.tv_sec - before.tv_sec) * 1000 +
		                    (after.tv_nsec - before.tv_nsec) / 1000000 <
		            150);
		assert_int_equal(f->events, 1);
		wl_event_queue_destroy(queue);
	}
	nested->depth--;
}

static void nested_turn(bool sole)
{
	struct wl_fixture f;
	struct nested nested = {.fd = wl_guest_open(&f, sole)};

	nested.remote = rouse_loop_remote(f.loop);
	f.data = &nested;
	f.on_event = open_dialog;
	wl_guest_asked(&f);
	wl_guest_until(&f, nested.fd, &f.events, 2);
	assert_int_equal(nested.posts, 1);
	assert_int_equal(nested.deepest, 1);
	wl_guest_asked(&f);
	wl_guest_until(&f, nested.fd, &f.events, 3);
	rouse_remote_unref(nested.remote);
	wl_fixture_close(&f);
}

static void l6_nested_turn_does_not_call_the_suspended_display(void **state)
{
	(void)state;
	nested_turn(false);
	nested_turn(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(no_thread_is_started_that_is_not_needed),
	        cmocka_unit_test(y1_reader_ends_with_the_last_detach_and_with_the_loop),
	        cmocka_unit_test(y1_detach_in_a_listener_stops_the_reader),
	        cmocka_unit_test(g1_events_wherever_they_hide),
	        cmocka_unit_test(g1_events_wherever_they_hide_for_a_sole_reader),
	        cmocka_unit_test(g1_queue_attached_with_events),
	        cmocka_unit_test(g1_events_that_a_rival_reads),
	        cmocka_unit_test(y2_competing_reader_of_a_guest),
	        cmocka_unit_test(y4_round_trips_of_a_hosts_code),
	        cmocka_unit_test(y4_round_trips_of_a_hosts_code_for_a_sole_reader),
	        cmocka_unit_test(l6_nested_turn_does_not_call_the_suspended_display),
	};

	alarm(280);
	weston_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
