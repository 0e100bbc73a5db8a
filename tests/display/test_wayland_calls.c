/* System calls of a loop with a Wayland display. */
#include "traced.h"
#include "weston.h"
#include "wl_fixture.h"

#include <string.h>

/* libwayland allocates each event and request. */
#ifdef __SANITIZE_ADDRESS__
enum { WAKES = TRACED_WAKES, ALLOCATORS = 16 };
#else
enum { WAKES = TRACED_WAKES, ALLOCATORS = 0 };
#endif

static struct weston server;

static void global(void *data, struct wl_registry *registry, uint32_t name, const char *interface,
                   uint32_t version)
{
	struct wl_compositor **compositor = data;

	(void)version;
	if (!strcmp(interface, wl_compositor_interface.name))
		*compositor = wl_registry_bind(registry, name, &wl_compositor_interface, 1);
}

static void global_remove(void *data, struct wl_registry *registry, uint32_t name)
{
	(void)data, (void)registry, (void)name;
}

/* A request that has no answer. */
static void draw(void *data)
{
	wl_region_add(data, 0, 0, 1, 1);
}

static struct wl_region *make_region(const struct wl_fixture *f)
{
	static const struct wl_registry_listener listener = {.global = global,
	                                                     .global_remove = global_remove};
	struct wl_registry *registry = wl_display_get_registry(f->display);
	struct wl_compositor *compositor = NULL;

	wl_registry_add_listener(registry, &listener, &compositor);
	assert_true(wl_display_roundtrip(f->display) >= 0);
	assert_non_null(compositor);
	return wl_compositor_create_region(compositor);
}

/* Nothing but the wait that finds an event ready, and the read. */
static void one_event_each(struct wl_fixture *f)
{
	for (unsigned i = 1; i <= WAKES; i++) {
		wl_fixture_asked(f);
		traced_begin();
		rouse_loop_turn(f->loop, ROUSE_NEVER);
		traced_end();
		if (f->events != i)
			return;
	}
}

static int traced(const char *what)
{
	struct wl_fixture f;

	wl_fixture_open(&f, NULL, NULL);
	/* Everything has been done once. */
	struct wl_region *region = make_region(&f);
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	fixture_settle(f.loop);
	f.events = 0;
	if (!strcmp(what, "idle"))
		traced_idle(f.loop);
	else if (!strcmp(what, "event"))
		one_event_each(&f);
	else
		traced_wakes(f.loop, strcmp(what, "draw") ? NULL : draw, region);
	wl_fixture_close(&f);
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

/* And one for the flush. */
static void w20_wake_that_makes_a_request_costs_three(void **state)
{
	struct counts counts = traced_run("draw");

	(void)state;
	assert_true(counts.others <= WAKES + ALLOCATORS);
	assert_true(counts.others >= WAKES / 2);
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
	assert_int_equal(counts.writes, 0);
	assert_true(counts.others <= ALLOCATORS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w20_idle_loop_with_display_makes_no_system_call),
	        cmocka_unit_test(w20_wake_beside_a_display_costs_two_system_calls),
	        cmocka_unit_test(w20_wake_that_makes_a_request_costs_three),
	        cmocka_unit_test(w20_event_costs_two_system_calls),
	};

	if (argc > 1)
		return traced(argv[1]);
	traced_or_skip();
	weston_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
