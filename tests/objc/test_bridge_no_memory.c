/* Every allocation of a bridged thread fails, one after the other. */
#include "../pool/pool_test.h"

#include "objects.h"

static int fail_at, asked;

static int fails(void)
{
	return fail_at && ++asked == fail_at;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

enum { POOLS = 300 }; /* more than the first chunk has room for */

static int failing, finished;

static void live(void)
{
	void *outside = their_pool(), *newest;
	static rouse_pool pools[POOLS];
	int failed = 0;

	asked = 0;
	fail_at = failing;
	for (int i = 0; i < POOLS; i++) {
		newest = their_newest();
		pools[i] = rouse_pool_push();
		failed += !pools[i].token;
		if (!pools[i].token)
			EXPECT(their_newest() == newest);
		object_autorelease(object_new(NULL, NULL));
		EXPECT(objects_alive() == i + 1);
	}
	finished = asked < failing;
	fail_at = 0;
	EXPECT(failed == !finished);
	for (int i = POOLS; i-- > 0;)
		EXPECT(rouse_pool_pop(pools[i]) == 0);
	/* What the first one did not take. */
	EXPECT(objects_alive() == !pools[0].token);
	EXPECT(thread_stats().live == 0 && thread_stats().skipped == 0);
	their_pool_drain(outside);
	EXPECT(objects_alive() == 0);
}

static void p16_each_allocation_fails_in_turn(void **state)
{
	(void)state;
	for (failing = 1, finished = 0; !finished; failing++)
		on_a_thread(live);
	/* The thread's record, a chunk, the list of theirs thrice or more, and a chunk. */
	assert_true(failing > 6);
}

static void nothing(rouse_loop *loop, void *ran)
{
	(void)loop;
	++*(int *)ran;
}

static void their_add(rouse_loop *loop, void *unused)
{
	(void)loop, (void)unused;
	object_autorelease(object_new(NULL, NULL));
}

/* A turn whose pool there is no memory for has none, and the next one has. */
static void turn(void)
{
	rouse_loop *loop;
	rouse_remote *remote;
	int ran = 0;

	EXPECT(rouse_loop_create(NULL, &loop) == 0);
	remote = rouse_loop_remote(loop);
	EXPECT(rouse_post(remote, nothing, &ran, NULL) == 0);
	asked = 0;
	fail_at = 1;
	EXPECT(rouse_loop_turn(loop, ROUSE_NEVER) == 1 && ran == 1);
	EXPECT(asked == 1);
	fail_at = 0;
	EXPECT(rouse_post(remote, their_add, NULL, NULL) == 0);
	EXPECT(rouse_loop_turn(loop, ROUSE_NEVER) == 1);
	EXPECT(objects_alive() == 0);
	rouse_remote_unref(remote);
	EXPECT(rouse_loop_destroy(loop) == 0);
}

static void p16_a_turn_without_memory(void **state)
{
	(void)state;
	on_a_thread(turn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(p16_each_allocation_fails_in_turn),
	        cmocka_unit_test(p16_a_turn_without_memory),
	};

	if (!objects_begin())
		return 77;
	if (rouse_pool_bridge_objc())
		return 1;
	return cmocka_run_group_tests_name("bridge_no_memory", tests, NULL, NULL);
}
