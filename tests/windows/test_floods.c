/* Floods, and what the library is called for when nothing comes. */
#include "subject.h"

#include <unistd.h>

enum { BUDGET = 64 };

/* ---- Floods ---------------------------------------------------------------------- */

struct flood {
	unsigned since_fd, worst; /* events between two runs of the descriptor's callback */
	unsigned fds;
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

static void flood_event(struct subject *s)
{
	((struct flood *)s->data)->since_fd++;
}

static void x4_flood_of_events_is_delivered_whole(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = BUDGET};
	struct subject s = {0};
	struct flood flood = {0};
	unsigned timers = 0, queued = fixture_scaled(20000);
	int pipes[2];

	(void)state;
	subject_open(&s, &options);
	s.data = &flood;
	s.on_event = flood_event;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(rouse_fd_add(s.loop, pipes[0], ROUSE_READABLE, flood_fd, &flood, NULL), 0);
	assert_int_equal(
	        rouse_timer_add(s.loop, rouse_now(), 1, 0, fixture_count_timer, &timers, NULL), 0);
	subject_queue(&s, queued);
	fixture_until(s.loop, &s.events, queued);
	fixture_prompt_turn(s.loop);
	assert_int_equal(s.events, queued);
	assert_true(timers > 0 && flood.fds > 0);
	if (subject_has_budget) {
		assert_true(flood.worst <= BUDGET);
		assert_true(flood.fds >= queued / BUDGET - 1);
		assert_true(timers >= queued / BUDGET - 1);
		assert_int_equal(s.after, 1);
	}
	subject_close(&s);
	close(pipes[0]);
	close(pipes[1]);
}

static void ask_again(struct subject *s)
{
	subject_ask(s, 1);
}

/* There is always one more under way, in the queue or in the socket. */
static void x4_flood_that_feeds_itself_starves_nobody(void **state)
{
	struct subject s = {0};
	rouse_waker *waker;
	unsigned timers = 0, wakes = 0;

	(void)state;
	subject_open(&s, NULL);
	s.on_event = ask_again;
	subject_ask(&s, 500);
	fixture_until(s.loop, &s.events, 1000);
	assert_int_equal(rouse_waker_create(s.loop, fixture_count_wake, &wakes, &waker), 0);
	assert_int_equal(
	        rouse_timer_add(s.loop, rouse_now(), MS, 0, fixture_count_timer, &timers, NULL), 0);
	for (unsigned i = 1; i <= 50; i++) {
		assert_true(rouse_wake(waker) >= 0);
		fixture_until(s.loop, &wakes, i);
		fixture_until(s.loop, &timers, i);
	}
	rouse_waker_unref(waker);
	subject_close(&s);
}

static void always_wake(rouse_loop *loop, void *data)
{
	(void)loop;
	assert_true(rouse_wake(*(rouse_waker **)data) >= 0);
}

static void x4_flood_of_wakes_does_not_starve_events(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = 1};
	struct subject s = {0};
	rouse_waker *waker;

	(void)state;
	subject_open(&s, &options);
	assert_int_equal(rouse_waker_create(s.loop, always_wake, &waker, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	subject_queue(&s, 100);
	for (unsigned turns = 0; s.events < 100; turns++) {
		assert_true(turns < 110);
		assert_true(rouse_loop_turn(s.loop, rouse_now() + LONG) >= 0);
	}
	rouse_waker_unref(waker);
	subject_close(&s);
}

/* ---- A period --------------------------------------------------------------------- */

static void period_pumps_without_events(void **state)
{
	struct subject s = {.period = MS};

	(void)state;
	subject_open(&s, NULL);
	for (unsigned i = 1; i <= 5; i++)
		fixture_until(s.loop, &s.after, i);
	assert_int_equal(s.events, 0);
	subject_close(&s);
}

/* Until the library has done what it does a while after a window was made. */
static void rest(struct subject *s)
{
	unsigned ticks = 0;

	assert_int_equal(rouse_timer_add(s->loop, rouse_now() + 600 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	fixture_until(s->loop, &ticks, 1);
}

static void no_period_does_not_pump(void **state)
{
	struct subject s = {0};
	unsigned ticks = 0;

	(void)state;
	subject_open(&s, NULL);
	rest(&s);
	s.after = 0;
	assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 50 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	fixture_until(s.loop, &ticks, 1);
	assert_int_equal(s.after, 0);
	subject_close(&s);
}

/* No sum of a period is in the past. */
static void t8_longest_period_is_none(void **state)
{
	static const rouse_ns longest[] = {ROUSE_NEVER, ROUSE_NEVER - 1};
	unsigned ticks = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(longest) / sizeof(longest[0]); i++) {
		struct subject s = {.period = longest[i]};

		subject_open(&s, NULL);
		rest(&s);
		s.after = 0;
		assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 20 * MS, 0, 0,
		                                 fixture_count_timer, &ticks, NULL),
		                 0);
		fixture_until(s.loop, &ticks, i + 1);
		assert_int_equal(s.after, 0);
		subject_close(&s);
	}
}

/* A pump is due in each turn, and is not the one event that a turn may hand out. */
static void t2_shortest_period_starves_nobody(void **state)
{
	const rouse_loop_options options = {.size = sizeof(options), .max_batch = 1};
	struct subject s = {0};
	unsigned ticks = 0;

	(void)state;
	subject_open(&s, &options);
	assert_int_equal(subject_detach(s.attached), 0);
	s.period = 1;
	assert_int_equal(subject_attach(&s, s.loop, &s.attached), 0);
	subject_send(&s, 3);
	fixture_until(s.loop, &s.events, 3);
	assert_int_equal(
	        rouse_timer_add(s.loop, rouse_now() + MS, 0, 0, fixture_count_timer, &ticks, NULL),
	        0);
	fixture_until(s.loop, &ticks, 1);
	subject_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x4_flood_of_events_is_delivered_whole),
	        cmocka_unit_test(x4_flood_that_feeds_itself_starves_nobody),
	        cmocka_unit_test(x4_flood_of_wakes_does_not_starve_events),
	        cmocka_unit_test(period_pumps_without_events),
	        cmocka_unit_test(no_period_does_not_pump),
	        cmocka_unit_test(t8_longest_period_is_none),
	        cmocka_unit_test(t2_shortest_period_starves_nobody),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
