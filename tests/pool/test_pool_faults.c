/*
 * A steady load finds its memory where it left it: no page is asked of the system.
 *
 * The objects are no memory, so that what is counted is the pools' own.  Once a depth was there
 * a few times everything is, and from then on the count stands still.
 */
#include "pool_order.h"

#include <sys/resource.h>

enum { FIRST = 64, STEADY = 2000 };

static long faults(void)
{
	struct rusage usage;

	EXPECT(getrusage(RUSAGE_THREAD, &usage) == 0);
	return usage.ru_minflt;
}

static long faults_of(void (*does)(int depth), int depth, int times)
{
	long before = faults();

	for (int i = 0; i < times; i++)
		does(depth);
	return faults() - before;
}

static void expect_none(void (*does)(int depth))
{
	/* One chunk, the edge of one, several, and many. */
	static const int depths[] = {2, 16, 250, 1024, 8192, 30000};

	for (size_t i = 0; i < COUNT(depths); i++) {
		int times = depths[i] > 1024 ? STEADY / 10 : STEADY;

		(void)faults_of(does, depths[i], FIRST);
		EXPECT(faults_of(does, depths[i], times) == 0);
	}
}

/* ---- A pool by hand --------------------------------------------------------------------- */

static void a_pool(int depth)
{
	rouse_pool pool = rouse_pool_push();

	add_many(depth);
	EXPECT(rouse_pool_pop(pool) == 0);
	released = 0;
}

static void steady_pools(void)
{
	expect_none(a_pool);
}

/* ---- A loop's ----------------------------------------------------------------------------- */

static rouse_loop *loop;
static rouse_waker *waker;

static void autoreleases(rouse_loop *l, void *depth)
{
	(void)l;
	add_many(*(int *)depth);
}

static int depth_of_turns;

static void a_turn(int depth)
{
	depth_of_turns = depth;
	EXPECT(rouse_wake(waker) >= 0);
	EXPECT(rouse_loop_turn(loop, 0) == 1);
	EXPECT(released == depth);
	released = 0;
}

static void with_policy(unsigned policy)
{
	rouse_loop_options options = {.size = sizeof options, .pool = policy};

	EXPECT(rouse_loop_create(&options, &loop) == 0);
	EXPECT(rouse_waker_create(loop, autoreleases, &depth_of_turns, &waker) == 0);
	expect_none(a_turn);
	rouse_waker_unref(waker);
	EXPECT(rouse_loop_destroy(loop) == 0);
}

static void steady_turns(void)
{
	with_policy(ROUSE_POOL_PER_TURN);
}

static void steady_callbacks(void)
{
	with_policy(ROUSE_POOL_PER_CALLBACK);
}

#define EACH_TEST(TEST)                                                                            \
	TEST(steady_pools)                                                                         \
	TEST(steady_turns)                                                                         \
	TEST(steady_callbacks)

EACH_TEST(ON_A_THREAD)

int main(void)
{
	const struct CMUnitTest tests[] = {EACH_TEST(UNIT_TEST)};

#ifdef __SANITIZE_THREAD__
	return puts("SKIP: each access is noted in memory of TSan's"), 77;
#endif
	return cmocka_run_group_tests_name("page faults", tests, NULL, NULL);
}
