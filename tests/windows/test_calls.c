/* System calls of a loop with a window of the library's. */
#include "subject.h"

#include "display/traced.h"

#include <string.h>

enum { WAKES = TRACED_WAKES };

static void draw(void *data)
{
	server_draw(data);
}

static int traced(const char *what)
{
	struct subject s = {0};
	unsigned ticks = 0;

	subject_open(&s, NULL);
	/* Everything has been done once, and what the library does a while later, too. */
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	if (rouse_timer_add(s.loop, rouse_now() + 600 * MS, 0, 0, fixture_count_timer, &ticks,
	                    NULL))
		return 1;
	fixture_until(s.loop, &ticks, 1);
	fixture_settle(s.loop);
	if (!strcmp(what, "idle"))
		traced_idle(s.loop);
	else
		traced_wakes(s.loop, strcmp(what, "draw") ? NULL : draw, &s);
	subject_close(&s);
	return 0;
}

static void w20_idle_loop_with_a_window_makes_no_system_call(void **state)
{
	struct counts counts = traced_run("idle");

	(void)state;
	/* The one in which it sleeps. */
	assert_int_equal(counts.waits, 1);
	assert_int_equal(counts.writes, 0);
	assert_int_equal(counts.reads + counts.others, 0);
}

static void w20_wake_beside_a_window_costs_two_system_calls(void **state)
{
	struct counts counts = traced_run("wake");

	(void)state;
	assert_int_equal(counts.reads + counts.others, 0);
	assert_true(counts.writes <= WAKES);
	assert_true(counts.waits <= WAKES + 2);
	/* A loop that is still awake needs none; that is not what is measured here. */
	assert_true(counts.writes >= WAKES / 2);
}

/* XCB's poll and its write. */
static void w20_wake_that_draws_costs_four(void **state)
{
	(void)state;
	if (!server_draws)
		skip();
	struct counts counts = traced_run("draw");

	assert_true(counts.others >= WAKES && counts.others <= 2 * WAKES);
	assert_int_equal(counts.reads, 0);
	assert_true(counts.writes <= WAKES);
	assert_true(counts.waits <= WAKES + 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w20_idle_loop_with_a_window_makes_no_system_call),
	        cmocka_unit_test(w20_wake_beside_a_window_costs_two_system_calls),
	        cmocka_unit_test(w20_wake_that_draws_costs_four),
	};

	if (argc > 1)
		return traced(argv[1]);
	traced_or_skip();
	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
