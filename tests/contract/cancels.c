/* Posts that are taken back by their data: each is cancelled once or runs once, in order. */
#include "journal.h"

#include "base/list.h"
#include "core/fault.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which, how many, in which order ------------------------------------------------ */

static void all_of_this_data_and_no_other(void **state)
{
	begin(state, 0);
	post_all("abacab");
	assert_int_equal(cancel('a'), 3);
	assert_string_equal(j.text, "AAA");
	assert_int_equal(cancel('a'), 0);
	assert_int_equal(cancel('z'), 0);
	expect("AAAbcb");
}

static void what_is_posted_after_it_comes_after(void **state)
{
	begin(state, 2);
	post_all("abcadd");
	while (env_turn(j.env, ROUSE_NEVER) == 0)
		;
	post_all("ae");
	assert_int_equal(cancel('a'), 2);
	post_all("fa");
	ENV_UNTIL(j.env, j.length == 10);
	expect("abAAcddefa");
}

static int next_number;

static void cancel_numbered(void *data)
{
	(void)data;
	write_down((char)('0' + next_number++));
}

static void cancel_tens(void *data)
{
	(void)data;
	write_down((char)('A' + next_number++));
}

/* One data, told apart by their cancel functions. */
static void in_the_order_of_the_posts(void **state)
{
	begin(state, 2);
	next_number = 0;
	for (int i = 0; i < 6; i++)
		assert_int_equal(rouse_post(j.remote, run_letter, of('a'),
		                            i % 2 ? cancel_tens : cancel_numbered),
		                 0);
	/* Some of them were taken by a turn that left them over, some are queued. */
	while (env_turn(j.env, ROUSE_NEVER) == 0)
		;
	assert_string_equal(j.text, "aa");
	for (int i = 0; i < 4; i++)
		assert_int_equal(rouse_post(j.remote, run_letter, of('a'),
		                            i % 2 ? cancel_numbered : cancel_tens),
		                 0);
	assert_int_equal(cancel('a'), 8);
	expect("aa0B2DE5G7");
}

/* Every choice of five, part of them left over by a turn, part queued since. */
static void whichever_of_them(void **state)
{
	for (int taken = 0; taken <= 5; taken++) {
		for (unsigned chosen = 0; chosen < 32; chosen++) {
			char expected[64] = "z", *end = expected + 1;
			int count = 0;

			begin(state, 1);
			/* Runs alone, and what it was taken with is left over. */
			post('z');
			for (int i = 0; i < 5; i++) {
				if (i == taken)
					while (env_turn(j.env, ROUSE_NEVER) == 0)
						;
				post(chosen & 1u << i ? 'x' : (char)('a' + i));
			}
			if (taken == 5)
				while (env_turn(j.env, ROUSE_NEVER) == 0)
					;
			for (int i = 0; i < 5; i++)
				count += (chosen & 1u << i) != 0;
			assert_int_equal(cancel('x'), count);
			post('y');
			assert_int_equal(cancel('x'), 0);
			for (int i = 0; i < count; i++)
				*end++ = 'X';
			for (int i = 0; i < 5; i++)
				if (!(chosen & 1u << i))
					*end++ = (char)('a' + i);
			strcpy(end, "y");
			expect(expected);
		}
	}
}

static void without_a_cancel_function_and_without_data(void **state)
{
	begin(state, 0);
	post('a');
	assert_int_equal(rouse_post(j.remote, run_letter, of('b'), NULL), 0);
	assert_int_equal(rouse_post(j.remote, count_run, NULL, NULL), 0);
	post('b');
	assert_int_equal(rouse_post(j.remote, count_run, NULL, NULL), 0);
	assert_int_equal(cancel('b'), 2);
	assert_int_equal(rouse_cancel_posts(j.env->loop, NULL), 2);
	assert_int_equal(rouse_cancel_posts(NULL, NULL), ROUSE_EINVAL);
	expect("Ba");
}

/* ---- What is no post stays ---------------------------------------------------------- */

struct bystander {
	rouse_task task;
	rouse_waker *waker;
	int ran, result;
};

static void run_bystander(rouse_loop *loop, void *data)
{
	struct bystander *b = data;

	(void)loop;
	b->ran++;
}

static void run_task(rouse_loop *loop, rouse_task *task)
{
	run_bystander(loop, ROUSE__CONTAINER(task, struct bystander, task));
}

static void cancel_task(rouse_task *task)
{
	(void)task;
	fail();
}

static atomic_int published;

static void note_published(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__PUBLISHED)
		atomic_store(&published, 1);
}

static void *call_bystander(void *data)
{
	struct bystander *b = data;

	b->result = rouse_call(j.remote, run_bystander, b);
	return NULL;
}

static void tasks_wakers_calls_and_stops_stay(void **state)
{
	struct bystander b = {.result = -1};
	pthread_t thread;

	begin(state, 0);
	b.task = (rouse_task){.run = run_task, .cancel = cancel_task};
	assert_int_equal(rouse_waker_create(j.env->loop, run_bystander, &b, &b.waker), 0);
	assert_int_equal(rouse_post(j.remote, run_bystander, &b, NULL), 0);
	assert_int_equal(rouse_post_task(j.remote, &b.task), 0);
	assert_true(rouse_wake(b.waker) >= 0);
	assert_int_equal(rouse_remote_stop(j.remote), 0);
	atomic_store(&published, 0);
	rouse__fault_pause(note_published, NULL);
	thread = env_start(call_bystander, &b);
	while (!atomic_load(&published))
		sched_yield();
	rouse__fault_pause(NULL, NULL);
	assert_int_equal(rouse_cancel_posts(j.env->loop, &b), 1);
	assert_int_equal(rouse_cancel_posts(j.env->loop, &b.task), 0);
	assert_int_equal(rouse_cancel_posts(j.env->loop, b.waker), 0);
	ENV_UNTIL(j.env, b.ran == 3);
	assert_int_equal(rouse_loop_take_stop(j.env->loop), 1);
	env_join(thread);
	assert_int_equal(b.result, 0);
	rouse_waker_unref(b.waker);
	expect("");
	assert_int_equal(b.ran, 3);
}

/* ---- The wait after it -------------------------------------------------------------- */

static atomic_int asleep;

static void note_sleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP)
		atomic_fetch_add(&asleep, 1);
}

static void *post_when_asleep(void *data)
{
	while (!atomic_load(&asleep))
		sched_yield();
	return rouse_post(j.remote, run_letter, data, NULL) < 0 ? data : NULL;
}

static void left_over_and_cancelled_it_does_not_keep_the_loop_awake(void **state)
{
	pthread_t thread;

	begin(state, 2);
	post_all("bbaaaaa");
	while (env_turn(j.env, ROUSE_NEVER) == 0)
		;
	assert_int_equal(cancel('a'), 5);
	/* A ring may be left from the posts; a second one is not. */
	env_drain(j.env);
	atomic_store(&asleep, 0);
	rouse__fault_pause(note_sleep, NULL);
	thread = env_start(post_when_asleep, of('c'));
	ENV_UNTIL(j.env, j.length == 8);
	rouse__fault_pause(NULL, NULL);
	assert_in_range(atomic_load(&asleep), 1, 2);
	env_join(thread);
	expect("bbAAAAAc");
}

static void a_flood_that_is_taken_back_leaves_no_post_out(void **state)
{
	rouse_stats before = {.size = sizeof before}, after = {.size = sizeof after};

	begin(state, 0);
	assert_int_equal(rouse_loop_stats(j.env->loop, &before), 0);
	for (int i = 0; i < 1000; i++) {
		int data, ran = 0;

		assert_int_equal(rouse_post(j.remote, count_run, &data, NULL), 0);
		assert_int_equal(rouse_post(j.remote, count_run, &ran, NULL), 0);
		assert_int_equal(rouse_cancel_posts(j.env->loop, &data), 1);
		ENV_UNTIL(j.env, ran);
	}
	assert_int_equal(rouse_loop_stats(j.env->loop, &after), 0);
	assert_int_equal(after.posts_cancelled - before.posts_cancelled, 1000);
	assert_int_equal(after.posts_run - before.posts_run, 1000);
	expect("");
}

/* ---- Memory ------------------------------------------------------------------------- */

static atomic_uint allocations;

static void *alloc(size_t size, void *ctx)
{
	(void)ctx;
	atomic_fetch_add(&allocations, 1);
	return malloc(size);
}

static void release(void *ptr, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	free(ptr);
}

static void cancelled_nodes_are_used_again(void **state)
{
	struct env *env = *state;
	static const rouse_allocator allocator = {alloc, release, NULL};
	const rouse_loop_options options = {.size = sizeof options,
	                                    .poller = rouse_loop_poller(env->loop),
	                                    .allocator = &allocator};
	unsigned made = 0;
	rouse_loop *loop;
	rouse_remote *remote;
	int data;

	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	remote = rouse_loop_remote(loop);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 300; i++)
			assert_int_equal(rouse_post(remote, count_run, &data, NULL), 0);
		assert_int_equal(rouse_cancel_posts(loop, &data), 300);
		if (round == 0)
			made = atomic_load(&allocations);
	}
	assert_int_equal(atomic_load(&allocations), made);
	rouse_remote_unref(remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(all_of_this_data_and_no_other),
	        env_test(what_is_posted_after_it_comes_after),
	        env_test(in_the_order_of_the_posts),
	        env_test(whichever_of_them),
	        env_test(without_a_cancel_function_and_without_data),
	        env_test(tasks_wakers_calls_and_stops_stay),
	        env_test(left_over_and_cancelled_it_does_not_keep_the_loop_awake),
	        env_test(a_flood_that_is_taken_back_leaves_no_post_out),
	        env_test(cancelled_nodes_are_used_again),
	};

	return env_main(argc, argv, "cancels", tests, sizeof tests / sizeof *tests);
}
