/* A loop's pools: where they are pushed and popped, on every poller and as a guest. */
#include "../contract/env.h"

#include "core/fault.h"

#include <rouse/pool.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static char order[64]; /* what was released, a letter each */

static void release(void *letter)
{
	size_t end = strlen(order);

	assert_true(end + 1 < sizeof order);
	order[end] = *(const char *)letter;
	order[end + 1] = 0;
}

static const char letters[] = "abcdefgh";

static void add(int n)
{
	assert_ptr_equal(rouse_autorelease((void *)(uintptr_t)&letters[n], release), &letters[n]);
}

static rouse_pool_stats stats(void)
{
	rouse_pool_stats now = {.size = sizeof now};

	assert_int_equal(rouse_pool_stats_thread(&now), 0);
	return now;
}

static uint64_t missing(void)
{
	return stats().missing;
}

static int setup_with(void **state, unsigned policy)
{
	env_pool = policy;
	order[0] = 0;
	return env_setup(state);
}

static int setup_per_turn(void **state)
{
	return setup_with(state, ROUSE_POOL_PER_TURN);
}

static int setup_per_callback(void **state)
{
	return setup_with(state, ROUSE_POOL_PER_CALLBACK);
}

static int setup_none(void **state)
{
	return setup_with(state, ROUSE_POOL_NONE);
}

static void post(struct env *env, rouse_post_fn fn, void *data)
{
	rouse_remote *remote = rouse_loop_remote(env->loop);

	assert_int_equal(rouse_post(remote, fn, data, NULL), 0);
	rouse_remote_unref(remote);
}

/* ---- Nothing for nothing ---------------------------------------------------------------- */

static void nothing(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
}

static void *wake_and_post(void *data)
{
	struct env *env = data;
	int ran = 0;
	rouse_remote *remote = rouse_loop_remote(env->loop);

	/* That it waits shows that it ran. */
	if (rouse_call(remote, nothing, &ran) || ran != 1)
		return env;
	rouse_remote_unref(remote);
	return stats().bytes || stats().missing ? env : NULL;
}

static _Atomic int over;

static void *wake_and_stop(void *data)
{
	void *result = wake_and_post(data);

	atomic_store(&over, 1);
	return result;
}

/* The first test: no pool was used in this process. */
static void p14_waking_and_posting_need_no_pool(void **state)
{
	struct env *env = *state;
	rouse_pool_stats all = {.size = sizeof all};
	rouse_waker *waker;
	pthread_t thread;
	int ran = 0;

	atomic_store(&over, 0);
	assert_int_equal(rouse_waker_create(env->loop, nothing, &ran, &waker), 0);
	for (int i = 0; i < 10; i++) {
		assert_true(rouse_wake(waker) >= 0);
		post(env, nothing, &ran);
		env_turn(env, ROUSE_NEVER);
	}
	assert_int_equal(ran, 20);
	thread = env_start(wake_and_stop, env);
	while (!atomic_load(&over))
		env_turn(env, env->null ? 0 : 1000000);
	env_join(thread);
	rouse_waker_unref(waker);
	assert_int_equal(rouse_pool_stats_process(&all), 0);
	assert_int_equal(all.bytes, 0);
	assert_int_equal(all.missing + all.released + all.live, 0);
}

/* ---- When ----------------------------------------------------------------------------------- */

static void add_a(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	add(0);
}

static char seen[64];

static void see_and_add_b(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	strcpy(seen, order);
	add(1);
}

static void two_callbacks(struct env *env)
{
	strcpy(seen, "?");
	post(env, add_a, NULL);
	post(env, see_and_add_b, NULL);
	assert_int_equal(env_turn(env, ROUSE_NEVER), 2);
}

static void p13_one_around_a_turn(void **state)
{
	uint64_t before = missing();

	assert_true(rouse_loop_caps(((struct env *)*state)->loop) & ROUSE_CAP_POOL);
	two_callbacks(*state);
	assert_string_equal(seen, "");
	assert_string_equal(order, "ba");
	assert_int_equal(missing(), before);
	assert_int_equal(stats().live, 0);
}

static void p13_one_around_each_callback(void **state)
{
	uint64_t before = missing();

	assert_true(rouse_loop_caps(((struct env *)*state)->loop) & ROUSE_CAP_POOL);
	two_callbacks(*state);
	assert_string_equal(seen, "a");
	assert_string_equal(order, "ab");
	assert_int_equal(missing(), before);
}

static void p13_none(void **state)
{
	uint64_t before = missing();

	assert_false(rouse_loop_caps(((struct env *)*state)->loop) & ROUSE_CAP_POOL);
	two_callbacks(*state);
	assert_string_equal(order, "");
	assert_int_equal(missing(), before + 2);
	assert_int_equal(rouse_pool_drain_thread(), 2);
	assert_string_equal(order, "ba");
	order[0] = 0;
	ROUSE_POOL_SCOPE
	{
		two_callbacks(*state);
		assert_string_equal(order, "");
	}
	assert_string_equal(order, "ba");
}

static void no_other_policy(void **state)
{
	rouse_loop_options options = {.size = sizeof options, .pool = ROUSE_POOL_NONE + 1};
	rouse_loop *loop;

	(void)state;
	assert_int_equal(rouse_loop_create(&options, &loop), ROUSE_EINVAL);
}

/* ---- Whose callbacks ---------------------------------------------------------------------- */

static void add_by_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	++*(int *)data;
	add(2);
}

static void add_by_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)fd, (void)events;
	++*(int *)data;
	add(3);
	assert_int_equal(rouse_remove(loop, self), 0);
}

static void add_by_waker(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
	add(4);
}

static void every_kind(void **state)
{
	struct env *env = *state;
	uint64_t before = missing();
	struct channel channel;
	rouse_waker *waker;
	int ran = 0;

	assert_int_equal(rouse_timer_add(env->loop, 0, 0, 0, add_by_timer, &ran, NULL), 0);
	assert_int_equal(rouse_waker_create(env->loop, add_by_waker, &ran, &waker), 0);
	channel_open(env, &channel);
	channel_fill(env, &channel);
	assert_int_equal(rouse_fd_add(env->loop, channel.fd, ROUSE_READABLE, add_by_fd, &ran, NULL),
	                 0);
	assert_true(rouse_wake(waker) >= 0);
	ENV_UNTIL(env, ran == 3);
	assert_int_equal(strlen(order), 3);
	assert_non_null(strchr(order, 'c'));
	assert_non_null(strchr(order, 'd'));
	assert_non_null(strchr(order, 'e'));
	assert_int_equal(missing(), before);
	rouse_waker_unref(waker);
	channel_close(env, &channel);
}

static void p13_every_kind_in_a_turns(void **state)
{
	every_kind(state);
}

static void p13_every_kind_in_its_own(void **state)
{
	every_kind(state);
}

static rouse_ns add_in_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)loop, (void)self, (void)flags, (void)data;
	add(5);
	return 0;
}

static int add_in_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)loop, (void)self, (void)ready, (void)data;
	add(6);
	return 1;
}

static int add_in_dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)loop, (void)self, (void)budget;
	++*(int *)data;
	add(7);
	return 1;
}

static void add_in_release(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
	add(0);
}

static void p13_what_hooks_add(void **state)
{
	struct env *env = *state;
	uint64_t before = missing();
	int ran = 0;
	const rouse_hook hook = {
	        .size = sizeof hook,
	        .fd = ROUSE_NO_FD,
	        .prepare = add_in_prepare,
	        .check = add_in_check,
	        .dispatch = add_in_dispatch,
	        .release = add_in_release,
	};
	rouse_source source;

	assert_int_equal(rouse_hook_add(env->loop, &hook, &ran, &source), 0);
	ENV_UNTIL(env, ran);
	assert_non_null(strstr(order, "fgh"));
	assert_int_equal(missing(), before);
	assert_int_equal(stats().live, 0);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	assert_int_equal(order[strlen(order) - 1], 'a');
	assert_int_equal(missing(), before);
}

static void cancelled(void *data)
{
	(void)data;
	add(1);
}

static void p13_what_the_loops_end_adds(void **state)
{
	struct env *env = *state;
	uint64_t before = missing();
	rouse_remote *remote = rouse_loop_remote(env->loop);

	assert_int_equal(rouse_post(remote, add_a, env, cancelled), 0);
	assert_int_equal(rouse_cancel_posts(env->loop, env), 1);
	assert_string_equal(order, "b");
	assert_int_equal(rouse_post(remote, add_a, NULL, cancelled), 0);
	env_close(env);
	assert_string_equal(order, "bb");
	assert_int_equal(missing(), before);
	rouse_remote_unref(remote);
}

static void *call_in(void *data)
{
	struct env *env = data;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	int error = rouse_call(remote, add_a, NULL);

	rouse_remote_unref(remote);
	atomic_store(&over, 1);
	return error ? env : NULL;
}

static void p13_a_call_is_inside(void **state)
{
	struct env *env = *state;
	uint64_t before = missing();
	rouse_remote *remote = rouse_loop_remote(env->loop);
	pthread_t thread;

	atomic_store(&over, 0);
	thread = env_start(call_in, env);
	while (!atomic_load(&over))
		env_turn(env, env->null ? 0 : 1000000);
	env_join(thread);
	assert_string_equal(order, "a");
	assert_int_equal(rouse_call(remote, add_a, NULL), 0);
	assert_string_equal(order, "aa");
	assert_int_equal(missing(), before);
	rouse_remote_unref(remote);
}

/* ---- Where none is open ---------------------------------------------------------------------- */

static unsigned added_asleep;

static void add_asleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point != ROUSE__MARKED_ASLEEP)
		return;
	added_asleep++;
	add(7);
}

static void p13_none_is_open_across_the_wait(void **state)
{
	struct env *env = *state;
	uint64_t before = missing();
	int ran = 0;

	added_asleep = 0;
	post(env, nothing, &ran);
	rouse__fault_pause(add_asleep, NULL);
	env_turn(env, ROUSE_NEVER);
	rouse__fault_pause(NULL, NULL);
	assert_true(added_asleep > 0);
	assert_int_equal(missing() - before, added_asleep);
	assert_int_equal(rouse_pool_drain_thread(), added_asleep);
}

/* ---- Nested ------------------------------------------------------------------------------------
 */

static void turn_inside(rouse_loop *loop, void *data)
{
	struct env *env = data;

	(void)loop;
	add(0);
	post(env, see_and_add_b, NULL);
	while (!strcmp(seen, "?"))
		env_turn(env, ROUSE_NEVER);
	/* The nested turn has drained its own, and this one's is still there. */
	assert_string_equal(order, "b");
}

static void p13_a_nested_turn_has_its_own(void **state)
{
	struct env *env = *state;

	strcpy(seen, "?");
	post(env, turn_inside, env);
	env_turn(env, ROUSE_NEVER);
	assert_string_equal(order, "ba");
}

/* ---- Release functions --------------------------------------------------------------------- */

static struct env *env_inside;
static int turned, destroyed;

static void use_the_loop(void *ran)
{
	turned = rouse_loop_turn(env_inside->loop, 0);
	destroyed = rouse_loop_destroy(env_inside->loop);
	post(env_inside, nothing, ran);
}

static void add_user(rouse_loop *loop, void *ran)
{
	(void)loop;
	assert_ptr_equal(rouse_autorelease(ran, use_the_loop), ran);
}

static void p13_a_release_is_a_callback(void **state)
{
	int ran = 0;

	env_inside = *state;
	post(env_inside, add_user, &ran);
	env_turn(env_inside, ROUSE_NEVER);
	assert_int_equal(destroyed, ROUSE_EBUSY);
	if (env_inside->host == UNHOSTED)
		assert_int_equal(turned, ROUSE_EBUSY);
	else
		assert_true(turned >= 0);
	ENV_UNTIL(env_inside, ran == 1);
}

int main(int argc, char **argv)
{
#define IN(policy, fn) cmocka_unit_test_setup_teardown(fn, setup_##policy, env_teardown)
#define TEST_NESTED(policy, fn)                                                                    \
	{                                                                                          \
#fn, fn, setup_##policy, env_teardown, (void *)(uintptr_t)(DESCRIPTOR | BRACKET)   \
	}
#define TEST_PER_TURN(fn) IN(per_turn, fn)
#define TEST_PER_CALLBACK(fn) IN(per_callback, fn)
#define TEST_NONE(fn) IN(none, fn)
	const struct CMUnitTest tests[] = {
	        TEST_PER_TURN(p14_waking_and_posting_need_no_pool),
	        TEST_PER_CALLBACK(p14_waking_and_posting_need_no_pool),
	        TEST_PER_TURN(p13_one_around_a_turn),
	        TEST_PER_CALLBACK(p13_one_around_each_callback),
	        TEST_NONE(p13_none),
	        TEST_PER_TURN(no_other_policy),
	        TEST_PER_TURN(p13_every_kind_in_a_turns),
	        TEST_PER_CALLBACK(p13_every_kind_in_its_own),
	        TEST_PER_TURN(p13_what_hooks_add),
	        TEST_PER_CALLBACK(p13_what_hooks_add),
	        TEST_PER_TURN(p13_what_the_loops_end_adds),
	        TEST_PER_CALLBACK(p13_what_the_loops_end_adds),
	        TEST_PER_TURN(p13_a_call_is_inside),
	        TEST_PER_CALLBACK(p13_a_call_is_inside),
	        TEST_PER_TURN(p13_none_is_open_across_the_wait),
	        TEST_PER_CALLBACK(p13_none_is_open_across_the_wait),
	        TEST_NESTED(per_turn, p13_a_nested_turn_has_its_own),
	        TEST_NESTED(per_callback, p13_a_nested_turn_has_its_own),
	        TEST_PER_TURN(p13_a_release_is_a_callback),
	        TEST_PER_CALLBACK(p13_a_release_is_a_callback),
	};

	return env_main(argc, argv, "pool_loops", tests, sizeof tests / sizeof *tests);
}
