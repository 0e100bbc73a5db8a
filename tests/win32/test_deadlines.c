/* Deadlines by a timer of the system's: not early, not lost, and no wait without one. */
#include "win32.h"

#include "core/poller.h"

#define S (1000 * MS)

static int fired;

static void fire(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self;
	(void)data;
	assert_true(rouse_loop_now(loop) >= deadline);
	fired++;
}

static int setup(void **state)
{
	(void)state;
	fired = 0;
	rouse__fault_reset();
	return 0;
}

static rouse_source at(rouse_loop *loop, rouse_ns deadline)
{
	rouse_source source;

	assert_int_equal(rouse_timer_add(loop, deadline, 0, 0, fire, NULL, &source), 0);
	return source;
}

static void finish(rouse_loop *loop)
{
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* Each wait ends for its deadline and is not begun anew a hundred times on the way. */
static void t6_fine_deadlines_without_a_spin(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);

	(void)state;
	for (int i = 1; i <= 50; i++) {
		at(loop, rouse_now() + (rouse_ns)i * MS / 10 + 1);
		UNTIL(loop, fired == i);
	}
	assert_true(stats_of(loop).turns < 250);
	finish(loop);
}

static void add_soon(rouse_loop *loop, void *data)
{
	(void)data;
	at(loop, rouse_now() + MS);
}

static void cancel_nothing(void *data)
{
	(void)data;
}

static unsigned __stdcall post(void *remote)
{
	Sleep(20);
	return rouse_post(remote, add_soon, NULL, cancel_nothing) < 0;
}

static void t1_a_sooner_one_is_added_while_the_loop_waits(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	rouse_ns begin = rouse_now();
	HANDLE thread;

	(void)state;
	at(loop, begin + 3600 * S);
	thread = start_thread(post, rouse_loop_remote(loop));
	UNTIL(loop, fired);
	assert_int_equal(join_thread(thread), 0);
	assert_true(rouse_now() - begin < 3600 * S);
	assert_int_equal(fired, 1);
	finish(loop);
}

/* @return when it should fire; 0: this thread stood still for longer than `soon`. */
static rouse_ns arm_for_one_that_is_removed(rouse_loop *loop, rouse_ns soon)
{
	rouse_source earliest = at(loop, rouse_now() + soon);
	rouse_ns later = rouse_now() + 3 * soon;
	rouse_source other = at(loop, later);

	/* The system's timer is armed for the first one. */
	assert_true(rouse_loop_turn(loop, rouse_now() + MS) >= 0);
	if (!fired) {
		assert_int_equal(rouse_remove(loop, earliest), 0);
		return later;
	}
	(void)rouse_remove(loop, earliest);
	(void)rouse_remove(loop, other);
	fired = 0;
	return 0;
}

static void t1_without_the_earliest_nothing_fires_early(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	rouse_ns later = 0;

	(void)state;
	for (rouse_ns soon = 30 * MS; !later; soon *= 2)
		later = arm_for_one_that_is_removed(loop, soon);
	UNTIL(loop, fired);
	assert_true(rouse_now() >= later);
	assert_int_equal(fired, 1);
	finish(loop);
}

/* As far away as can be said: no wait ends for it, nor for a sum that is too large. */
static void t6_t8_far_deadlines(void **state)
{
	static const rouse_ns distances[] = {3600 * S, ROUSE_NEVER / 2, ROUSE_NEVER - 1,
	                                     ROUSE_NEVER};

	(void)state;
	for (size_t i = 0; i < COUNT(distances); i++) {
		rouse_loop *loop = loop_on("win32", NULL);
		rouse_ns begin = rouse_now();
		rouse_ns deadline = distances[i] == 3600 * S ? begin + distances[i] : distances[i];
		rouse_source source = at(loop, deadline);
		uint64_t turns;

		assert_true(rouse_loop_turn(loop, 0) >= 0);
		turns = stats_of(loop).turns;
		while (rouse_now() < begin + 100 * MS)
			assert_true(rouse_loop_turn(loop, begin + 100 * MS) >= 0);
		assert_int_equal(fired, 0);
		assert_true(stats_of(loop).turns - turns < 10);
		/* And it may be brought near. */
		assert_int_equal(rouse_timer_set(loop, source, rouse_now() + MS, 0, 0), 0);
		UNTIL(loop, fired);
		fired = 0;
		finish(loop);
	}
}

/* The system's timer has fired for it, and is armed for nothing. */
static void a_deadline_that_has_passed_is_given_again(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	rouse_ns deadline = rouse_now() + 20 * MS;

	(void)state;
	while (rouse_now() < deadline)
		assert_int_equal(rouse_loop_turn(loop, deadline), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rouse_loop_turn(loop, deadline), 0);
	finish(loop);
}

/* As a guest's loop has it: what is disarmed rings nobody, and what is armed rings by itself. */
static void armed_for_a_host_and_disarmed(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct rouse__poller *poller;
	unsigned rings = 0;

	(void)state;
	assert_int_equal(rouse__poller_of(loop, &rouse__win32, &poller), 0);
	assert_int_equal(rouse__win32.arm(poller, rouse_now() + 200 * MS), 0);
	assert_int_equal(rouse__win32.arm(poller, ROUSE_NEVER), 0);
	Sleep(300);
	assert_int_equal(rouse__fault_count(ROUSE__RING), 0);
	/* One that has passed, too. */
	for (rouse_ns from_now = 0; from_now < 40 * MS; from_now += 15 * MS) {
		rouse_ns deadline = from_now ? rouse_now() + from_now : 0;

		assert_int_equal(rouse__win32.arm(poller, deadline), 0);
		while (rouse__fault_count(ROUSE__RING) == rings)
			Sleep(1);
		assert_true(rouse_now() >= deadline);
		rings = rouse__fault_count(ROUSE__RING);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
	}
	finish(loop);
}

static void a_turn_without_a_deadline_waits_for_a_handle(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	HANDLE timer = CreateWaitableTimerW(NULL, FALSE, NULL);
	LARGE_INTEGER due = {.QuadPart = -500000};

	(void)state;
	assert_int_equal(rouse_handle_add(loop, timer, ignore_handle, NULL, NULL), 0);
	/* A deadline was armed before, and is not any more. */
	at(loop, rouse_now() + MS);
	UNTIL(loop, fired);
	assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
	while (rouse_loop_turn(loop, ROUSE_NEVER) == 0)
		continue;
	assert_true(stats_of(loop).turns < 10);
	finish(loop);
	CloseHandle(timer);
}

/* A passed deadline does not block, and one that passes beside work that never ends is met. */
static void t2_beside_a_handle_that_is_always_signalled(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	HANDLE always = CreateEventW(NULL, TRUE, TRUE, NULL);

	(void)state;
	assert_int_equal(rouse_handle_add(loop, always, ignore_handle, NULL, NULL), 0);
	at(loop, rouse_now());
	UNTIL(loop, fired == 1);
	at(loop, rouse_now() + 20 * MS);
	UNTIL(loop, fired == 2);
	finish(loop);
	CloseHandle(always);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(t6_fine_deadlines_without_a_spin, setup),
	        cmocka_unit_test_setup(t1_a_sooner_one_is_added_while_the_loop_waits, setup),
	        cmocka_unit_test_setup(t1_without_the_earliest_nothing_fires_early, setup),
	        cmocka_unit_test_setup(t6_t8_far_deadlines, setup),
	        cmocka_unit_test_setup(a_deadline_that_has_passed_is_given_again, setup),
	        cmocka_unit_test_setup(armed_for_a_host_and_disarmed, setup),
	        cmocka_unit_test_setup(a_turn_without_a_deadline_waits_for_a_handle, setup),
	        cmocka_unit_test_setup(t2_beside_a_handle_that_is_always_signalled, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
