/* Without memory: each allocation in turn fails, and each object is released once. */
#include "pool_test.h"

#include <errno.h>

static _Thread_local int fail_at; /* this thread's allocation that fails, from 1; 0: none */
static _Thread_local int asked;

static int fails(void)
{
	return fail_at && ++asked == fail_at;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_pthread_setspecific(pthread_key_t key, const void *value);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_pthread_setspecific(pthread_key_t key, const void *value);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

int __wrap_pthread_setspecific(pthread_key_t key, const void *value)
{
	return fails() ? ENOMEM : __real_pthread_setspecific(key, value);
}

enum { OBJECTS = 600 };
static struct object objects[OBJECTS];

static void add(int i)
{
	void *result = rouse_autorelease(&objects[i], release_object);

	EXPECT(result == (objects[i].released ? NULL : &objects[i]));
	EXPECT(objects[i].released <= 1);
}

static void add_to(rouse_pool pool, int i)
{
	int result = rouse_autorelease_to(pool, &objects[i], release_object);

	EXPECT(objects[i].released == 0);
	if (result == 0)
		return;
	EXPECT(result == ROUSE_ENOMEM || (!pool.token && result == ROUSE_EINVAL));
	objects[i].released = 1;
}

static void ignore_group(rouse_release_fn release, size_t live, void *ctx)
{
	(void)live;
	(void)ctx;
	EXPECT(release == release_object);
}

static int failing, finished;

/* Everything that may ask for memory. */
static void live(void)
{
	rouse_pool outer, inner, oldest;
	rouse_pool_stack *stack;
	int result;

	fail_at = failing;
	asked = 0;
	memset(objects, 0, sizeof objects);
	EXPECT(rouse_pool_set_limits(0, UINT64_MAX) == 0);
	add(0);
	oldest = rouse_pool_push();
	for (int i = 1; i < 240; i++)
		add(i);
	outer = rouse_pool_push();
	inner = rouse_pool_push();
	for (int i = 240; i < 260; i++)
		add_to(outer, i);
	for (int i = 260; i < OBJECTS; i++)
		add(i);
	result = rouse_pool_walk(ignore_group, NULL);
	EXPECT(result == 0 || result == ROUSE_ENOMEM);
	result = rouse_pool_detach(outer, &stack);
	EXPECT(result == 0 || result == ROUSE_ENOMEM || !outer.token);
	if (result == 0) {
		/* So that it needs a chunk anew, in its middle. */
		rouse_pool_trim();
		EXPECT(rouse_pool_pop(outer) == ROUSE_ESTALE);
		result = rouse_pool_attach(stack);
		/* The second time there is memory. */
		if (result)
			EXPECT(result == ROUSE_ENOMEM && rouse_pool_attach(stack) == 0);
	}
	EXPECT(rouse_pool_pop(inner) >= 0);
	EXPECT(rouse_pool_pop(outer) >= 0);
	EXPECT(rouse_pool_pop(oldest) >= 0);
	finished = asked < failing;
	EXPECT(rouse_pool_set_limits(0, 0) == 0);
}

static void p16_each_allocation_fails_in_turn(void **state)
{
	(void)state;
	finished = 0;
	for (failing = 1; !finished; failing++) {
		on_a_thread(live);
		for (int i = 0; i < OBJECTS; i++)
			assert_int_equal(objects[i].released, 1);
		assert_int_equal(process_stats().live, 0);
		assert_int_equal(process_stats().bytes, 0);
	}
	/* A record, its arming, chunks, stamps, groups, a detached stack. */
	assert_true(failing > 6);
}

/* A pool that was not opened: what comes next goes into the one that was. */
static void push_without_memory(void)
{
	rouse_pool outer = rouse_pool_push(), none;
	static struct object filling[4096];
	int i = 0;

	memset(objects, 0, sizeof objects);
	/* To the end of the first chunk, and no further. */
	fail_at = 1;
	for (asked = 0; !asked; i++)
		(void)rouse_autorelease(&filling[i], release_object);
	EXPECT(filling[i - 1].released == 1);
	asked = 0;
	none = rouse_pool_push();
	EXPECT(!none.token && asked == 1);
	EXPECT(rouse_pool_pop(none) == 0);
	EXPECT(filling[0].released == 0);
	asked = 0;
	ROUSE_POOL_SCOPE
	{
		filling[4095].released = 7;
	}
	EXPECT(filling[4095].released == 7 && asked == 1);
	EXPECT(rouse_pool_pop(outer) == 0);
	for (int n = 0; n < i; n++)
		EXPECT(filling[n].released == 1);
}

static void p16_a_pool_that_was_not_opened(void **state)
{
	(void)state;
	on_a_thread(push_without_memory);
}

/* ---- Loops' pools of a thread that cannot begin ------------------------------------- */

static void add_two(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	fail_at = failing;
	asked = 0;
	add(0);
	finished = asked < failing;
	fail_at = 0;
	add(1);
	EXPECT(objects[0].released == !finished);
	EXPECT(objects[1].released == 0);
}

static void turn_without_memory(void)
{
	rouse_loop *loop;
	rouse_remote *remote;

	memset(objects, 0, sizeof objects);
	EXPECT(rouse_loop_create(NULL, &loop) == 0);
	remote = rouse_loop_remote(loop);
	EXPECT(rouse_post(remote, add_two, NULL, NULL) == 0);
	EXPECT(rouse_loop_turn(loop, 0) == 1);
	EXPECT(objects[0].released == 1 && objects[1].released == 1);
	EXPECT(thread_stats().missing == 0);
	rouse_remote_unref(remote);
	EXPECT(rouse_loop_destroy(loop) == 0);
}

static void p16_a_turns_pool_is_there_when_there_is_memory_again(void **state)
{
	(void)state;
	finished = 0;
	for (failing = 1; !finished; failing++)
		on_a_thread(turn_without_memory);
	assert_true(failing > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(p16_each_allocation_fails_in_turn),
	        cmocka_unit_test(p16_a_pool_that_was_not_opened),
	        cmocka_unit_test(p16_a_turns_pool_is_there_when_there_is_memory_again),
	};

	return cmocka_run_group_tests_name("pool_no_memory", tests, NULL, NULL);
}
