/* rouse-uv: what is libuv's own. */
#include "bare.h"

#include <rouse/uv.h>

#include <uv.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static uv_loop_t uv;

static int open_uv(void **state)
{
	(void)state;
	return uv_loop_init(&uv);
}

/* Nothing of ours is left in it. */
static int close_uv(void **state)
{
	(void)state;
	uv_run(&uv, UV_RUN_DEFAULT);
	return uv_loop_close(&uv);
}

static void bad_arguments_change_nothing(void **state)
{
	rouse_uv_options options = {.size = sizeof options, .uv = &uv};
	rouse_loop *loop = bare_loop();
	rouse_uv *attached = NULL;

	(void)state;
	assert_int_equal(rouse_uv_attach(NULL, &options, &attached), ROUSE_EINVAL);
	assert_int_equal(rouse_uv_attach(loop, NULL, &attached), ROUSE_EINVAL);
	options.size--;
	assert_int_equal(rouse_uv_attach(loop, &options, &attached), ROUSE_EINVAL);
	options.size++;
	options.uv = NULL;
	assert_int_equal(rouse_uv_attach(loop, &options, &attached), ROUSE_EINVAL);
	assert_null(attached);
	bare_assert_own(loop);
	assert_int_equal(rouse_uv_detach(NULL), 0);
	assert_null(rouse_uv_handle(NULL));
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void l9_no_memory_changes_nothing(void **state)
{
	const rouse_uv_options options = {.size = sizeof options, .uv = &uv};
	struct bare_memory memory;
	rouse_loop *loop = bare_loop_on(&memory);
	unsigned blocks = memory.blocks, posts = 0, failed = 0;
	rouse_uv *attached = NULL;
	int error = ROUSE_ENOMEM;

	(void)state;
	for (unsigned left = 0; error; left++) {
		memory.left = left;
		error = rouse_uv_attach(loop, &options, &attached);
		memory.left = 1000;
		if (!error)
			break;
		assert_int_equal(error, ROUSE_ENOMEM);
		assert_null(attached);
		assert_int_equal(memory.blocks, blocks);
		assert_false(uv_loop_alive(&uv));
		bare_assert_own(loop);
		failed++;
	}
	assert_true(failed > 1);
	bare_post(loop, &posts);
	while (!posts)
		uv_run(&uv, UV_RUN_ONCE);
	assert_int_equal(rouse_uv_detach(attached), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	/* What libuv has not closed yet. */
	assert_int_equal(memory.blocks, 1);
	uv_run(&uv, UV_RUN_DEFAULT);
	assert_int_equal(memory.blocks, 0);
}

static void unexpected(uv_poll_t *poll, int status, int events)
{
	(void)poll, (void)status, (void)events;
	abort();
}

/* libuv watches a descriptor once. */
static void what_libuv_refuses_changes_nothing(void **state)
{
	const rouse_uv_options options = {.size = sizeof options, .uv = &uv};
	rouse_loop *loop = bare_loop();
	rouse_uv *attached = NULL;
	unsigned posts = 0;
	uv_poll_t poll;
	rouse_fd fd;

	(void)state;
	assert_int_equal(rouse_loop_fd(loop, &fd), 0);
	assert_int_equal(uv_poll_init(&uv, &poll, fd), 0);
	assert_int_equal(uv_poll_start(&poll, UV_DISCONNECT, unexpected), 0);
	assert_int_equal(rouse_uv_attach(loop, &options, &attached), ROUSE_EOS);
	assert_null(attached);
	uv_poll_stop(&poll);
	uv_close((uv_handle_t *)&poll, NULL);
	uv_run(&uv, UV_RUN_DEFAULT);
	assert_int_equal(rouse_uv_attach(loop, &options, &attached), 0);
	bare_post(loop, &posts);
	while (!posts)
		uv_run(&uv, UV_RUN_ONCE);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* ---- What keeps uv_run() going ------------------------------------------------------------- */

static void detach(rouse_loop *loop, void *data)
{
	assert_int_equal(rouse_loop_stop(loop), 0);
	assert_int_equal(rouse_uv_detach(data), 0);
	assert_int_equal(rouse_uv_detach(data), ROUSE_ESTALE);
}

struct poster {
	rouse_remote *remote;
	rouse_uv *attached;
};

static void *detach_later(void *data)
{
	const struct poster *p = data;

	usleep(20000);
	return rouse_post(p->remote, detach, p->attached, NULL) < 0 ? data : NULL;
}

static void run_goes_on_while_attached(void **state)
{
	struct bare_told told = {0};
	const rouse_uv_options options = {
	        .size = sizeof options, .uv = &uv, .done = bare_done, .data = &told};
	rouse_loop *loop = bare_loop();
	struct poster p = {.remote = rouse_loop_remote(loop)};
	pthread_t thread;
	void *failed;

	(void)state;
	assert_int_equal(rouse_uv_attach(loop, &options, &p.attached), 0);
	assert_true(uv_has_ref(rouse_uv_handle(p.attached)));
	assert_int_equal(pthread_create(&thread, NULL, detach_later, &p), 0);
	/* Until it is detached, and no longer. */
	assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	/* Nor is a stop of that callback's told to who has let go. */
	assert_int_equal(told.times, 0);
	rouse_remote_unref(p.remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void end_timer(uv_timer_t *timer)
{
	uv_close((uv_handle_t *)timer, NULL);
}

static void unreferenced_it_is_served_as_long_as_there_is_something_else(void **state)
{
	const rouse_uv_options options = {.size = sizeof options, .uv = &uv};
	rouse_loop *loop = bare_loop();
	unsigned posts = 0;
	rouse_uv *attached;
	uv_timer_t timer;

	(void)state;
	assert_int_equal(rouse_uv_attach(loop, &options, &attached), 0);
	uv_unref(rouse_uv_handle(attached));
	assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
	uv_timer_init(&uv, &timer);
	uv_timer_start(&timer, end_timer, 20, 0);
	bare_post(loop, &posts);
	assert_int_equal(uv_run(&uv, UV_RUN_DEFAULT), 0);
	assert_int_equal(posts, 1);
	assert_int_equal(rouse_uv_detach(attached), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* ---- Threads and forks -------------------------------------------------------------------------
 */

static void *run_elsewhere(void *data)
{
	(void)data;
	uv_run(&uv, UV_RUN_DEFAULT);
	return NULL;
}

static void l7_run_on_another_thread_is_told_once(void **state)
{
	struct bare_told told = {0};
	const rouse_uv_options options = {
	        .size = sizeof options, .uv = &uv, .done = bare_done, .data = &told};
	rouse_loop *loop = bare_loop();
	rouse_uv *attached;
	unsigned posts = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(rouse_uv_attach(loop, &options, &attached), 0);
	bare_post(loop, &posts);
	assert_int_equal(pthread_create(&thread, NULL, run_elsewhere, NULL), 0);
	/* It returns: there is nothing to go on for. */
	pthread_join(thread, NULL);
	assert_int_equal(told.times, 1);
	assert_int_equal(told.result, ROUSE_EWRONGTHREAD);
	assert_int_equal(posts, 0);
	assert_int_equal(rouse_uv_detach(attached), 0);
	assert_int_equal(rouse_loop_turn(loop, 0), 1);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static int in_child(rouse_loop *loop, const struct bare_told *told, int after_fork)
{
	unsigned posts = 0;

	if (uv_loop_fork(&uv))
		return 1;
	if (after_fork) {
		if (rouse_loop_after_fork(loop))
			return 2;
		bare_post(loop, &posts);
		while (!posts)
			uv_run(&uv, UV_RUN_ONCE);
		return told->times ? 3 : 0;
	}
	uv_run(&uv, UV_RUN_DEFAULT);
	return told->times == 1 && told->result == ROUSE_EFORKED ? 0 : 4;
}

static void f10_a_forked_child_is_told_once(void **state)
{
	struct bare_told told = {0};
	const rouse_uv_options options = {
	        .size = sizeof options, .uv = &uv, .done = bare_done, .data = &told};
	rouse_loop *loop = bare_loop();
	unsigned posts = 0;

	(void)state;
	assert_int_equal(rouse_uv_attach(loop, &options, NULL), 0);
	for (int after_fork = 0; after_fork < 2; after_fork++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			_exit(in_child(loop, &told, after_fork));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	bare_post(loop, &posts);
	while (!posts)
		uv_run(&uv, UV_RUN_ONCE);
	assert_int_equal(told.times, 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

#define uv_test(fn) cmocka_unit_test_setup_teardown(fn, open_uv, close_uv)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        uv_test(bad_arguments_change_nothing),
	        uv_test(l9_no_memory_changes_nothing),
	        uv_test(what_libuv_refuses_changes_nothing),
	        uv_test(run_goes_on_while_attached),
	        uv_test(unreferenced_it_is_served_as_long_as_there_is_something_else),
	        uv_test(l7_run_on_another_thread_is_told_once),
	        uv_test(f10_a_forked_child_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
