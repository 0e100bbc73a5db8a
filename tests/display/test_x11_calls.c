/* System calls of a loop with a display. */
#include "fixture.h"
#include "traced.h"
#include "xvfb.h"

#include <string.h>

enum { WAKES = TRACED_WAKES };

static struct xvfb server;

static void draw(void *data)
{
	struct fixture *f = data;

	XClearWindow(f->display, f->window);
}

static int traced(const char *what)
{
	struct fixture f;

	fixture_open(&f, NULL);
	/* Everything has been done once. */
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	fixture_settle(f.loop);
	if (!strcmp(what, "idle"))
		traced_idle(f.loop);
	else
		traced_wakes(f.loop, strcmp(what, "draw") ? NULL : draw, &f);
	fixture_close(&f);
	return 0;
}

static void w20_idle_loop_with_display_makes_no_system_call(void **state)
{
	struct counts counts = traced_run("idle");

	(void)state;
	/* The one in which it sleeps. */
	assert_int_equal(counts.waits, 1);
	assert_int_equal(counts.writes, 0);
	assert_int_equal(counts.reads + counts.others, 0);
}

static void w20_wake_beside_a_display_costs_two_system_calls(void **state)
{
	struct counts counts = traced_run("wake");

	(void)state;
	assert_int_equal(counts.reads + counts.others, 0);
	assert_true(counts.writes <= WAKES);
	assert_true(counts.waits <= WAKES + 2);
	/* A loop that is still awake needs none; that is not what is measured here. */
	assert_true(counts.writes >= WAKES / 2);
}

/* And four for the flush: two of XCB's, two that keep SIGPIPE away.  None reads. */
static void w20_wake_that_draws_costs_six(void **state)
{
	struct counts counts = traced_run("draw");

	(void)state;
	assert_true(counts.others <= 4 * WAKES);
	assert_true(counts.others >= 2 * WAKES);
	assert_int_equal(counts.reads, 0);
	assert_true(counts.writes <= WAKES);
	assert_true(counts.waits <= WAKES + 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w20_idle_loop_with_display_makes_no_system_call),
	        cmocka_unit_test(w20_wake_beside_a_display_costs_two_system_calls),
	        cmocka_unit_test(w20_wake_that_draws_costs_six),
	};

	if (argc > 1)
		return traced(argv[1]);
	traced_or_skip();
	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
