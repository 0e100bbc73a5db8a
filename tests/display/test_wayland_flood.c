/* More than one turn can take, in either direction. */
#include "weston.h"
#include "wl_fixture.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static struct weston server;

/* ---- From the compositor ----------------------------------------------------------------- */

/* What libwayland reads at once, of events of 12 bytes each. */
enum { FLOOD = 4000, MOST_AT_ONCE = 4096 / 12 };

struct others {
	unsigned timers, fds, wakes, most, seen;
	rouse_waker *waker;
	int ends[2];
};

static void count_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)loop, (void)self, (void)fd, (void)events;
	++*(unsigned *)data;
}

static void flood_of_events_leaves_the_others_their_turns(void **state)
{
	struct wl_fixture f;
	struct peer peer;
	struct others others = {0};
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	rouse_source timer, fd;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_bind_output(&f);
	assert_int_equal(pipe(others.ends), 0);
	assert_int_equal(write(others.ends[1], "x", 1), 1);
	assert_int_equal(
	        rouse_fd_add(f.loop, others.ends[0], ROUSE_READABLE, count_fd, &others.fds, &fd),
	        0);
	assert_int_equal(
	        rouse_timer_add(f.loop, 1, 1, 0, fixture_count_timer, &others.timers, &timer), 0);
	assert_int_equal(
	        rouse_waker_create(f.loop, fixture_count_wake, &others.wakes, &others.waker), 0);
	peer_flood(&peer, FLOOD);
	assert_int_equal(rouse_loop_stats(f.loop, &before), 0);
	while (f.scales < FLOOD) {
		unsigned scales = f.scales, timers = others.timers, fds = others.fds;

		assert_true(rouse_wake(others.waker) >= 0);
		fixture_prompt_turn(f.loop);
		others.most = f.scales - scales > others.most ? f.scales - scales : others.most;
		assert_true(others.timers > timers);
		assert_true(others.fds > fds);
	}
	assert_int_equal(rouse_loop_stats(f.loop, &after), 0);
	assert_true(others.most <= MOST_AT_ONCE);
	assert_true(after.hooks_over > before.hooks_over);
	assert_int_equal(others.wakes, after.turns - before.turns);
	assert_int_equal(rouse_remove(f.loop, timer), 0);
	assert_int_equal(rouse_remove(f.loop, fd), 0);
	rouse_waker_unref(others.waker);
	close(others.ends[0]);
	close(others.ends[1]);
	wl_fixture_close(&f);
}

/* Where the budget is used up the next queue is first in the next turn. */
static void queues_take_turns(void **state)
{
	const rouse_loop_options small = {.size = sizeof(small), .max_batch = 1};
	struct wl_fixture f, second, third;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, &small);
	wl_fixture_open_queue(&second, &f);
	wl_fixture_open_queue(&third, &f);
	for (unsigned i = 1; i <= 20; i++) {
		wl_fixture_ask(&f);
		wl_fixture_ask(&second);
		wl_fixture_asked(&third);
		for (int turns = 0; turns < 8; turns++) {
			unsigned before = f.events + second.events + third.events;

			fixture_prompt_turn(f.loop);
			/* One event, and libwayland's own beside it, of one queue. */
			assert_true(f.events + second.events + third.events <= before + 1);
			if (before + 1 >= 3 * i)
				break;
		}
		assert_int_equal(f.events, i);
		assert_int_equal(second.events, i);
		assert_int_equal(third.events, i);
		fixture_settle(f.loop);
	}
	wl_fixture_close(&third);
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

/* ---- To the compositor --------------------------------------------------------------------- */

/* @return requests made until it does not take them any more. */
static unsigned fill(struct wl_fixture *f)
{
	unsigned made = 0;
	int blocked = 0;

	while (blocked == 0) {
		wl_fixture_ask(f);
		made++;
		blocked = rouse_wayland_flush(f->wayland);
	}
	assert_int_equal(blocked, 1);
	return made;
}

/* The loop sleeps: it does not ask again and again. */
static void sleeps(struct wl_fixture *f)
{
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	unsigned ticks = 0;
	rouse_source timer;

	assert_int_equal(rouse_loop_stats(f->loop, &before), 0);
	assert_int_equal(rouse_timer_add(f->loop, rouse_now(), 10 * MS, 0, fixture_count_timer,
	                                 &ticks, &timer),
	                 0);
	fixture_until(f->loop, &ticks, 20);
	assert_int_equal(rouse_remove(f->loop, timer), 0);
	assert_int_equal(rouse_loop_stats(f->loop, &after), 0);
	assert_true(after.turns - before.turns < 100);
}

static void y5_peer_that_does_not_read(void **state)
{
	struct wl_fixture f;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	unsigned made = fill(&f);
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.pressures, 1);
	assert_int_equal(f.blocked, 1);
	sleeps(&f);
	assert_int_equal(f.pressures, 1);
	/* It reads, and the rest goes out by itself. */
	peer_serve(&peer);
	fixture_until(f.loop, &f.pressures, 2);
	assert_int_equal(f.blocked, 0);
	while (f.events < made) {
		peer_serve(&peer);
		fixture_prompt_turn(f.loop);
	}
	fixture_settle(f.loop);
	assert_int_equal(f.pressures, 2);
	assert_int_equal(f.lost, 0);
	sleeps(&f);
	/* Blocked and free again between two turns: nothing was seen, nothing is told. */
	fill(&f);
	peer_serve(&peer);
	assert_int_equal(rouse_wayland_flush(f.wayland), 0);
	fixture_settle(f.loop);
	assert_int_equal(f.pressures, 2);
	wl_fixture_close(&f);
}

/* What is told before libwayland makes it fatal, and that it does. */
static void y5_more_than_there_is_room_for_is_a_loss(void **state)
{
	struct wl_fixture f;
	struct peer peer;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	fill(&f);
	fixture_prompt_turn(f.loop);
	assert_int_equal(f.blocked, 1);
	assert_int_equal(f.lost, 0);
	for (int i = 0; i < 4096 / 12 + 1; i++)
		wl_fixture_ask(&f);
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.how.error, EAGAIN);
	sleeps(&f);
	wl_fixture_close(&f);
}

static void y5_frozen_compositor(void **state)
{
	struct wl_fixture f;
	unsigned made;

	(void)state;
	weston_start(&server);
	wl_fixture_open(&f, NULL, NULL);
	for (unsigned i = 1; i <= 3; i++) {
		weston_freeze(&server);
		unsigned before = f.events;
		made = fill(&f);
		fixture_prompt_turn(f.loop);
		fixture_until(f.loop, &f.pressures, 2 * i - 1);
		assert_int_equal(f.blocked, 1);
		sleeps(&f);
		assert_int_equal(f.pressures, 2 * i - 1);
		weston_thaw(&server);
		fixture_until(f.loop, &f.events, before + made);
		fixture_until(f.loop, &f.pressures, 2 * i);
		assert_int_equal(f.blocked, 0);
		assert_int_equal(f.lost, 0);
	}
	wl_fixture_close(&f);
	weston_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(flood_of_events_leaves_the_others_their_turns),
	        cmocka_unit_test(queues_take_turns),
	        cmocka_unit_test(y5_peer_that_does_not_read),
	        cmocka_unit_test(y5_more_than_there_is_room_for_is_a_loss),
	        cmocka_unit_test(y5_frozen_compositor),
	};

	alarm(280);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
