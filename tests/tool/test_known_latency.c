/*
 * Latencies that are known go through the mechanisms, the accounts and the quantiles, and come
 * out to the nanosecond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bench/log.h"
#include "bench/result.h"
#include "known.h"

#include <rouse/null.h>

static const struct mech_ops *const served[] = {&mech_wake, &mech_post, &mech_eventfd, &mech_pipe};

#define SERVED (sizeof served / sizeof served[0])

/* The cold one, then 1 to 299 in an order that is not sorted, in steps of 1.001 us. */
static rouse_ns latency_of(size_t i)
{
	return i == 0 ? 75122001 : (i * 101 % 299 + 1) * 1001;
}

static void test_latencies_are_found_again(void **state)
{
	(void)state;
	for (size_t k = 0; k < SERVED; k++) {
		struct run run;
		struct result r;
		const struct mech_result *m = &r.mech[0];

		known_open(&run, served[k], 300);
		for (size_t i = 0; i < 300; i++) {
			known_fire(&run);
			known_pass(&run, latency_of(i));
			assert_int_equal(known_serve(&run), 1);
			known_pass(&run, 12345);
		}
		known_close(&run);
		assert_int_equal(result_of(&run, &r), 0);
		assert_string_equal(m->name, served[k]->name);
		assert_int_equal(m->n, 300);
		assert_int_equal(m->lost, 0);
		assert_int_equal(m->failed, 0);
		assert_int_equal(m->coalesced, 0);
		assert_int_equal(m->meter->strays, 0);
		for (size_t i = 0; i < 300; i++)
			assert_int_equal(m->meter->latency[i], latency_of(i));
		assert_true(m->summary.has_cold);
		assert_int_equal(m->summary.cold, 75122001);
		assert_int_equal(m->summary.n, 299);
		assert_int_equal(m->summary.min, 1001);
		assert_int_equal(m->summary.p50, 150 * 1001);
		assert_int_equal(m->summary.p90, 270 * 1001); /* 269.1, rounded up */
		assert_int_equal(m->summary.p99, 297 * 1001); /* 296.01, rounded up */
		assert_int_equal(m->summary.max, 299 * 1001);
		result_release(&r);
		run_release(&run);
	}
}

/* Two calls before the loop looks: one run answers both, or each has its own. */
static void test_coalesced_stamps_are_all_answered(void **state)
{
	(void)state;
	for (size_t k = 0; k < SERVED; k++) {
		bool counts = served[k] == &mech_post;
		struct run run;
		struct meter *meter = &run.mech[0].meter;

		known_open(&run, served[k], 8);
		known_fire(&run);
		known_pass(&run, 700);
		known_fire(&run);
		known_pass(&run, 300);
		assert_int_equal(meter_open_stamps(meter), 2);
		assert_int_equal(known_serve(&run), counts ? 2 : 1);
		assert_int_equal(meter->answered, 2);
		assert_int_equal(meter->latency[0], 1000);
		assert_int_equal(meter->latency[1], 300);
		assert_int_equal(meter->coalesced, counts ? 0 : 1);
		assert_int_equal(meter->together[1], counts ? 1 : 2);
		known_close(&run);
		run_release(&run);
	}
}

static void test_a_lost_wakeup_is_counted(void **state)
{
	struct run run;
	struct result r;

	(void)state;
	known_open(&run, &mech_wake, 8);
	known_fire(&run);
	known_pass(&run, 5000);
	known_serve(&run);
	/* Fired for the account, but the call is never made. */
	meter_fire(&run.mech[0].meter, rouse_loop_now(run.loop));
	known_pass(&run, 5000);
	known_serve(&run);
	known_close(&run);
	assert_int_equal(result_of(&run, &r), 0);
	assert_int_equal(r.mech[0].n, 1);
	assert_int_equal(r.mech[0].lost, 1);
	assert_true(result_has_lost(&r));
	result_release(&r);
	run_release(&run);
}

/* ---- What was lost and rescued ------------------------------------------ */

static void test_turns_tell_the_late(void **state)
{
	struct turns t = {0};

	(void)state;
	assert_int_equal(turns_reach(&t, 7), 0);
	turns_answered(&t, 100);
	turns_answered(&t, 90); /* A pipe's, say: the latest one counts. */
	assert_int_equal(turns_reach(&t, 7), 0);
	assert_int_equal(turns_reach(&t, 8), 0);
	turns_answered(&t, 200);
	assert_int_equal(turns_reach(&t, 9), 100);
	assert_int_equal(turns_reach(&t, 10), 200);
	turns_answered(&t, 150);
	/* Nothing was answered in between, but there were turns. */
	turns_answered(&t, 300);
	assert_int_equal(turns_reach(&t, 12), 300);
	assert_int_equal(turns_reach(&t, 100), 300);
}

static void fire(struct run *run, size_t i)
{
	known_pass(run, 1000);
	mech_fire(&run->mech[i], rouse_loop_now(run->loop));
	known_pass(run, 1000);
}

/* The descriptor was written after the wait had returned: the wait after that sees it. */
static void test_the_turn_after_a_later_one_is_in_time(void **state)
{
	struct run run;
	struct result r;

	(void)state;
	known_open(&run, &mech_eventfd, 8);
	known_join(&run, &mech_wake, 8);
	fire(&run, 0);
	fire(&run, 1);
	assert_int_equal(rouse_loop_turn(run.loop, 0), 1);
	assert_int_equal(run.mech[1].meter.answered, 1);
	assert_int_equal(known_serve(&run), 1);
	assert_int_equal(run.mech[0].meter.answered, 1);
	known_close(&run);
	assert_int_equal(result_of(&run, &r), 0);
	assert_false(result_has_lost(&r));
	result_release(&r);
	run_release(&run);
}

/* Two turns after a later one, whichever saw that one answered. */
static void test_two_turns_after_a_later_one_is_lost(void **state)
{
	(void)state;
	for (size_t k = 0; k < SERVED; k++) {
		struct run run;
		struct result r;

		if (served[k] == &mech_eventfd)
			continue;
		known_open(&run, &mech_eventfd, 8);
		known_join(&run, served[k], 8);
		fire(&run, 0);
		fire(&run, 0);
		fire(&run, 1);
		if (served[k] == &mech_pipe)
			assert_int_equal(
			        rouse_null_script(run.loop, 0, run.mech[1].fd[0], ROUSE_READABLE),
			        0);
		assert_int_equal(rouse_loop_turn(run.loop, 0), 1);
		if (served[k] == &mech_pipe)
			assert_int_equal(rouse_null_script(run.loop, 0, run.mech[1].fd[0], 0), 0);
		assert_int_equal(rouse_loop_turn(run.loop, 0), 0);
		/* Fired after the witness: nothing is known against it. */
		fire(&run, 0);
		assert_int_equal(known_serve(&run), 1);
		assert_int_equal(run.mech[0].meter.latency[0], 1000);
		assert_int_equal(run.mech[0].meter.together[0], 1);
		assert_int_equal(meter_open_stamps(&run.mech[0].meter), 0);
		known_close(&run);
		assert_int_equal(result_of(&run, &r), 0);
		assert_int_equal(r.mech[0].n, 1);
		assert_int_equal(r.mech[0].lost, 2);
		assert_int_equal(r.mech[0].rescued, 2);
		assert_int_equal(r.mech[0].coalesced, 0);
		assert_int_equal(r.mech[1].lost, 0);
		assert_true(result_has_lost(&r));
		result_release(&r);
		run_release(&run);
	}
}

/* A wake behind more posts than a turn runs waits as long as they do. */
static void test_a_full_queue_is_no_evidence(void **state)
{
	enum { POSTS = 4 * ROUSE_DEFAULT_BATCH };
	struct run run;
	struct result r;
	uint64_t turns = 0;

	(void)state;
	known_open(&run, &mech_eventfd, 8);
	known_join(&run, &mech_post, POSTS);
	known_join(&run, &mech_wake, 8);
	for (size_t i = 0; i < POSTS; i++)
		fire(&run, 1);
	fire(&run, 2);
	fire(&run, 0);
	for (; meter_open_stamps(&run.mech[2].meter) > 0 && turns < 100; turns++)
		assert_true(known_serve(&run) > 0);
	assert_true(turns > 3);
	known_close(&run);
	assert_int_equal(result_of(&run, &r), 0);
	assert_false(result_has_lost(&r));
	assert_int_equal(r.mech[1].n, POSTS);
	result_release(&r);
	run_release(&run);
}

/* One that carries its stamp: the others keep theirs. */
static void test_a_lost_post_shifts_nothing(void **state)
{
	struct run run;
	struct result r;

	(void)state;
	known_open(&run, &mech_post, 8);
	fire(&run, 0);
	known_serve(&run);
	meter_fire(&run.mech[0].meter, rouse_loop_now(run.loop)); /* The call is never made. */
	for (size_t i = 0; i < 3; i++) {
		fire(&run, 0);
		known_serve(&run);
		assert_int_equal(run.mech[0].meter.latency[1 + i], 1000);
	}
	known_close(&run);
	assert_int_equal(result_of(&run, &r), 0);
	assert_true(r.mech[0].n == 4 && r.mech[0].lost == 1 && r.mech[0].rescued == 0);
	result_release(&r);
	run_release(&run);
}

/* A pipe that fills while the loop is away is emptied by one run. */
static void test_a_full_pipe_is_answered_at_once(void **state)
{
	struct run run;

	(void)state;
	known_open(&run, &mech_pipe, 1000);
	for (size_t i = 0; i < 1000; i++)
		fire(&run, 0);
	assert_int_equal(known_serve(&run), 1);
	assert_int_equal(run.mech[0].meter.answered, 1000);
	assert_int_equal(run.mech[0].meter.coalesced, 999);
	known_close(&run);
	run_release(&run);
}

/* A stamp that nobody sent is no answer, and those passed over stay open. */
static void test_forged_and_skipped_stamps(void **state)
{
	const rouse_ns foreign = 4711, second = 2000;
	struct meter m;

	(void)state;
	assert_int_equal(meter_open(&m, 4), 0);
	meter_fire(&m, 1000);
	meter_fire(&m, 2000);
	meter_answer_stamps(&m, &foreign, 1, 5000);
	assert_int_equal(m.strays, 1);
	assert_int_equal(meter_open_stamps(&m), 2);
	meter_answer_stamps(&m, &second, 1, 5000);
	assert_int_equal(m.latency[0], 3000);
	assert_int_equal(meter_open_stamps(&m), 1);
	meter_answer_stamps(&m, &second, 1, 6000);
	assert_int_equal(m.strays, 2);
	assert_int_equal(meter_open_stamps(&m), 1);
	meter_close(&m);
}

/* The log has the events and the wakeups of all sources in the order of their time. */
static void test_log_is_in_order(void **state)
{
	struct run run;
	struct result r;
	char line[256];
	FILE *file = tmpfile();
	const char *expected[] = {
	        "1000000 epoll fd_tick t=1000000 expirations=3 src=timerfd\n",
	        "1000002 epoll wakeup latency_us=2.500 mech=rouse-wake coalesced=1\n",
	        "1000004 epoll expose count=0\n",
	        "1000005 epoll frame_callback time=4711\n",
	        "1000010 epoll stats mech=rouse-wake n=1 lost=0 coalesced=0 cold=2.500\n",
	};

	(void)state;
	known_open(&run, &mech_wake, 8);
	events_add_at(&run.events, rouse_loop_now(run.loop) + 4000, EVENT_EXPOSE, 0);
	events_add_at(&run.events, rouse_loop_now(run.loop) + 5000, EVENT_FRAME, 4711);
	events_add_at(&run.events, rouse_loop_now(run.loop), EVENT_TICK, 3);
	known_fire(&run);
	known_pass(&run, 2500);
	known_serve(&run);
	known_pass(&run, 7500);
	events_add_at(&run.events, rouse_loop_now(run.loop), EVENT_STATS, 0);
	known_close(&run);
	assert_int_equal(result_of(&run, &r), 0);
	assert_non_null(file);
	assert_int_equal(log_write(file, &r, 0), 0);
	rewind(file);
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		assert_non_null(fgets(line, sizeof line, file));
		assert_string_equal(line, expected[i]);
	}
	fclose(file);
	result_release(&r);
	run_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(test_latencies_are_found_again),
	        cmocka_unit_test(test_coalesced_stamps_are_all_answered),
	        cmocka_unit_test(test_a_lost_wakeup_is_counted),
	        cmocka_unit_test(test_turns_tell_the_late),
	        cmocka_unit_test(test_the_turn_after_a_later_one_is_in_time),
	        cmocka_unit_test(test_two_turns_after_a_later_one_is_lost),
	        cmocka_unit_test(test_a_full_queue_is_no_evidence),
	        cmocka_unit_test(test_a_lost_post_shifts_nothing),
	        cmocka_unit_test(test_a_full_pipe_is_answered_at_once),
	        cmocka_unit_test(test_forged_and_skipped_stamps),
	        cmocka_unit_test(test_log_is_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
