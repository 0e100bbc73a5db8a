/* Objects that are numbers, and that note when they are released; each test on a new thread. */
#ifndef TESTS_POOL_POOL_ORDER_H
#define TESTS_POOL_POOL_ORDER_H

#include "pool_test.h"

/* What was released, in this order. */
static int order[64], ordered;

/* An object is its number. */
static inline void note(void *object)
{
	EXPECT(ordered < (int)COUNT(order));
	order[ordered++] = (int)(intptr_t)object;
}

static inline void expect_order(const int *numbers, int count)
{
	EXPECT(ordered == count);
	for (int i = 0; i < count; i++)
		EXPECT(order[i] == numbers[i]);
	ordered = 0;
}
#define EXPECT_ORDER(...)                                                                          \
	expect_order((const int[]){__VA_ARGS__}, (int)COUNT(((const int[]){__VA_ARGS__})))

static inline void add(int number)
{
	EXPECT(rouse_autorelease((void *)(intptr_t)number, note) == (void *)(intptr_t)number);
}

static int released;

static inline void count_release(void *object)
{
	(void)object;
	released++;
}

static inline void add_many(int count)
{
	for (int i = 0; i < count; i++)
		EXPECT(rouse_autorelease(order, count_release) == order);
}

#define ON_A_THREAD(fn)                                                                            \
	static void test_##fn(void **state)                                                        \
	{                                                                                          \
		(void)state;                                                                       \
		ordered = 0;                                                                       \
		on_a_thread(fn);                                                                   \
	}
#define UNIT_TEST(fn) cmocka_unit_test(test_##fn),

#endif
