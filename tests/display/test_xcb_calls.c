/* System calls of a loop with an XCB connection. */
#include "xcb_fixture.h"
#include "traced.h"
#include "xvfb.h"

#include <string.h>

enum { WAKES = TRACED_WAKES };

static struct xvfb server;

static void draw(void *data)
{
	struct xcb_fixture *f = data;

	xcb_clear_area(f->connection, 0, f->window, 0, 0, 0, 0);
}

/* Nothing but the wait that finds an event ready, and the read. */
static void one_event_each(struct xcb_fixture *f)
{
	traced_begin();
	for (unsigned i = 1; i <= WAKES; i++) {
		traced_end();
		xcb_fixture_send(f, i);
		traced_begin();
		rouse_loop_turn(f->loop, ROUSE_NEVER);
		if (f->events != i)
			return;
	}
	traced_end();
}

static int traced(const char *what)
{
	struct xcb_fixture f;

	xcb_fixture_open(&f, NULL);
	/* Everything has been done once. */
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	fixture_settle(f.loop);
	f.events = 0;
	if (!strcmp(what, "idle")) {
		traced_idle(f.loop);
	} else if (!strcmp(what, "event")) {
		/* `activity` costs no system call, but a turn of its own. */
		rouse_xcb_options options = xcb_fixture_options(&f);
		options.activity = NULL;
		rouse_xcb_detach(f.xcb);
		if (rouse_xcb_attach(f.loop, &options, &f.xcb))
			return 1;
		fixture_settle(f.loop);
		one_event_each(&f);
	} else {
		traced_wakes(f.loop, strcmp(what, "draw") ? NULL : draw, &f);
	}
	xcb_fixture_close(&f);
	return 0;
}

static void w20_idle_loop_with_connection_makes_no_system_call(void **state)
{
	struct counts counts = traced_run("idle");

	(void)state;
	/* The one in which it sleeps. */
	assert_int_equal(counts.waits, 1);
	assert_int_equal(counts.writes, 0);
	assert_int_equal(counts.reads + counts.others, 0);
}

static void w20_wake_beside_a_connection_costs_two_system_calls(void **state)
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

static void w20_event_costs_two_system_calls(void **state)
{
	struct counts counts = traced_run("event");

	(void)state;
	/* Now and then the poller asks about a descriptor that is ready in every wait. */
	assert_true(counts.waits >= WAKES && counts.waits <= WAKES + WAKES / 16);
	assert_int_equal(counts.reads, WAKES);
	assert_int_equal(counts.writes + counts.others, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w20_idle_loop_with_connection_makes_no_system_call),
	        cmocka_unit_test(w20_wake_beside_a_connection_costs_two_system_calls),
	        cmocka_unit_test(w20_wake_that_draws_costs_six),
	        cmocka_unit_test(w20_event_costs_two_system_calls),
	};

	if (argc > 1)
		return traced(argv[1]);
	traced_or_skip();
	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
