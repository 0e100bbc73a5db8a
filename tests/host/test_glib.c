/* rouse-glib: what is GLib's own. */
#include "bare.h"

#include <rouse/glib.h>

#include <glib-unix.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void until(GMainContext *context, const unsigned *what, unsigned least)
{
	while (*what < least)
		g_main_context_iteration(context, TRUE);
}

/* ---- Attach ------------------------------------------------------------------------------ */

static void bad_arguments_change_nothing(void **state)
{
	struct {
		rouse_glib_options options;
		int more;
	} larger = {{.size = sizeof larger}, 0};
	rouse_glib_options options = {.size = sizeof options};
	rouse_glib *glib = NULL;
	rouse_loop *loop = bare_loop();

	(void)state;
	assert_int_equal(rouse_glib_attach(NULL, &options, &glib), ROUSE_EINVAL);
	options.size = sizeof options - 1;
	assert_int_equal(rouse_glib_attach(loop, &options, &glib), ROUSE_EINVAL);
	larger.more = 1;
	assert_int_equal(rouse_glib_attach(loop, &larger.options, &glib), ROUSE_EABI);
	assert_null(glib);
	bare_assert_own(loop);
	larger.more = 0;
	assert_int_equal(rouse_glib_attach(loop, &larger.options, &glib), 0);
	assert_non_null(glib);
	assert_int_equal(rouse_glib_detach(glib), 0);
	assert_int_equal(rouse_glib_detach(NULL), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void attached_for_good_without_options(void **state)
{
	rouse_loop *loop = bare_loop();
	unsigned posts = 0;

	(void)state;
	assert_int_equal(rouse_glib_attach(loop, NULL, NULL), 0);
	bare_post(loop, &posts);
	until(NULL, &posts, 1);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	assert_false(g_main_context_iteration(NULL, FALSE));
}

static void l9_no_memory_changes_nothing(void **state)
{
	struct bare_memory memory;
	rouse_loop *loop = bare_loop_on(&memory);
	unsigned blocks = memory.blocks, posts = 0, failed = 0;
	rouse_glib *glib = NULL;
	int error = ROUSE_ENOMEM;

	(void)state;
	for (unsigned left = 0; error; left++) {
		memory.left = left;
		error = rouse_glib_attach(loop, NULL, &glib);
		memory.left = 1000;
		if (!error)
			break;
		assert_int_equal(error, ROUSE_ENOMEM);
		assert_null(glib);
		assert_int_equal(memory.blocks, blocks);
		assert_false(g_main_context_iteration(NULL, FALSE));
		bare_assert_own(loop);
		failed++;
	}
	assert_true(failed > 0);
	bare_post(loop, &posts);
	until(NULL, &posts, 1);
	assert_int_equal(rouse_glib_detach(glib), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	assert_int_equal(memory.blocks, 0);
}

static void the_threads_default_context_is_the_default(void **state)
{
	GMainContext *own = g_main_context_new();
	rouse_loop *loop = bare_loop();
	unsigned posts = 0;
	rouse_glib *glib;

	(void)state;
	g_main_context_push_thread_default(own);
	assert_int_equal(rouse_glib_attach(loop, NULL, &glib), 0);
	g_main_context_pop_thread_default(own);
	bare_post(loop, &posts);
	assert_false(g_main_context_iteration(NULL, FALSE));
	assert_int_equal(posts, 0);
	until(own, &posts, 1);
	assert_int_equal(rouse_glib_detach(glib), 0);
	/* The context may go first, too. */
	const rouse_glib_options options = {.size = sizeof options, .context = own};
	assert_int_equal(rouse_glib_attach(loop, &options, &glib), 0);
	g_main_context_unref(own);
	assert_int_equal(rouse_glib_detach(glib), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* ---- Threads --------------------------------------------------------------------------------- */

struct owner {
	GMainContext *context;
	GMainLoop *main;
};

static void *own_context(void *data)
{
	g_main_loop_run(((struct owner *)data)->main);
	return NULL;
}

static void l7_a_context_that_another_thread_iterates(void **state)
{
	struct owner owner = {.context = g_main_context_new()};
	rouse_glib_options options = {.size = sizeof options, .context = owner.context};
	rouse_loop *loop = bare_loop();
	struct bare_told told = {0};
	rouse_glib *glib = NULL;
	pthread_t thread;

	(void)state;
	owner.main = g_main_loop_new(owner.context, FALSE);
	assert_int_equal(pthread_create(&thread, NULL, own_context, &owner), 0);
	while (g_main_context_acquire(owner.context)) {
		g_main_context_release(owner.context);
		sched_yield();
	}
	assert_int_equal(rouse_glib_attach(loop, &options, &glib), ROUSE_EWRONGTHREAD);
	assert_null(glib);
	bare_assert_own(loop);
	g_main_loop_quit(owner.main);
	pthread_join(thread, NULL);
	/* Attached first, and iterated elsewhere then: told once, and never looked at again. */
	options.done = bare_done;
	options.data = &told;
	assert_int_equal(rouse_glib_attach(loop, &options, &glib), 0);
	assert_int_equal(pthread_create(&thread, NULL, own_context, &owner), 0);
	while (!atomic_load(&told.times))
		sched_yield();
	g_main_loop_quit(owner.main);
	pthread_join(thread, NULL);
	assert_int_equal(told.times, 1);
	assert_int_equal(told.result, ROUSE_EWRONGTHREAD);
	assert_false(g_main_context_iteration(owner.context, FALSE));
	assert_int_equal(told.times, 1);
	assert_int_equal(rouse_glib_detach(glib), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	g_main_loop_unref(owner.main);
	g_main_context_unref(owner.context);
}

struct adder {
	rouse_remote *remote;
	unsigned posts, count;
	int fd;
	gint idles;
};

static gboolean count_idle(gpointer data)
{
	g_atomic_int_inc(&((struct adder *)data)->idles);
	return G_SOURCE_REMOVE;
}

static gboolean never(gint fd, GIOCondition condition, gpointer data)
{
	(void)fd, (void)condition, (void)data;
	return G_SOURCE_CONTINUE;
}

/* With a descriptor: GLib then leaves out the checks of the iteration that it comes into. */
static void *post_and_add(void *data)
{
	struct adder *a = data;

	for (unsigned i = 0; i < a->count; i++) {
		GSource *source = g_unix_fd_source_new(a->fd, G_IO_IN);

		g_source_set_callback(source, G_SOURCE_FUNC(never), NULL, NULL);
		if (rouse_post(a->remote, bare_count, &a->posts, NULL) < 0)
			return a;
		g_source_attach(source, NULL);
		g_idle_add(count_idle, a);
		g_source_destroy(source);
		g_source_unref(source);
	}
	return NULL;
}

static void w7_sources_that_another_thread_adds_meanwhile(void **state)
{
	struct adder a = {.count = fixture_scaled(5000)};
	rouse_loop *loop = bare_loop();
	pthread_t thread;
	void *failed;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	a.fd = fds[0];
	a.remote = rouse_loop_remote(loop);
	assert_int_equal(rouse_glib_attach(loop, NULL, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, post_and_add, &a), 0);
	until(NULL, &a.posts, a.count);
	pthread_join(thread, &failed);
	assert_null(failed);
	while (g_atomic_int_get(&a.idles) < (gint)a.count)
		g_main_context_iteration(NULL, TRUE);
	rouse_remote_unref(a.remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	close(fds[0]);
	close(fds[1]);
}

/* ---- Priorities ---------------------------------------------------------------------------------
 */

static gboolean count(gpointer data)
{
	++*(unsigned *)data;
	return G_SOURCE_CONTINUE;
}

static void callbacks_run_at_the_priority_of_the_caller(void **state)
{
	const rouse_glib_options options = {.size = sizeof options,
	                                    .priority = G_PRIORITY_DEFAULT_IDLE};
	rouse_loop *loop = bare_loop();
	unsigned busy = 0, posts = 0;

	(void)state;
	assert_int_equal(rouse_glib_attach(loop, &options, NULL), 0);
	guint id = g_timeout_add_full(G_PRIORITY_DEFAULT, 0, count, &busy, NULL);
	bare_post(loop, &posts);
	until(NULL, &busy, 100);
	/* Held back, and nothing of it lost. */
	assert_int_equal(posts, 0);
	g_source_remove(id);
	until(NULL, &posts, 1);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void on_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	++*(unsigned *)data;
}

/* The bracket is of the lowest number, and must never be ready: nothing else would run. */
static void the_bracket_keeps_nobody_waiting(void **state)
{
	const rouse_glib_options options = {.size = sizeof options, .priority = G_PRIORITY_LOW};
	rouse_loop *loop = bare_loop();
	unsigned idles = 0, timers = 0, posts = 0;

	(void)state;
	assert_int_equal(rouse_glib_attach(loop, &options, NULL), 0);
	/* Due in each iteration, by a deadline and by the descriptor. */
	assert_int_equal(rouse_timer_add(loop, 0, 1, 0, on_timer, &timers, NULL), 0);
	guint id = g_idle_add(count, &idles);
	bare_post(loop, &posts);
	until(NULL, &idles, 100);
	assert_int_equal(timers, 0);
	assert_int_equal(posts, 0);
	g_source_remove(id);
	until(NULL, &timers, 100);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* ---- Errors
 * ---------------------------------------------------------------------------------------- */

/* The number of what went wrong in the child, or 0. */
static int in_child(rouse_loop *loop, const struct bare_told *told, int after_fork)
{
	unsigned posts = 0;

	if (after_fork) {
		if (rouse_loop_after_fork(loop))
			return 1;
		bare_post(loop, &posts);
		until(NULL, &posts, 1);
		return told->times ? 2 : 0;
	}
	for (int i = 0; i < 5; i++)
		g_main_context_iteration(NULL, FALSE);
	if (told->times != 1 || told->result != ROUSE_EFORKED)
		return 3;
	return g_main_context_iteration(NULL, FALSE) ? 4 : 0;
}

static void f10_a_forked_child_is_told_once(void **state)
{
	struct bare_told told = {0};
	const rouse_glib_options options = {
	        .size = sizeof options, .done = bare_done, .data = &told};
	rouse_loop *loop = bare_loop();
	unsigned posts = 0;

	(void)state;
	assert_int_equal(rouse_glib_attach(loop, &options, NULL), 0);
	for (int after_fork = 0; after_fork < 2; after_fork++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			_exit(in_child(loop, &told, after_fork));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	bare_post(loop, &posts);
	until(NULL, &posts, 1);
	assert_int_equal(told.times, 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static char complaint[256];

static GLogWriterOutput write_log(GLogLevelFlags level, const GLogField *fields, gsize fields_count,
                                  gpointer data)
{
	(void)data;
	for (gsize i = 0; (level & G_LOG_LEVEL_CRITICAL) && i < fields_count; i++)
		if (!strcmp(fields[i].key, "MESSAGE"))
			g_strlcpy(complaint, fields[i].value, sizeof complaint);
	return G_LOG_WRITER_HANDLED;
}

static void an_error_that_nobody_asked_for_is_logged(void **state)
{
	rouse_loop *loop = bare_loop();
	int status;

	(void)state;
	assert_int_equal(rouse_glib_attach(loop, NULL, NULL), 0);
	pid_t child = fork();
	if (child == 0) {
		g_log_set_writer_func(write_log, NULL, NULL);
		g_main_context_iteration(NULL, FALSE);
		_exit(strstr(complaint, rouse_strerror(ROUSE_EFORKED)) ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void detach_twice(rouse_loop *loop, void *data)
{
	rouse_glib **glib = data;

	assert_int_equal(rouse_loop_stop(loop), 0);
	assert_int_equal(rouse_glib_detach(*glib), 0);
	assert_int_equal(rouse_glib_detach(*glib), ROUSE_ESTALE);
	*glib = NULL;
}

/* Nor is a stop of that callback's told to who has let go. */
static void l8_a_second_detach_in_a_callback_is_stale(void **state)
{
	struct bare_told told = {0};
	const rouse_glib_options options = {
	        .size = sizeof options, .done = bare_done, .data = &told};
	rouse_loop *loop = bare_loop();
	rouse_remote *remote = rouse_loop_remote(loop);
	rouse_glib *glib;

	(void)state;
	assert_int_equal(rouse_glib_attach(loop, &options, &glib), 0);
	assert_true(rouse_post(remote, detach_twice, &glib, NULL) >= 0);
	while (glib)
		g_main_context_iteration(NULL, TRUE);
	assert_int_equal(told.times, 0);
	assert_int_equal(rouse_loop_take_stop(loop), 1);
	rouse_remote_unref(remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(bad_arguments_change_nothing),
	        cmocka_unit_test(attached_for_good_without_options),
	        cmocka_unit_test(l9_no_memory_changes_nothing),
	        cmocka_unit_test(the_threads_default_context_is_the_default),
	        cmocka_unit_test(l7_a_context_that_another_thread_iterates),
	        cmocka_unit_test(w7_sources_that_another_thread_adds_meanwhile),
	        cmocka_unit_test(callbacks_run_at_the_priority_of_the_caller),
	        cmocka_unit_test(the_bracket_keeps_nobody_waiting),
	        cmocka_unit_test(f10_a_forked_child_is_told_once),
	        cmocka_unit_test(an_error_that_nobody_asked_for_is_logged),
	        cmocka_unit_test(l8_a_second_detach_in_a_callback_is_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
