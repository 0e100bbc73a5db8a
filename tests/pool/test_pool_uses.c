/* Pools in use: scopes, jumps, fibers, large ones and old ones, and what is told of them. */
#include "pool_order.h"

#include <setjmp.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <ucontext.h>
#endif

static rouse_pool_stack *taken;

/* ---- Scopes ----------------------------------------------------------------------------- */

static int leave_by_return(int n)
{
	ROUSE_POOL_SCOPE
	{
		add(n);
		ROUSE_POOL_SCOPE
		{
			add(n + 1);
			if (n)
				return n;
		}
	}
	return 0;
}

static void scopes(void)
{
	ROUSE_POOL_SCOPE
	{
		add(1);
		ROUSE_POOL_SCOPE
		{
			add(2);
		}
		EXPECT_ORDER(2);
	}
	EXPECT_ORDER(1);
	ROUSE_POOL_SCOPE
	{
		add(3);
		if (ordered == 0)
			break;
		add(4);
	}
	EXPECT_ORDER(3);
	ROUSE_POOL_SCOPE
	{
		add(5);
		if (ordered == 0)
			continue;
		add(6);
	}
	EXPECT_ORDER(5);
	EXPECT(leave_by_return(8) == 8);
	EXPECT_ORDER(9, 8);
	ROUSE_POOL_SCOPE
	{
		add(7);
		goto out;
	}
	add(99);
out:
	EXPECT_ORDER(7);
	EXPECT(thread_stats().skipped == 0 && thread_stats().live == 0);
}

static jmp_buf back;

static void jump(void)
{
	ROUSE_POOL_SCOPE
	{
		add(2);
		ROUSE_POOL_SCOPE
		{
			add(3);
			longjmp(back, 1);
		}
	}
}

static void p7_longjmp_over_two_scopes(void)
{
	rouse_pool pool = rouse_pool_push();

	add(1);
	if (!setjmp(back))
		jump();
	EXPECT(ordered == 0);
	EXPECT(rouse_pool_pop(pool) == 2);
	EXPECT_ORDER(3, 2, 1);
	EXPECT(thread_stats().live == 0);
}

/* ---- Fibers --------------------------------------------------------------------------------- */

static rouse_pool fiber_pools[2];
#ifdef _WIN32
static void *main_fiber, *fibers[2];
static void (*bodies[2])(int);

static void yield_from(int which)
{
	(void)which;
	SwitchToFiber(main_fiber);
}

static void resume(int which)
{
	SwitchToFiber(fibers[which]);
}

static void WINAPI run_body(void *which)
{
	bodies[(intptr_t)which]((int)(intptr_t)which);
}

static void start(void (*fn)(int))
{
	main_fiber = ConvertThreadToFiber(NULL);
	EXPECT(main_fiber);
	for (int i = 0; i < 2; i++) {
		bodies[i] = fn;
		fibers[i] = CreateFiber(0, run_body, (void *)(intptr_t)i);
		EXPECT(fibers[i]);
	}
}

/* No thread ends with them, also not with the one in which the thread had its first pool. */
static void end(void)
{
	rouse_pool pool = rouse_pool_push();

	add(77);
	for (int i = 0; i < 2; i++)
		DeleteFiber(fibers[i]);
	EXPECT(ordered == 0);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT_ORDER(77);
	EXPECT(ConvertFiberToThread());
}
#else
static ucontext_t main_fiber, fibers[2];
static char stacks[2][256 * 1024];

static void yield_from(int which)
{
	EXPECT(swapcontext(&fibers[which], &main_fiber) == 0);
}

static void resume(int which)
{
	EXPECT(swapcontext(&main_fiber, &fibers[which]) == 0);
}

static void start_one(int which, void (*fn)(int))
{
	EXPECT(getcontext(&fibers[which]) == 0);
	fibers[which].uc_stack.ss_sp = stacks[which];
	fibers[which].uc_stack.ss_size = sizeof stacks[which];
	fibers[which].uc_link = NULL;
	makecontext(&fibers[which], (void (*)(void))fn, 1, which);
}

static void start(void (*fn)(int))
{
	start_one(0, fn);
	start_one(1, fn);
}

static void end(void)
{
}
#endif

static int results[2];

static void interleave(int which)
{
	fiber_pools[which] = rouse_pool_push();
	add(which);
	yield_from(which);
	results[which] = rouse_pool_pop(fiber_pools[which]);
	yield_from(which);
}

static rouse_pool_stack *moved[2];

static void interleave_well(int which)
{
	fiber_pools[which] = rouse_pool_push();
	for (int i = 0; i < 5; i++) {
		rouse_pool inner = rouse_pool_push();

		add(10 * which + i);
		EXPECT(rouse_pool_detach(fiber_pools[which], &moved[which]) == 0);
		yield_from(which);
		EXPECT(rouse_pool_attach(moved[which]) == 0);
		if (i != 2)
			EXPECT(rouse_pool_pop(inner) == 0);
	}
	results[which] = rouse_pool_pop(fiber_pools[which]);
	yield_from(which);
}

static void p8_interleaved_fibers_are_noticed(void)
{
	start(interleave);
	resume(0);
	resume(1);
	resume(0);
	resume(1);
	EXPECT(results[0] == 1);
	EXPECT(results[1] == ROUSE_ESTALE);
	EXPECT_ORDER(1, 0);
	end();
}

static void p8_detached_fibers_do_not_meet(void)
{
	rouse_pool base = rouse_pool_push();

	start(interleave_well);
	for (int i = 0; i < 6; i++) {
		resume(0);
		resume(1);
	}
	/* Of the third each left its pool open. */
	EXPECT(results[0] == 1 && results[1] == 1);
	EXPECT_ORDER(0, 10, 1, 11, 3, 13, 4, 2, 14, 12);
	EXPECT(rouse_pool_pop(base) == 0);
	EXPECT(thread_stats().stale == 0 && thread_stats().live == 0);
	end();
}

/* ---- Size --------------------------------------------------------------------------------- */

static int reports;

static void count_report(const char *what, void *caller, void *ctx)
{
	EXPECT(what && !caller && ctx == &reports);
	reports++;
}

static uintptr_t expected_next;

static void expect_next(void *object)
{
	EXPECT((uintptr_t)object == expected_next);
	expected_next--;
}

static void p9_a_million_entries(void)
{
	enum { MANY = 1000000 };
	rouse_pool pool;
	uint64_t full;

	reports = 0;
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, count_report, &reports) == 0);
	EXPECT(rouse_pool_set_limits(10000, 0) == 0);
	pool = rouse_pool_push();
	for (uintptr_t i = 1; i <= MANY; i++)
		EXPECT(rouse_autorelease((void *)i, expect_next) == (void *)i);
	EXPECT(reports == 1);
	EXPECT(thread_stats().live == MANY);
	expected_next = MANY;
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(expected_next == 0);
	EXPECT(reports == 1);
	EXPECT(thread_stats().peak == MANY);
	full = thread_stats().bytes;
	EXPECT(full >= MANY * 16);
	/* Over time by itself, down to a spare chunk, */
	for (int i = 0; i < 200; i++) {
		pool = rouse_pool_push();
		add_many(1);
		EXPECT(rouse_pool_pop(pool) == 0);
		EXPECT(thread_stats().bytes <= full);
		full = thread_stats().bytes;
	}
	EXPECT(full == 4096 + 16384);
	/* and at once. */
	rouse_pool_trim();
	EXPECT(thread_stats().bytes == 4096);
	EXPECT(rouse_pool_set_limits(0, 0) == 0);
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, NULL, NULL) == 0);
}

/* A depth that comes back finds its memory. */
static void a_steady_depth_keeps_its_memory(void)
{
	uint64_t bytes = 0;

	for (int i = 0; i < 100; i++) {
		rouse_pool pool = rouse_pool_push();

		add_many(20000);
		EXPECT(rouse_pool_pop(pool) == 0);
		if (i == 1)
			bytes = thread_stats().bytes;
		EXPECT(i == 0 || thread_stats().bytes == bytes);
	}
}

/* A few nanoseconds, on the clock that is looked at. */
static void let_time_pass(void)
{
	rouse_ns before = rouse_now();

	while (rouse_now() - before < 10)
		;
}

static void p13_limits_are_told_once(void)
{
	rouse_pool outer, inner;

	reports = 0;
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, count_report, &reports) == 0);
	EXPECT(rouse_pool_set_limits(3, 0) == 0);
	outer = rouse_pool_push();
	add_many(4);
	inner = rouse_pool_push();
	add_many(3);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(reports == 0);
	inner = rouse_pool_push();
	add_many(4);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(reports == 1);
	EXPECT(rouse_pool_pop(outer) == 0);
	EXPECT(reports == 2);
	EXPECT(rouse_pool_set_limits(0, 1) == 0);
	outer = rouse_pool_push();
	let_time_pass();
	add_many(1);
	EXPECT(reports == 3);
	add_many(1);
	inner = rouse_pool_push();
	let_time_pass();
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(reports == 4);
	EXPECT(rouse_pool_pop(outer) == 0);
	EXPECT(reports == 4);
	/* One that was taken away is none of this thread's, and has no age any more. */
	outer = rouse_pool_push();
	let_time_pass();
	add_many(1);
	EXPECT(reports == 5);
	inner = rouse_pool_push();
	EXPECT(rouse_pool_detach(inner, &taken) == 0);
	let_time_pass();
	add_many(1);
	EXPECT(rouse_pool_attach(taken) == 0);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(rouse_pool_pop(outer) == 0);
	EXPECT(reports == 5);
	EXPECT(rouse_pool_set_limits(0, UINT64_MAX) == 0);
	outer = rouse_pool_push();
	add_many(1);
	EXPECT(rouse_pool_pop(outer) == 0);
	EXPECT(reports == 5);
	EXPECT(rouse_pool_set_limits(0, 0) == 0);
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, NULL, NULL) == 0);
}

/* Whatever was open then, or is attached, and popped without a look: the next one has an age. */
static void p13_an_age_that_is_asked_for_late(void)
{
	rouse_pool outer = rouse_pool_push(), inner = rouse_pool_push();
	rouse_pool_stack *stack;

	reports = 0;
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, count_report, &reports) == 0);
	EXPECT(rouse_pool_detach(inner, &stack) == 0);
	EXPECT(rouse_pool_set_limits(0, 1) == 0);
	EXPECT(rouse_pool_attach(stack) == 0);
	EXPECT(rouse_pool_pop(inner) == 0);
	inner = rouse_pool_push();
	let_time_pass();
	add_many(1);
	EXPECT(reports == 1);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(rouse_pool_pop(outer) == 0);
	outer = rouse_pool_push();
	let_time_pass();
	add_many(1);
	EXPECT(reports == 2);
	EXPECT(rouse_pool_pop(outer) == 0);
	EXPECT(rouse_pool_set_limits(0, 0) == 0);
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, NULL, NULL) == 0);
}

static void push_for_long(void *unused)
{
	rouse_pool pool = rouse_pool_push();

	(void)unused;
	let_time_pass();
	add_many(1);
	EXPECT(rouse_pool_pop(pool) == 0);
}

static void p13_an_age_in_release_functions(void)
{
	rouse_pool pool;

	reports = 0;
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, count_report, &reports) == 0);
	pool = rouse_pool_push();
	for (int i = 0; i < 3; i++)
		EXPECT(rouse_autorelease(&reports, push_for_long) == &reports);
	EXPECT(rouse_pool_set_limits(0, 1) == 0);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(reports == 3);
	EXPECT(rouse_pool_set_limits(0, 0) == 0);
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, NULL, NULL) == 0);
}

static void ask_for_an_age(void *unused)
{
	(void)unused;
	EXPECT(rouse_pool_set_limits(0, 1) == 0);
}

static void p13_an_age_that_a_release_function_asks_for(void)
{
	rouse_pool pool;

	reports = 0;
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, count_report, &reports) == 0);
	pool = rouse_pool_push();
	add_many(4);
	EXPECT(rouse_autorelease(&reports, ask_for_an_age) == &reports);
	EXPECT(rouse_pool_pop(pool) == 0);
	push_for_long(NULL);
	EXPECT(reports == 1);
	EXPECT(rouse_pool_set_limits(0, 0) == 0);
	EXPECT(rouse_pool_set_missing(ROUSE_MISSING_COUNT, NULL, NULL) == 0);
}

/* ---- Asking --------------------------------------------------------------------------------- */

static struct {
	rouse_release_fn release;
	size_t live;
} groups[4];
static unsigned group_count;

static void note_group(rouse_release_fn release, size_t live, void *ctx)
{
	EXPECT(ctx == groups && group_count < COUNT(groups));
	groups[group_count].release = release;
	groups[group_count++].live = live;
}

static void what_is_live_by_function(void)
{
	rouse_pool pool;

	group_count = 0;
	EXPECT(rouse_pool_walk(NULL, NULL) == ROUSE_EINVAL);
	EXPECT(rouse_pool_walk(note_group, groups) == 0);
	EXPECT(group_count == 0);
	add(1);
	pool = rouse_pool_push();
	add_many(300);
	add(2);
	EXPECT(rouse_pool_walk(note_group, groups) == 0);
	EXPECT(group_count == 2);
	EXPECT(groups[0].release == count_release && groups[0].live == 300);
	EXPECT(groups[1].release == note && groups[1].live == 2);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(rouse_pool_drain_thread() == 1);
	ordered = 0;
}

static void statistics_of_other_sizes(void)
{
	struct {
		rouse_pool_stats known;
		uint64_t tail;
	} larger = {.known = {.size = sizeof larger}};
	struct {
		size_t size;
		uint64_t live, after;
	} smaller = {.size = sizeof(size_t) + sizeof(uint64_t), .after = 42};

	EXPECT(rouse_pool_stats_thread(NULL) == ROUSE_EINVAL);
	EXPECT(rouse_pool_stats_process(NULL) == ROUSE_EINVAL);
	add(1);
	EXPECT(rouse_pool_stats_thread((rouse_pool_stats *)(void *)&smaller) == 0);
	EXPECT(smaller.live == 1 && smaller.after == 42);
	EXPECT(rouse_pool_stats_process(&larger.known) == 0);
	EXPECT(larger.known.size == sizeof larger && larger.known.live >= 1);
	larger.tail = 1;
	EXPECT(rouse_pool_stats_thread(&larger.known) == ROUSE_EABI);
	larger.known.size = 1;
	EXPECT(rouse_pool_stats_thread(&larger.known) == ROUSE_EINVAL);
	EXPECT(rouse_pool_drain_thread() == 1);
	ordered = 0;
}

#define EACH_TEST(TEST)                                                                            \
	TEST(scopes)                                                                               \
	TEST(p7_longjmp_over_two_scopes)                                                           \
	TEST(p8_interleaved_fibers_are_noticed)                                                    \
	TEST(p8_detached_fibers_do_not_meet)                                                       \
	TEST(p9_a_million_entries)                                                                 \
	TEST(a_steady_depth_keeps_its_memory)                                                      \
	TEST(p13_limits_are_told_once)                                                             \
	TEST(p13_an_age_that_is_asked_for_late)                                                    \
	TEST(p13_an_age_in_release_functions)                                                      \
	TEST(p13_an_age_that_a_release_function_asks_for)                                          \
	TEST(what_is_live_by_function)                                                             \
	TEST(statistics_of_other_sizes)

EACH_TEST(ON_A_THREAD)

int main(void)
{
	const struct CMUnitTest tests[] = {EACH_TEST(UNIT_TEST)};

	return cmocka_run_group_tests_name("pool_uses", tests, NULL, NULL);
}
