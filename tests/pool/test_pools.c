/* What one thread does with its pools. */
#include "pool_order.h"

/* ---- Pools ------------------------------------------------------------------------------ */

static void in_reverse(void)
{
	rouse_pool pool = rouse_pool_push();

	add(1);
	add(2);
	add(3);
	EXPECT(rouse_autorelease(order, NULL) == order);
	EXPECT(thread_stats().live == 4);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT_ORDER(3, 2, 1);
	EXPECT(thread_stats().live == 0);
	EXPECT(thread_stats().drains == 1);
	EXPECT(thread_stats().released == 4);
}

/* A name that was given once is none of the pools that come later. */
static void p2_a_pool_per_operation(void)
{
	rouse_pool first = rouse_pool_push();
	uint64_t bytes;

	released = 0;
	EXPECT(rouse_pool_pop(first) == 0);
	bytes = thread_stats().bytes;
	for (int i = 0; i < 100000; i++) {
		rouse_pool pool = rouse_pool_push();

		EXPECT(pool.token != first.token);
		add_many(2);
		EXPECT(rouse_pool_pop(pool) == 0);
		EXPECT(released == 2 * (i + 1));
	}
	EXPECT(thread_stats().live == 0);
	EXPECT(thread_stats().bytes == bytes);
	EXPECT(thread_stats().drains == 100000);
	EXPECT(thread_stats().missing == 0);
	EXPECT(thread_stats().peak == 2);
	EXPECT(rouse_pool_pop(first) == ROUSE_ESTALE);
}

static int more;

static void release_and_add(void *object)
{
	released++;
	while (more > 0) {
		more--;
		EXPECT(rouse_autorelease(object, count_release) == object);
	}
}

/* The first chunk holds some 250 entries: everywhere around its end. */
static void p3_what_a_release_adds_is_drained_too(void)
{
	for (int before = 235; before < 270; before++)
		for (int added = 0; added < 5; added++) {
			rouse_pool pool = rouse_pool_push();

			released = 0;
			more = added;
			add_many(before);
			EXPECT(rouse_autorelease(order, release_and_add) == order);
			add_many(1);
			EXPECT(rouse_pool_pop(pool) == 0);
			EXPECT(released == before + 2 + added);
			EXPECT(thread_stats().live == 0);
		}
}

/* A chain of releases, each of which hands on to the next. */
static void hand_on(void *object)
{
	released++;
	if (--*(int *)object > 0)
		EXPECT(rouse_autorelease(object, hand_on) == object);
}

static void p3_and_what_those_add(void)
{
	int left = 1000;
	rouse_pool pool = rouse_pool_push();

	released = 0;
	EXPECT(rouse_autorelease(&left, hand_on) == &left);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(released == 1000 && left == 0);
}

static void p4_an_outer_pop_drains_what_was_left_open(void)
{
	rouse_pool a = rouse_pool_push(), b, c;

	add(1);
	b = rouse_pool_push();
	add(2);
	c = rouse_pool_push();
	add(3);
	EXPECT(rouse_pool_pop(a) == 2);
	EXPECT_ORDER(3, 2, 1);
	EXPECT(thread_stats().skipped == 2);
	EXPECT(rouse_pool_pop(b) == ROUSE_ESTALE);
	EXPECT(rouse_pool_pop(c) == ROUSE_ESTALE);
	EXPECT(rouse_pool_pop(a) == ROUSE_ESTALE);
	EXPECT(thread_stats().stale == 3);
	EXPECT(ordered == 0);
}

/* Wherever a chunk ends: past a pool that was there, it is missing again. */
static void p1_missing_around_a_chunks_end(void)
{
	for (int before = 0; before < 300; before++) {
		rouse_pool pool;

		add_many(1);
		pool = rouse_pool_push();
		EXPECT(rouse_pool_pop(pool) == 0);
		pool = rouse_pool_push();
		add_many(2);
		EXPECT(rouse_pool_pop(pool) == 0);
		EXPECT(thread_stats().missing == (unsigned)before + 1);
		EXPECT(thread_stats().live == (unsigned)before + 1);
	}
	EXPECT(rouse_pool_drain_thread() == 300);
}

static void all_zero_names_none(void)
{
	rouse_pool none = {0};
	rouse_pool_stack *stack;

	add(1);
	EXPECT(rouse_pool_pop(none) == 0);
	EXPECT(rouse_autorelease_to(none, order, note) == ROUSE_EINVAL);
	EXPECT(rouse_pool_detach(none, &stack) == ROUSE_EINVAL);
	EXPECT(rouse_pool_attach(NULL) == ROUSE_EINVAL);
	EXPECT(ordered == 0);
	EXPECT(rouse_pool_drain_thread() == 1);
	EXPECT_ORDER(1);
}

/* Two owners on one thread, whose pools overlap instead of nesting. */
static void p6_overlapping_owners(void)
{
	rouse_pool ours = rouse_pool_push(), theirs;

	released = 0;
	for (int round = 0; round < 100; round++) {
		theirs = rouse_pool_push();
		add_many(1);
		EXPECT(rouse_pool_pop(ours) == 1);
		EXPECT(released == 2 * round + 1);
		EXPECT(rouse_pool_pop(theirs) == ROUSE_ESTALE);
		ours = rouse_pool_push();
		add_many(1);
	}
	EXPECT(rouse_pool_pop(ours) == 0);
	EXPECT(released == 200);
	EXPECT(thread_stats().skipped == 100 && thread_stats().stale == 100);
}

static void p12_into_an_outer_pool(void)
{
	rouse_pool a = rouse_pool_push(), b, c;

	add(1);
	b = rouse_pool_push();
	add(2);
	c = rouse_pool_push();
	add(3);
	EXPECT(rouse_autorelease_to(a, (void *)10, note) == 0);
	EXPECT(rouse_autorelease_to(b, (void *)20, note) == 0);
	EXPECT(rouse_autorelease_to(c, (void *)30, note) == 0);
	EXPECT(rouse_autorelease_to(a, (void *)11, NULL) == ROUSE_EINVAL);
	EXPECT(rouse_pool_pop(c) == 0);
	EXPECT_ORDER(30, 3);
	EXPECT(rouse_autorelease_to(c, (void *)31, note) == ROUSE_ESTALE);
	EXPECT(rouse_pool_pop(b) == 0);
	EXPECT_ORDER(20, 2);
	EXPECT(rouse_pool_pop(a) == 0);
	EXPECT_ORDER(10, 1);
}

/* ---- Draining by hand ---------------------------------------------------------------- */

static void some_of_the_newest(void)
{
	rouse_pool a = rouse_pool_push(), b;

	add(1);
	b = rouse_pool_push();
	for (int i = 2; i < 6; i++)
		add(i);
	EXPECT(rouse_pool_drain_some(0) == 4);
	EXPECT(rouse_pool_drain_some(3) == 1);
	EXPECT_ORDER(5, 4, 3);
	EXPECT(rouse_pool_drain_some(9) == 0);
	EXPECT_ORDER(2);
	EXPECT(rouse_pool_pop(b) == 0);
	EXPECT(rouse_pool_drain_some(9) == 0);
	EXPECT_ORDER(1);
	EXPECT(rouse_pool_pop(a) == 0);
	add(7);
	add(8);
	EXPECT(rouse_pool_drain_some(1) == 1);
	EXPECT_ORDER(8);
	EXPECT(rouse_pool_drain_thread() == 1);
	EXPECT_ORDER(7);
}

static rouse_pool outer_pool;
static int pop_result;

static void pop_outer(void *object)
{
	note(object);
	pop_result = rouse_pool_pop(outer_pool);
}

static void a_release_pops_its_own_pool(void)
{
	outer_pool = rouse_pool_push();
	add(1);
	EXPECT(rouse_autorelease((void *)2, pop_outer) == (void *)2);
	EXPECT(rouse_pool_pop(outer_pool) == 0);
	EXPECT(pop_result == 0);
	EXPECT_ORDER(2, 1);
	EXPECT(thread_stats().stale == 0);
}

static void a_release_pops_an_outer_pool(void)
{
	rouse_pool inner;

	outer_pool = rouse_pool_push();
	add(1);
	inner = rouse_pool_push();
	add(2);
	EXPECT(rouse_autorelease((void *)3, pop_outer) == (void *)3);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(pop_result == 1);
	EXPECT_ORDER(3, 2, 1);
	EXPECT(rouse_pool_pop(inner) == ROUSE_ESTALE);
}

/* As above, and then a pool in the same place: it is not the one that was being drained. */
static void pop_outer_and_push_again(void *object)
{
	rouse_pool *again = (rouse_pool *)object;

	EXPECT(rouse_pool_pop(outer_pool) >= 0);
	*again = rouse_pool_push();
	add(7);
}

static void a_pool_in_the_place_of_another(void)
{
	rouse_pool again = {0};

	outer_pool = rouse_pool_push();
	add(1);
	EXPECT(rouse_autorelease(&again, pop_outer_and_push_again) == &again);
	EXPECT(rouse_pool_pop(outer_pool) == 0);
	EXPECT_ORDER(1);
	EXPECT(thread_stats().live == 1);
	EXPECT(rouse_pool_pop(again) == 0);
	EXPECT_ORDER(7);
}

static rouse_pool_stack *taken;

static void detach_outer(void *object)
{
	(void)object;
	EXPECT(rouse_pool_detach(outer_pool, &taken) == ROUSE_EBUSY);
}

static void what_is_being_drained_is_not_detached(void)
{
	rouse_pool inner;

	outer_pool = rouse_pool_push();
	inner = rouse_pool_push();
	EXPECT(rouse_autorelease(order, detach_outer) == order);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(rouse_pool_detach(outer_pool, &taken) == 0);
	EXPECT(rouse_pool_attach(taken) == 0);
	EXPECT(rouse_pool_pop(outer_pool) == 0);
}

/* The library remembers where the last boundary was put, and must not trust that. */
static void the_last_place_of_a_boundary_is_not_the_newest_pool(void)
{
	rouse_pool outer = rouse_pool_push(), inner, another, left[2];

	inner = rouse_pool_push();
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(rouse_pool_pop(inner) == ROUSE_ESTALE);
	another = rouse_pool_push();
	add(1);
	EXPECT(rouse_pool_pop(inner) == ROUSE_ESTALE);
	EXPECT(rouse_pool_pop(another) == 0);
	EXPECT(rouse_pool_pop(another) == ROUSE_ESTALE);
	EXPECT_ORDER(1);
	/* Two places up it is where the last one was. */
	inner = rouse_pool_push();
	left[0] = rouse_pool_push();
	left[1] = rouse_pool_push();
	EXPECT(rouse_autorelease_to(outer, (void *)(intptr_t)2, note) == 0);
	EXPECT(rouse_autorelease_to(outer, (void *)(intptr_t)3, note) == 0);
	add(4);
	EXPECT(rouse_pool_pop(inner) == 2);
	EXPECT(rouse_pool_pop(left[0]) == ROUSE_ESTALE);
	EXPECT(rouse_pool_pop(left[1]) == ROUSE_ESTALE);
	EXPECT_ORDER(4);
	EXPECT(thread_stats().peak == 2);
	EXPECT(rouse_pool_pop(outer) == 0);
	EXPECT_ORDER(3, 2);
}

/* Of a pool that is as large as one before, but not all there is. */
static void the_peak_is_of_all_that_is_pending(void)
{
	rouse_pool pool = rouse_pool_push();

	add_many(4);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(thread_stats().peak == 4);
	add_many(3); /* in no pool */
	pool = rouse_pool_push();
	add_many(4);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(thread_stats().peak == 7);
	EXPECT(thread_stats().live == 3);
	/* Above a full chunk. */
	pool = rouse_pool_push();
	add_many(300);
	outer_pool = rouse_pool_push();
	add_many(4);
	EXPECT(rouse_pool_pop(outer_pool) == 0);
	EXPECT(thread_stats().peak >= 250);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(thread_stats().peak == 303);
}

static int below; /* releases in the outer pool */
static int middles_at_an_end;

static void add_to_outer_between_two_peaks(void)
{
	rouse_pool outer = rouse_pool_push(), middle, inner;
	uint64_t bytes, peak;

	add_many(below);
	middle = rouse_pool_push();
	bytes = thread_stats().bytes;
	add_many(1);
	/* Then the outer pool's new one has that chunk's last place, which was the middle's. */
	if (thread_stats().bytes != bytes) {
		middles_at_an_end++;
		inner = rouse_pool_push();
		add_many(4);
		EXPECT(rouse_pool_pop(inner) == 0);
		peak = thread_stats().peak;
		EXPECT(rouse_autorelease_to(outer, order, count_release) == 0);
		inner = rouse_pool_push();
		add_many(4);
		EXPECT(rouse_pool_pop(inner) == 0);
		EXPECT(thread_stats().peak == peak + 1);
	}
	EXPECT(rouse_pool_pop(middle) == 0);
	EXPECT(rouse_pool_pop(outer) == 0);
}

static void the_peak_follows_what_is_added_below(void)
{
	for (below = 100; below < 400; below++)
		on_a_thread(add_to_outer_between_two_peaks);
	EXPECT(middles_at_an_end == 1);
}

static void a_small_pool(void)
{
	rouse_pool pool = rouse_pool_push();

	add_many(1);
	EXPECT(rouse_pool_pop(pool) == 0);
}

static uint64_t seen;

static void see_others(void)
{
	seen = process_stats().live;
}

/* Without a pop of what was there, too: what others are told of it, and its memory. */
static void what_was_drained_by_hand_is_gone(void)
{
	rouse_pool pool = rouse_pool_push();
	uint64_t bytes;

	add_many(300);
	a_small_pool();
	EXPECT(rouse_pool_drain_some(200) == 100);
	a_small_pool();
	on_a_thread(see_others);
	EXPECT(seen < 200);
	EXPECT(rouse_pool_pop(pool) == 0);

	add_many(10000); /* in no pool */
	a_small_pool();
	a_small_pool();
	EXPECT(rouse_pool_drain_thread() == 10000);
	bytes = thread_stats().bytes;
	for (int i = 0; i < 100; i++)
		a_small_pool();
	EXPECT(thread_stats().bytes < bytes / 4);
}

#define EACH_TEST(TEST)                                                                            \
	TEST(in_reverse)                                                                           \
	TEST(p2_a_pool_per_operation)                                                              \
	TEST(p3_what_a_release_adds_is_drained_too)                                                \
	TEST(p3_and_what_those_add)                                                                \
	TEST(p4_an_outer_pop_drains_what_was_left_open)                                            \
	TEST(p1_missing_around_a_chunks_end)                                                       \
	TEST(all_zero_names_none)                                                                  \
	TEST(p6_overlapping_owners)                                                                \
	TEST(p12_into_an_outer_pool)                                                               \
	TEST(some_of_the_newest)                                                                   \
	TEST(a_release_pops_its_own_pool)                                                          \
	TEST(a_release_pops_an_outer_pool)                                                         \
	TEST(a_pool_in_the_place_of_another)                                                       \
	TEST(what_is_being_drained_is_not_detached)                                                \
	TEST(the_last_place_of_a_boundary_is_not_the_newest_pool)                                  \
	TEST(the_peak_follows_what_is_added_below)                                                 \
	TEST(the_peak_is_of_all_that_is_pending)                                                   \
	TEST(what_was_drained_by_hand_is_gone)

EACH_TEST(ON_A_THREAD)

int main(void)
{
	const struct CMUnitTest tests[] = {EACH_TEST(UNIT_TEST)};

	return cmocka_run_group_tests_name("pools", tests, NULL, NULL);
}
