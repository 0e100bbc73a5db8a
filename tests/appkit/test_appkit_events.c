/* Application-defined events, from any thread, in the application's stream.  The application is of
 * a class of its own, which is to see what is not ours. */
#include "app.h"
#include "bare.h"

#include <rouse/appkit.h>

#include <pthread.h>
#include <string.h>

static rouse_loop *loop;
static rouse_remote *remote;
static rouse_appkit *appkit;

enum { THREADS = 3, EACH = 1000 };

static unsigned events, seen_before;
static int64_t last[THREADS];

/* Of which thread, and its number. */
static void in_order(rouse_loop *same, int64_t data1, int64_t data2, void *data)
{
	(void)data;
	assert_ptr_equal(same, loop);
	assert_true(data1 >= 0 && data1 < THREADS);
	assert_int_equal(data2, last[data1] + 1);
	last[data1] = data2;
	if (++events == THREADS * EACH)
		assert_true(rouse_appkit_stop(appkit) >= 0);
}

static rouse_appkit_options options = {.size = sizeof options, .event = in_order};

static int open_it(void **state)
{
	(void)state;
	events = 0;
	memset(last, 0, sizeof last);
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	remote = rouse_loop_remote(loop);
	return rouse_appkit_attach(loop, &options, &appkit);
}

static int close_it(void **state)
{
	(void)state;
	rouse_remote_unref(remote);
	assert_int_equal(rouse_appkit_detach(appkit), 0);
	return rouse_loop_destroy(loop);
}

static void *post_each(void *data)
{
	for (int64_t i = 1; i <= EACH; i++)
		if (rouse_appkit_post(appkit, (intptr_t)data, i) < 0)
			return data;
	return NULL;
}

static void post_from_threads(void (*run)(void))
{
	pthread_t threads[THREADS];

	for (intptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_each, (void *)i), 0);
	run();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(events, THREADS * EACH);
}

static void run_ours(void)
{
	assert_int_equal(rouse_appkit_run(appkit), 0);
}

static void a1_events_of_threads_arrive_once_and_in_order(void **state)
{
	(void)state;
	post_from_threads(app_run);
}

static void a1_events_in_a_run_of_ours(void **state)
{
	(void)state;
	post_from_threads(run_ours);
}

static void mark_and_stop(rouse_loop *same, void *data)
{
	(void)same;
	*(bool *)data = true;
	assert_true(rouse_appkit_stop(appkit) >= 0);
}

static void assert_used_up(void)
{
	bool marked = false;

	assert_int_equal(rouse_post(remote, mark_and_stop, &marked, NULL), 0);
	run_ours();
	assert_true(marked);
}

/* A modal panel opens while events are queued, and more come while it is open. */
static void modal(rouse_loop *same, void *data)
{
	(void)same, (void)data;
	app_modal();
}

static void a2_a_modal_panel_loses_none(void **state)
{
	(void)state;
	for (int64_t i = 1; i <= 10; i++)
		assert_true(rouse_appkit_post(appkit, 0, i) >= 0);
	assert_int_equal(rouse_post(remote, modal, NULL, NULL), 0);
	for (int64_t i = 1; i <= EACH; i++)
		assert_true(rouse_appkit_post(appkit, 1, i) >= 0);
	/* The last one ends both. */
	events = THREADS * EACH - (10 + EACH);
	run_ours();
	assert_int_equal(last[0], 10);
	assert_int_equal(last[1], EACH);
	assert_used_up();
}

static int64_t got1, got2;
static bool mixed;

static void keep(rouse_loop *same, int64_t data1, int64_t data2, void *data)
{
	(void)same, (void)data;
	got1 = data1;
	got2 = data2;
	if (mixed) {
		/* One before, and one after. */
		assert_int_equal(app_seen, seen_before + 1);
		app_post(APP_SUBTYPE, 0, 0);
	}
	assert_true(rouse_appkit_stop(appkit) >= 0);
}

static void x7_all_bits_of_both_numbers(void **state)
{
	const int64_t numbers[] = {INT64_MIN, INT64_MAX, -1, INT64_C(0x80000000),
	                           INT64_C(1) << 53 | 1};

	options.event = keep;
	open_it(state);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(rouse_appkit_post(appkit, numbers[i], numbers[4 - i]) >= 0);
		app_run();
		assert_true(got1 == numbers[i] && got2 == numbers[4 - i]);
	}
	close_it(state);
	options.event = in_order;
}

static void the_programs_own_class_sees_its_events_and_not_ours(void **state)
{
	assert_true(app_is_own());
	options.event = keep;
	open_it(state);
	seen_before = app_seen;
	mixed = true;
	app_post(APP_SUBTYPE, 1, 2);
	assert_true(rouse_appkit_post(appkit, 3, 4) >= 0);
	app_run();
	mixed = false;
	assert_true(rouse_appkit_stop(appkit) >= 0);
	app_run();
	assert_int_equal(got2, 4);
	/* Posted by the program itself, of our subtype: it is for us. */
	app_post(ROUSE_APPKIT_SUBTYPE, 5, 6);
	app_run();
	assert_int_equal(got2, 6);
	close_it(state);
	options.event = in_order;
}

static void one_attachment_for_a_subtype(void **state)
{
	rouse_appkit_options other = {.size = sizeof other, .event = keep};
	rouse_loop *second = bare_loop();
	rouse_appkit *attached = NULL;

	(void)state;
	assert_int_equal(rouse_appkit_attach(second, &other, &attached), ROUSE_EEXIST);
	other.subtype = 29294;
	assert_int_equal(rouse_appkit_attach(second, &other, &attached), ROUSE_EINVAL);
	assert_null(attached);
	bare_assert_own(second);
	other.subtype = 5;
	assert_int_equal(rouse_appkit_attach(second, &other, &attached), 0);
	assert_true(rouse_appkit_post(attached, 7, 8) >= 0);
	app_run();
	assert_int_equal(got2, 8);
	assert_int_equal(events, 0);
	assert_int_equal(rouse_loop_destroy(second), 0);
}

static void *use_late(void *data)
{
	assert_int_equal(rouse_appkit_post(data, 1, 1), ROUSE_ECLOSED);
	assert_int_equal(rouse_appkit_stop(data), ROUSE_ECLOSED);
	rouse_appkit_unref(data);
	return NULL;
}

static void a_reference_outlives_the_loop(void **state)
{
	struct bare_memory memory;
	rouse_loop *own = bare_loop_on(&memory);
	rouse_appkit_options other = {.size = sizeof other, .event = keep, .subtype = 5};
	rouse_appkit *attached;
	pthread_t thread;

	(void)state;
	assert_int_equal(rouse_appkit_attach(own, &other, &attached), 0);
	rouse_appkit_ref(attached);
	/* Queued, and nobody's. */
	assert_true(rouse_appkit_post(attached, 1, 1) >= 0);
	memory.left = 0;
	assert_int_equal(rouse_appkit_post(attached, 1, 1), ROUSE_ENOMEM);
	memory.left = 1000;
	assert_int_equal(rouse_loop_destroy(own), 0);
	assert_int_equal(pthread_create(&thread, NULL, use_late, attached), 0);
	pthread_join(thread, NULL);
	assert_int_equal(memory.blocks, 0);
}

static void without_a_callback_nothing_is_posted(void **state)
{
	rouse_loop *own = bare_loop();
	rouse_appkit *attached;

	(void)state;
	assert_int_equal(rouse_appkit_attach(own, NULL, &attached), 0);
	assert_int_equal(rouse_appkit_post(attached, 1, 1), ROUSE_EINVAL);
	assert_int_equal(rouse_appkit_post(NULL, 1, 1), ROUSE_EINVAL);
	assert_int_equal(rouse_appkit_detach(attached), 0);
	assert_int_equal(rouse_loop_destroy(own), 0);
}

#define with(fn) cmocka_unit_test_setup_teardown(fn, open_it, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        with(a1_events_of_threads_arrive_once_and_in_order),
	        with(a1_events_in_a_run_of_ours),
	        with(a2_a_modal_panel_loses_none),
	        cmocka_unit_test(x7_all_bits_of_both_numbers),
	        cmocka_unit_test(the_programs_own_class_sees_its_events_and_not_ours),
	        with(one_attachment_for_a_subtype),
	        cmocka_unit_test(a_reference_outlives_the_loop),
	        cmocka_unit_test(without_a_callback_nothing_is_posted),
	};

	app_begin(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
