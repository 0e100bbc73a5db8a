/* Pools that come with the Objective-C runtime's: by hand, and what both sides' releases add. */
#include "../pool/pool_order.h"

#include "objects.h"

static void say(void *number)
{
	note(number);
}

/* An object of theirs that notes its end, in a pool of theirs. */
static void their_add(int number)
{
	object_autorelease(object_new(say, (void *)(intptr_t)number));
}

/* ---- Turning it on --------------------------------------------------------------------------- */

static pthread_barrier_t meet, meet_loop;

static void add_seven(void *unused)
{
	(void)unused;
	add(7);
}

/* A thread whose pools were there before. */
static void *early(void *data)
{
	rouse_pool outer = rouse_pool_push(), inner;

	(void)data;
	add_many(1);
	pthread_barrier_wait(&meet);
	/* It is on now, and noticed at the next pool that has something in it. */
	pthread_barrier_wait(&meet);
	inner = rouse_pool_push();
	add_many(1);
	EXPECT(rouse_pool_pop(inner) == 0);
	inner = rouse_pool_push();
	object_autorelease(object_new(NULL, NULL));
	EXPECT(objects_alive() == 1);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(objects_alive() == 0);
	EXPECT(rouse_pool_pop(outer) == 0);
	inner = rouse_pool_push();
	object_autorelease(object_new(NULL, NULL));
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT(objects_alive() == 0);
	return NULL;
}

static void count_dead(void *dead)
{
	++*(int *)dead;
}

static void post_theirs(rouse_loop *loop, void *dead)
{
	(void)loop;
	object_autorelease(object_new(count_dead, dead));
}

/* Whose loop's pools never have anything of ours in them. */
static void *early_loop(void *data)
{
	rouse_remote *remote;
	rouse_loop *loop;
	int dead = 0;

	(void)data;
	EXPECT(rouse_loop_create(NULL, &loop) == 0);
	remote = rouse_loop_remote(loop);
	EXPECT(rouse_pool_pop(rouse_pool_push()) == 0);
	pthread_barrier_wait(&meet_loop);
	pthread_barrier_wait(&meet_loop);
	EXPECT(rouse_post(remote, post_theirs, &dead, NULL) == 0);
	EXPECT(rouse_loop_turn(loop, 0) == 1);
	EXPECT(dead == 1);
	rouse_remote_unref(remote);
	EXPECT(rouse_loop_destroy(loop) == 0);
	return NULL;
}

static void off_until_asked_for(void **state)
{
	void *theirs = their_pool();
	rouse_pool before, pool;
	pthread_t thread, loops;

	(void)state;
	ROUSE_POOL_SCOPE
	{
		object_autorelease(object_new(NULL, NULL));
	}
	EXPECT(objects_alive() == 1);
	their_pool_drain(theirs);
	EXPECT(objects_alive() == 0);
	/* Works without. */
	ROUSE_POOL_SCOPE
	{
		void *object = object_new(NULL, NULL);

		EXPECT(rouse_autorelease(object, rouse_release_objc) == object);
		EXPECT(rouse_autorelease(NULL, rouse_release_objc) == NULL);
		EXPECT(objects_alive() == 1);
	}
	EXPECT(objects_alive() == 0);

	EXPECT(pthread_barrier_init(&meet, NULL, 2) == 0);
	EXPECT(pthread_barrier_init(&meet_loop, NULL, 2) == 0);
	EXPECT(pthread_create(&thread, NULL, early, NULL) == 0);
	EXPECT(pthread_create(&loops, NULL, early_loop, NULL) == 0);
	pthread_barrier_wait(&meet);
	pthread_barrier_wait(&meet_loop);
	before = rouse_pool_push();
	EXPECT(rouse_pool_bridge_objc() == 0);
	EXPECT(rouse_pool_bridge_objc() == 0);
	pthread_barrier_wait(&meet_loop);
	EXPECT(pthread_join(loops, NULL) == 0);
	pthread_barrier_wait(&meet);
	EXPECT(pthread_join(thread, NULL) == 0);
	/* Those that were open have none of theirs; all that are pushed now have, */
	pool = rouse_pool_push();
	object_autorelease(object_new(NULL, NULL));
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(objects_alive() == 0);
	/* also if they are drained with one of those, whatever they add to it, */
	pool = rouse_pool_push();
	object_autorelease(object_new(add_seven, NULL));
	EXPECT(rouse_pool_pop(before) == 1);
	EXPECT_ORDER(7);
	/* and in its place. */
	pool = rouse_pool_push();
	object_autorelease(object_new(NULL, NULL));
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(objects_alive() == 0);
	EXPECT(pthread_barrier_destroy(&meet) == 0);
	EXPECT(pthread_barrier_destroy(&meet_loop) == 0);
	EXPECT(rouse_pool_set_limits(1, 1) == 0);
	EXPECT(rouse_pool_set_limits(0, 0) == 0);
}

/* ---- Scopes -----------------------------------------------------------------------------------
 */

static void a_scope_is_theirs_too(void)
{
	ROUSE_POOL_SCOPE
	{
		their_add(1);
		ROUSE_POOL_SCOPE
		{
			their_add(2);
			EXPECT(ordered == 0);
			if (objects_alive())
				break;
		}
		EXPECT_ORDER(2);
	}
	EXPECT_ORDER(1);
	EXPECT(thread_stats().released == 0 && thread_stats().missing == 0);
	EXPECT(thread_stats().live == 0 && thread_stats().skipped == 0);
}

/* Ours newest first, and then theirs in their own order. */
static void ours_before_theirs(void)
{
	ROUSE_POOL_SCOPE
	{
		their_add(1);
		add(2);
		their_add(3);
		EXPECT(rouse_autorelease(object_new(say, (void *)4), rouse_release_objc) != NULL);
		EXPECT(thread_stats().live == 2);
	}
	if (their_newest_first)
		EXPECT_ORDER(4, 2, 3, 1);
	else
		EXPECT_ORDER(4, 2, 1, 3);
	EXPECT(thread_stats().released == 2);
}

static void a_pool_of_theirs_inside(void)
{
	void *pool;

	ROUSE_POOL_SCOPE
	{
		their_add(1);
		pool = their_pool();
		their_add(2);
		add(3);
		their_pool_drain(pool);
		EXPECT_ORDER(2);
		/* Left open. */
		(void)their_pool();
		their_add(4);
	}
	EXPECT(ordered == 3 && order[0] == 3);
	ordered = 0;
	EXPECT(objects_alive() == 0);
}

static void p4_left_open(void)
{
	rouse_pool a = rouse_pool_push(), b = rouse_pool_push();

	their_add(1);
	EXPECT(rouse_pool_push().token != 0);
	their_add(2);
	add(3);
	EXPECT(rouse_pool_pop(a) == 2);
	EXPECT_ORDER(3, 2, 1);
	EXPECT(rouse_pool_pop(b) == ROUSE_ESTALE);
	ROUSE_POOL_SCOPE
	{
		their_add(4);
	}
	EXPECT_ORDER(4);
}

static jmp_buf far;

static void p7_a_longjmp_over_two(void)
{
	rouse_pool outer = rouse_pool_push();

	if (!setjmp(far)) {
		EXPECT(rouse_pool_push().token != 0);
		their_add(1);
		EXPECT(rouse_pool_push().token != 0);
		their_add(2);
		longjmp(far, 1);
	}
	EXPECT(rouse_pool_pop(outer) == 2);
	EXPECT_ORDER(2, 1);
}

static void p8_stays_on_its_thread(void)
{
	rouse_pool pool = rouse_pool_push(), inner = rouse_pool_push();
	rouse_pool_stack *stack = NULL;

	their_add(1);
	add(2);
	EXPECT(rouse_pool_detach(inner, &stack) == ROUSE_ENOTSUP);
	EXPECT(rouse_pool_detach(pool, &stack) == ROUSE_ENOTSUP && !stack);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT_ORDER(2, 1);
	EXPECT(rouse_pool_pop(pool) == 0);
}

static void p12_into_an_outer_one(void)
{
	rouse_pool outer = rouse_pool_push(), inner = rouse_pool_push();

	their_add(1);
	EXPECT(rouse_autorelease_to(outer, object_new(say, (void *)2), rouse_release_objc) == 0);
	EXPECT(rouse_pool_pop(inner) == 0);
	EXPECT_ORDER(1);
	EXPECT(rouse_pool_pop(outer) == 0);
	EXPECT_ORDER(2);
}

static void theirs_waits_for_the_pop(void)
{
	rouse_pool pool = rouse_pool_push();

	their_add(1);
	add(2);
	EXPECT(rouse_pool_drain_some(SIZE_MAX) == 0);
	EXPECT_ORDER(2);
	EXPECT(rouse_pool_drain_some(SIZE_MAX) == 0);
	EXPECT(ordered == 0);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT_ORDER(1);
}

/* ---- What is autoreleased meanwhile
 * -------------------------------------------------------------- */

/* Each end adds to the other side's pool. */
static void their_turn(void *left);

static void our_turn(void *left)
{
	intptr_t n = (intptr_t)left;

	if (n)
		object_autorelease(object_new(their_turn, (void *)(n - 1)));
}

static void their_turn(void *left)
{
	intptr_t n = (intptr_t)left;

	if (n)
		EXPECT(rouse_autorelease((void *)(n - 1), our_turn) == (void *)(n - 1));
	else
		note((void *)7);
}

static void p3_each_side_adds_to_the_other(void)
{
	void *outside = their_pool();

	ROUSE_POOL_SCOPE
	{
		object_autorelease(object_new(their_turn, (void *)20));
		EXPECT(rouse_autorelease((void *)9, our_turn) == (void *)9);
	}
	EXPECT(objects_alive() == 0);
	EXPECT_ORDER(7, 7);
	EXPECT(thread_stats().missing == 0 && thread_stats().released == 15);
	their_pool_drain(outside);
}

/* More than a chunk. */
static void add_thousands(void *unused)
{
	(void)unused;
	for (int i = 0; i < 10000; i++)
		EXPECT(rouse_autorelease(object_new(NULL, NULL), rouse_release_objc) != NULL);
}

static void p3_theirs_adds_thousands_to_ours(void)
{
	ROUSE_POOL_SCOPE
	{
		object_autorelease(object_new(add_thousands, NULL));
	}
	EXPECT(objects_alive() == 0);
	EXPECT(thread_stats().released == 10000 && thread_stats().live == 0);
}

static void scope_inside(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		int before = objects_alive();

		ROUSE_POOL_SCOPE
		{
			object_autorelease(object_new(NULL, NULL));
			EXPECT(objects_alive() == before + 1);
		}
		EXPECT(objects_alive() == before);
	}
}

static void scopes_of_release_functions(void)
{
	rouse_pool pool = rouse_pool_push();

	for (int i = 0; i < 5; i++)
		EXPECT(rouse_autorelease(&far, scope_inside) == &far);
	object_autorelease(object_new(scope_inside, NULL));
	EXPECT(rouse_pool_pop(pool) == 0);
	pool = rouse_pool_push();
	for (int i = 0; i < 5; i++)
		EXPECT(rouse_autorelease(&far, scope_inside) == &far);
	EXPECT(rouse_pool_drain_some(SIZE_MAX) == 0);
	EXPECT(rouse_pool_pop(pool) == 0);
	EXPECT(objects_alive() == 0);
}

static rouse_pool popped;

static void pop_it(void *expected)
{
	EXPECT(rouse_pool_pop(popped) == (int)(intptr_t)expected);
}

static void leave_one_open(void *unused)
{
	(void)unused;
	EXPECT(rouse_pool_push().token != 0);
	their_add(5);
	add(6);
}

/* While it is drained, by each side. */
static void popped_meanwhile(void)
{
	popped = rouse_pool_push();
	their_add(1);
	add(2);
	EXPECT(rouse_autorelease(NULL, pop_it) == NULL);
	EXPECT(rouse_pool_pop(popped) == 0);
	EXPECT_ORDER(2, 1);
	popped = rouse_pool_push();
	add(2);
	object_autorelease(object_new(pop_it, NULL));
	EXPECT(rouse_pool_pop(popped) == 0);
	EXPECT_ORDER(2);
	popped = rouse_pool_push();
	their_add(1);
	object_autorelease(object_new(leave_one_open, NULL));
	EXPECT(rouse_pool_pop(popped) == 1);
	EXPECT(ordered == 3 && objects_alive() == 0);
	EXPECT(thread_stats().live == 0);
}

/* ---- Ends --------------------------------------------------------------------------------------
 */

static void the_main_threads_drain(void **state)
{
	(void)state;
	ordered = 0;
	EXPECT(rouse_pool_push().token && rouse_pool_push().token);
	their_add(1);
	add(2);
	object_autorelease(object_new(their_turn, (void *)3));
	EXPECT(rouse_pool_drain_thread() >= 3);
	EXPECT(ordered == 2 && objects_alive() == 0);
	ordered = 0;
	/* With no pool at all: what ours adds to theirs has one. */
	EXPECT(rouse_autorelease((void *)5, our_turn) == (void *)5);
	EXPECT(rouse_pool_drain_thread() == 3);
	EXPECT_ORDER(7);
	EXPECT(rouse_autorelease((void *)1, our_turn) == (void *)1);
	EXPECT(rouse_pool_drain_some(1) == 0);
	EXPECT_ORDER(7);
	EXPECT(objects_alive() == 0);
}

static void our_scope_inside(void *unused)
{
	(void)unused;
	ROUSE_POOL_SCOPE
	{
		EXPECT(rouse_autorelease(object_new(NULL, NULL), rouse_release_objc) != NULL);
	}
	note((void *)7);
}

static void pop_that(void *outermost)
{
	EXPECT(rouse_pool_pop(*(rouse_pool *)outermost) == their_ends_nest);
}

static void end_inside(void)
{
	static rouse_pool outermost;

	outermost = rouse_pool_push();
	object_autorelease(object_new(NULL, NULL));
	EXPECT(rouse_autorelease(object_new(NULL, NULL), rouse_release_objc) != NULL);
	if (their_ends_nest) {
		EXPECT(rouse_pool_push().token != 0);
		object_autorelease(object_new(NULL, NULL));
	}
	EXPECT(rouse_autorelease(&far, our_scope_inside) == &far);
	EXPECT(rouse_autorelease(&outermost, pop_that) == &outermost);
	EXPECT(rouse_autorelease(&far, scope_inside) == &far);
	EXPECT(rouse_autorelease((void *)5, our_turn) == (void *)5);
}

/* The runtime empties its pools by itself, before or after ours are drained. */
static void p10_a_thread_that_ends_inside(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		ordered = 0;
		on_a_thread(end_inside);
		EXPECT(objects_alive() == 0);
		EXPECT_ORDER(7, 7);
	}
	EXPECT(process_stats().live == 0 && process_stats().stranded == 0);
}

#define EACH_TEST(TEST)                                                                            \
	TEST(a_scope_is_theirs_too)                                                                \
	TEST(ours_before_theirs)                                                                   \
	TEST(a_pool_of_theirs_inside)                                                              \
	TEST(p4_left_open)                                                                         \
	TEST(p7_a_longjmp_over_two)                                                                \
	TEST(p8_stays_on_its_thread)                                                               \
	TEST(p12_into_an_outer_one)                                                                \
	TEST(theirs_waits_for_the_pop)                                                             \
	TEST(p3_each_side_adds_to_the_other)                                                       \
	TEST(p3_theirs_adds_thousands_to_ours)                                                     \
	TEST(scopes_of_release_functions)                                                          \
	TEST(popped_meanwhile)

EACH_TEST(ON_A_THREAD)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(off_until_asked_for),
	        EACH_TEST(UNIT_TEST) cmocka_unit_test(the_main_threads_drain),
	        cmocka_unit_test(p10_a_thread_that_ends_inside),
	};

	if (!objects_begin())
		return 77;
	return cmocka_run_group_tests_name("bridge", tests, NULL, NULL);
}
