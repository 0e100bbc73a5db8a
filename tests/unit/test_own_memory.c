/*
 * With an allocator of the caller's the library asks nobody else for memory: a life that uses all
 * there is, with the C library's functions watched (the linker puts these in their place).
 */
#include "unit.h"

#include <rouse/null.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_uint watching, asked;

static void note(void)
{
	if (atomic_load(&watching))
		atomic_fetch_add(&asked, 1);
}

#define WRAP(result, name, parameters, arguments)                                                  \
	result __real_##name parameters;                                                           \
	result __wrap_##name parameters;                                                           \
	result __wrap_##name parameters                                                            \
	{                                                                                          \
		note();                                                                            \
		return __real_##name arguments;                                                    \
	}

WRAP(void *, malloc, (size_t size), (size))
WRAP(void *, calloc, (size_t count, size_t size), (count, size))
WRAP(void *, realloc, (void *old, size_t size), (old, size))

/* ---- The caller's memory ------------------------------------------------------------ */

static _Alignas(max_align_t) unsigned char arena[1 << 20];
static atomic_size_t used;

static void *take(size_t size, void *ctx)
{
	size_t rounded = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t);
	size_t at = atomic_fetch_add(&used, rounded * sizeof(max_align_t));

	(void)ctx;
	return at + size <= sizeof arena ? arena + at : NULL;
}

static void give(void *ptr, size_t size, void *ctx)
{
	(void)ptr;
	(void)size;
	(void)ctx;
}

/* ---- The life -------------------------------------------------------------------------- */

static int ran;

static void on_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop, (void)self, (void)signo, (void)data;
	ran++;
}

static void on_child(rouse_loop *loop, rouse_source self, rouse_process process,
                     const rouse_exit *how, void *data)
{
	(void)loop, (void)self, (void)process, (void)data;
	assert_true(how->known);
	ran++;
}

static void *calls(void *data)
{
	int n = 0;

	assert_int_equal(rouse_call(data, count_call, &n), 0);
	assert_int_equal(n, 1);
	return NULL;
}

static void call_from_a_thread(rouse_loop *loop, rouse_remote *remote)
{
	rouse_stats before = stats_of(loop);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, calls, remote), 0);
	while (stats_of(loop).posts_run == before.posts_run)
		assert_true(rouse_loop_turn(loop, ROUSE_NEVER) >= 0);
	pthread_join(thread, NULL);
}

static void watch_a_child(rouse_loop *loop)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(0);
	assert_int_equal(rouse_child_add(loop, child, on_child, NULL, NULL), 0);
	ran = 0;
	while (!ran)
		assert_true(rouse_loop_turn(loop, ROUSE_NEVER) >= 0);
}

static void live(const char *poller, const rouse_allocator *allocator)
{
	const rouse_loop_options options = {
	        .size = sizeof options, .poller = poller, .allocator = allocator};
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};
	rouse_loop *loop;
	rouse_remote *remote;
	rouse_waker *waker;
	rouse_source source;
	rouse_fd fd;
	int n = 0, ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	remote = rouse_loop_remote(loop);
	assert_int_equal(rouse_waker_create(loop, count_call, &n, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(rouse_post(remote, count_call, &n, NULL), 0);
		assert_int_equal(rouse_timer_add(loop, 1, 0, 0, ignore_timer, NULL, NULL), 0);
	}
	assert_int_equal(rouse_post(remote, count_call, &ends, NULL), 0);
	assert_int_equal(rouse_cancel_posts(loop, &ends), 1);
	assert_int_equal(
	        rouse_fd_add(loop, has_descriptors(loop) ? ends[0] : 3, 0, ignore_fd, NULL, NULL),
	        0);
	assert_int_equal(rouse_hook_add(loop, &hook, NULL, &source), 0);
	assert_int_equal(rouse_signal_add(loop, SIGUSR1, on_signal, NULL, NULL), 0);
	ran = 0;
	assert_int_equal(raise(SIGUSR1), 0);
	while (!ran || n < 101)
		assert_true(rouse_loop_turn(loop, 0) >= 0);
	call_from_a_thread(loop, remote);
	if (rouse_loop_caps(loop) & ROUSE_CAP_CHILD)
		watch_a_child(loop);
	if (rouse_loop_caps(loop) & ROUSE_CAP_POLLABLE)
		assert_int_equal(rouse_loop_fd(loop, &fd), 0);
	assert_int_equal(rouse_remove(loop, source), 0);
	assert_int_equal(rouse_post(remote, count_call, &n, count_cancel), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	rouse_waker_unref(waker);
	rouse_remote_unref(remote);
	close(ends[0]);
	close(ends[1]);
}

static void all_memory_is_the_callers(void **state)
{
	const rouse_allocator allocator = {take, give, NULL};

	(void)state;
	EACH_POLLER(poller)
	{
		atomic_store(&used, 0);
		atomic_store(&watching, 1);
		live(poller, &allocator);
		atomic_store(&watching, 0);
		assert_int_equal(atomic_load(&asked), 0);
		assert_true(atomic_load(&used) > 0);
	}
	/* That the watch sees: without an allocator there are some. */
	atomic_store(&watching, 1);
	live(NULL, NULL);
	atomic_store(&watching, 0);
	assert_true(atomic_load(&asked) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(all_memory_is_the_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
