/* rouse-appkit in [NSApp run], in rouse_appkit_run(), in modal panels and while the mouse is
 * tracked. */
#include "app.h"
#include "bare.h"

#include <rouse/appkit.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

struct fixture {
	rouse_loop *loop;
	rouse_remote *remote;
	rouse_appkit *appkit;
	struct bare_told told;
	const rouse_appkit_options *options;
} f;

static void open_with(const rouse_appkit_options *options)
{
	f.loop = bare_loop();
	f.remote = rouse_loop_remote(f.loop);
	f.options = options;
	assert_int_equal(rouse_appkit_attach(f.loop, options, &f.appkit), 0);
}

static int open_plain(void **state)
{
	(void)state;
	open_with(NULL);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	rouse_remote_unref(f.remote);
	assert_int_equal(rouse_appkit_detach(f.appkit), 0);
	return rouse_loop_destroy(f.loop);
}

/* Both ways to run an application. */
static void run_ours(void)
{
	assert_int_equal(rouse_appkit_run(f.appkit), 0);
}
static void (*const runs[])(void) = {app_run, run_ours};
enum { RUNS = 2 };

static void *stop_elsewhere(void *data)
{
	return rouse_appkit_stop(data) < 0 ? data : NULL;
}

static void in_thread(void *(*fn)(void *data), void *data, void (*meanwhile)(void))
{
	pthread_t thread;
	void *failed;

	assert_int_equal(pthread_create(&thread, NULL, fn, data), 0);
	meanwhile();
	pthread_join(thread, &failed);
	assert_null(failed);
}

/* ---- A1 ------------------------------------------------------------------------------------ */

struct wakes {
	rouse_waker *waker;
	atomic_uint runs;
	unsigned count;
	bool autorelease;
	int most;
};

static void serve(rouse_loop *loop, void *data)
{
	struct wakes *w = data;

	(void)loop;
	if (app_alive > w->most)
		w->most = app_alive;
	if (w->autorelease)
		app_autorelease();
	atomic_fetch_add(&w->runs, 1);
}

static void *wake_each(void *data)
{
	struct wakes *w = data;

	for (unsigned i = 1; i <= w->count; i++) {
		if (rouse_wake(w->waker) < 0)
			return w;
		while (atomic_load(&w->runs) < i)
			;
		/* Now and then it sleeps already. */
		if (i % 64 == 0)
			usleep(100);
	}
	return rouse_appkit_stop(f.appkit) < 0 ? w : NULL;
}

static void a1_a_wake_ends_the_wait_for_an_event(void **state)
{
	(void)state;
	for (int i = 0; i < RUNS; i++) {
		struct wakes w = {.count = fixture_scaled(20000)};

		assert_int_equal(rouse_waker_create(f.loop, serve, &w, &w.waker), 0);
		in_thread(wake_each, &w, runs[i]);
		assert_int_equal(atomic_load(&w.runs), w.count);
		rouse_waker_unref(w.waker);
	}
}

/* ---- A5 -------------------------------------------------------------------------------------- */

static long resident(void)
{
	long all, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2)
		resident = -1;
	if (file)
		fclose(file);
	return resident * sysconf(_SC_PAGESIZE);
}

static void a5_each_turn_drains_a_pool_and_memory_stays(void **state)
{
	(void)state;
	for (int i = 0; i < RUNS; i++) {
		long before = 0;

		for (int warm = 0; warm < 2; warm++) {
			struct wakes w = {.count = fixture_scaled(warm && !i ? 100000 : 10000),
			                  .autorelease = true};

			assert_int_equal(rouse_waker_create(f.loop, serve, &w, &w.waker), 0);
			in_thread(wake_each, &w, runs[i]);
			assert_int_equal(w.most, 0);
			assert_int_equal(app_alive, 0);
			rouse_waker_unref(w.waker);
			if (!warm)
				before = resident();
		}
		/* An object each would be ten times that. */
		assert_true(before > 0);
		assert_true(resident() < before + 400000);
	}
}

/* ---- A3: stops ---------------------------------------------------------------------------------
 */

static void stop_by_hook(void *data)
{
	assert_int_equal(rouse_loop_stop(data), 0);
}

static void stop_by_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self, (void)deadline, (void)data;
	assert_int_equal(rouse_loop_stop(loop), 0);
}

static void mark_and_stop(rouse_loop *loop, void *data)
{
	(void)loop;
	*(bool *)data = true;
	assert_true(rouse_appkit_stop(f.appkit) >= 0);
}

/* The next run is not over before it is told so: a stop was used up. */
static void assert_used_up(void (*run)(void))
{
	bool marked = false;

	assert_int_equal(rouse_post(f.remote, mark_and_stop, &marked, NULL), 0);
	run();
	assert_true(marked);
}

static void a3_w21_stop_before_run(void **state)
{
	(void)state;
	for (int i = 0; i < RUNS; i++) {
		for (int turned = 0; turned < 2; turned++) {
			assert_true(rouse_appkit_stop(f.appkit) >= 0);
			if (turned)
				assert_true(rouse_loop_turn(f.loop, 0) >= 0);
			runs[i]();
			assert_used_up(runs[i]);
		}
	}
}

static void a3_w21_stop_from_a_thread(void **state)
{
	(void)state;
	for (int i = 0; i < RUNS; i++)
		for (int k = 0; k < 20; k++)
			in_thread(stop_elsewhere, f.appkit, runs[i]);
	assert_used_up(runs[0]);
}

static void a3_stop_from_timers(void **state)
{
	(void)state;
	for (int i = 0; i < RUNS; i++) {
		assert_int_equal(
		        rouse_timer_add(f.loop, rouse_now() + MS, 0, 0, stop_by_timer, NULL, NULL),
		        0);
		runs[i]();
		/* The application's own, by a call that rings nobody. */
		app_timer(0.001, stop_by_hook, f.loop);
		runs[i]();
		assert_used_up(runs[i]);
	}
}

static void *run_elsewhere(void *data)
{
	assert_int_equal(rouse_appkit_run(data), ROUSE_EWRONGTHREAD);
	assert_int_equal(rouse_appkit_detach(data), ROUSE_EWRONGTHREAD);
	return NULL;
}

static void *attach_elsewhere(void *data)
{
	rouse_loop *other = bare_loop();

	(void)data;
	/* Neither of the loop's thread, nor of the main one. */
	assert_int_equal(rouse_appkit_attach(f.loop, NULL, NULL), ROUSE_EWRONGTHREAD);
	assert_int_equal(rouse_appkit_attach(other, NULL, NULL), ROUSE_EWRONGTHREAD);
	bare_assert_own(other);
	assert_int_equal(rouse_loop_destroy(other), 0);
	return NULL;
}

static void nothing(void)
{
}

static void l7_another_thread_attaches_and_runs_nothing(void **state)
{
	(void)state;
	in_thread(run_elsewhere, f.appkit, nothing);
	in_thread(attach_elsewhere, NULL, nothing);
	assert_used_up(app_run);
}

static int modal_code;

static void open_modal(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
	modal_code = app_modal();
}

static void stop_by_post(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
	assert_true(rouse_appkit_stop(f.appkit) >= 0);
}

static void a3_a_stop_in_a_modal_panel_ends_both(void **state)
{
	(void)state;
	for (int i = 0; i < RUNS; i++) {
		modal_code = 0;
		assert_int_equal(rouse_post(f.remote, open_modal, NULL, NULL), 0);
		assert_int_equal(rouse_post(f.remote, stop_by_post, NULL, NULL), 0);
		runs[i]();
		assert_int_equal(modal_code, app_stopped);
		assert_used_up(runs[i]);
	}
}

static void run_again(rouse_loop *loop, void *data)
{
	(void)loop;
	*(int *)data = rouse_appkit_run(f.appkit);
	assert_true(rouse_appkit_stop(f.appkit) >= 0);
}

static void l6_a_run_in_a_run_is_refused(void **state)
{
	(void)state;
	for (int i = 0; i < RUNS; i++) {
		int result = 1;

		assert_int_equal(rouse_post(f.remote, run_again, &result, NULL), 0);
		runs[i]();
		assert_int_equal(result, ROUSE_EBUSY);
	}
	assert_int_equal(rouse_appkit_run(NULL), ROUSE_EINVAL);
	assert_int_equal(rouse_appkit_stop(NULL), ROUSE_EINVAL);
}

static void end_told(rouse_loop *loop, int result, void *data)
{
	bare_done(loop, result, data);
	assert_true(rouse_appkit_stop(f.appkit) >= 0);
}

static void w21_the_loops_stop_is_dones(void **state)
{
	struct bare_told told = {0};
	const rouse_appkit_options options = {
	        .size = sizeof options, .done = end_told, .data = &told};

	open_with(&options);
	assert_true(rouse_remote_stop(f.remote) >= 0);
	app_run();
	assert_int_equal(told.times, 1);
	assert_int_equal(told.result, 0);
	/* But for a run of ours. */
	assert_true(rouse_remote_stop(f.remote) >= 0);
	run_ours();
	assert_int_equal(told.times, 1);
	close_it(state);
}

/* ---- A2: modes -------------------------------------------------------------------------------
 */

struct inside {
	unsigned posts, timers, reads;
	bool end;
	int fds[2];
};

static void maybe_end(struct inside *in)
{
	if (in->posts < 20 || in->timers < 20 || in->reads < 20 || in->end)
		return;
	in->end = true;
	app_stop_modal();
}

static void post_inside(rouse_loop *loop, void *data)
{
	struct inside *in = data;

	(void)loop;
	in->posts++;
	maybe_end(in);
}

static void timer_inside(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct inside *in = data;

	(void)loop, (void)self, (void)deadline;
	in->timers++;
	assert_int_equal(write(in->fds[1], "x", 1), 1);
	maybe_end(in);
}

static void read_inside(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                        void *data)
{
	struct inside *in = data;
	char byte;

	(void)loop, (void)self, (void)events;
	assert_int_equal(read(fd, &byte, 1), 1);
	in->reads++;
	maybe_end(in);
}

static void *post_twenty(void *data)
{
	for (int i = 0; i < 20; i++) {
		if (rouse_post(f.remote, post_inside, data, NULL) < 0)
			return data;
		usleep(1000);
	}
	return NULL;
}

static struct inside *inside;

static void modal_inside(void)
{
	app_modal();
}

static void track_inside(void)
{
	app_track(&inside->end);
}

static void serve_inside(void (*run)(void))
{
	struct inside in = {0};
	rouse_source timer, fd;

	inside = &in;
	assert_int_equal(pipe(in.fds), 0);
	assert_int_equal(
	        rouse_timer_add(f.loop, rouse_now() + MS, MS, 0, timer_inside, &in, &timer), 0);
	assert_int_equal(rouse_fd_add(f.loop, in.fds[0], ROUSE_READABLE, read_inside, &in, &fd), 0);
	in_thread(post_twenty, &in, run);
	assert_int_equal(rouse_remove(f.loop, timer), 0);
	assert_int_equal(rouse_remove(f.loop, fd), 0);
	assert_int_equal(in.posts, 20);
	close(in.fds[0]);
	close(in.fds[1]);
}

static void modal_in_callback(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
	serve_inside(modal_inside);
	serve_inside(track_inside);
	assert_true(rouse_appkit_stop(f.appkit) >= 0);
}

static void modal_in_host(void *data)
{
	modal_in_callback(f.loop, data);
}

static void a2_g3_modal_panels_and_tracking_serve_everything(void **state)
{
	(void)state;
	/* Nobody runs the application. */
	serve_inside(modal_inside);
	serve_inside(track_inside);
	for (int i = 0; i < RUNS; i++) {
		/* Opened in a callback of ours, and in one of its own. */
		assert_int_equal(rouse_post(f.remote, modal_in_callback, NULL, NULL), 0);
		runs[i]();
		app_timer(0.001, modal_in_host, NULL);
		runs[i]();
	}
}

static void stop_modal_later(void *data)
{
	if (app_is_modal())
		app_stop_modal();
	else
		app_timer(0.01, stop_modal_later, data);
}

static void a2_modes_are_selectable(void **state)
{
	const char *const just_modal[] = {"NSModalPanelRunLoopMode", NULL};
	const char *const just_default[] = {"NSDefaultRunLoopMode", NULL};
	const char *const none[] = {NULL};
	rouse_appkit_options options = {.size = sizeof options, .modes = just_default};
	unsigned posts = 0;

	open_with(&options);
	assert_int_equal(rouse_post(f.remote, bare_count, &posts, NULL), 0);
	app_timer(0.05, stop_modal_later, NULL);
	app_modal();
	assert_int_equal(posts, 0);
	assert_true(rouse_appkit_stop(f.appkit) >= 0);
	app_run();
	assert_int_equal(posts, 1);
	close_it(state);

	options.modes = just_modal;
	open_with(&options);
	serve_inside(modal_inside);
	close_it(state);

	options.modes = none;
	f.loop = bare_loop();
	f.appkit = NULL;
	assert_int_equal(rouse_appkit_attach(f.loop, &options, &f.appkit), ROUSE_EINVAL);
	assert_null(f.appkit);
	bare_assert_own(f.loop);
	assert_int_equal(rouse_loop_destroy(f.loop), 0);
}

/* ---- A4: nothing spins
 * ---------------------------------------------------------------------------
 */

static unsigned waits_then;

static void note_waits(void *data)
{
	(void)data;
	waits_then = app_waits();
}

static void count_closed(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                         void *data)
{
	(void)loop, (void)self, (void)fd;
	if (events & ROUSE_FDERROR)
		++*(unsigned *)data;
}

static rouse_appkit *runner;

static void end_runner(void *data)
{
	(void)data;
	assert_true(rouse_appkit_stop(runner) >= 0);
}

/* The run loop sleeps for most of this; one that spins waits tens of thousands of times.  (GNUstep
 * spins for less than a millisecond before a timer.) */
static void assert_quiet(rouse_appkit *by)
{
	runner = by;
	app_timer(0.1, note_waits, NULL);
	app_timer(0.4, end_runner, NULL);
	app_run();
	assert_true(app_waits() - waits_then < 1000);
}

static void a4_a_descriptor_closed_while_watched(void **state)
{
	unsigned closed = 0;
	int fds[2], copy;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(rouse_fd_add(f.loop, fds[0], ROUSE_READABLE, count_closed, &closed, NULL),
	                 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	copy = dup(fds[0]);
	close(fds[0]);
	assert_quiet(f.appkit);
	assert_int_equal(closed, 1);
	close(copy);
	close(fds[1]);
}

static void destroy_other(void *data)
{
	assert_int_equal(rouse_loop_destroy(data), 0);
}

static void a4_a_loop_destroyed_while_watched(void **state)
{
	rouse_loop *other = bare_loop();
	unsigned posts = 0;

	(void)state;
	assert_int_equal(rouse_appkit_attach(other, NULL, NULL), 0);
	bare_post(other, &posts);
	app_timer(0.01, destroy_other, other);
	assert_quiet(f.appkit);
	assert_int_equal(posts, 1);
}

struct leaver {
	rouse_appkit *appkit;
	unsigned left;
};

static rouse_ns leave_in_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	struct leaver *leaver = data;

	(void)loop, (void)self, (void)flags;
	if (!leaver->left++)
		assert_int_equal(rouse_appkit_detach(leaver->appkit), 0);
	return ROUSE_NEVER;
}

static int nothing_to_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)loop, (void)self, (void)ready, (void)data;
	return 0;
}

static void detach_right_before_a_wait(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		rouse_loop *other = bare_loop();
		struct leaver leaver = {0};
		const rouse_hook hook = {.size = sizeof hook,
		                         .fd = ROUSE_NO_FD,
		                         .prepare = leave_in_prepare,
		                         .check = nothing_to_check};

		assert_int_equal(rouse_appkit_attach(other, NULL, &leaver.appkit), 0);
		assert_int_equal(rouse_hook_add(other, &hook, &leaver, NULL), 0);
		if (i == 0)
			assert_quiet(f.appkit);
		assert_true(rouse_appkit_stop(f.appkit) >= 0);
		app_run();
		assert_true(leaver.left > 0);
		assert_int_equal(rouse_loop_destroy(other), 0);
	}
}

static void detach_in_post(rouse_loop *loop, void *data)
{
	(void)loop;
	assert_int_equal(rouse_appkit_detach(data), 0);
}

static void detach_ends_a_run_of_ours(void **state)
{
	(void)state;
	assert_int_equal(rouse_post(f.remote, detach_in_post, f.appkit, NULL), 0);
	assert_int_equal(rouse_appkit_run(f.appkit), ROUSE_ECLOSED);
	assert_int_equal(rouse_appkit_attach(f.loop, NULL, &f.appkit), 0);
}

/* Before any attachment: there is no NSApp; then the one that was made is used. */
static void attach_in_the_run(rouse_loop *loop, void *data)
{
	rouse_loop *other = bare_loop();

	(void)loop;
	assert_int_equal(rouse_appkit_attach(other, NULL, NULL), 0);
	*(rouse_loop **)data = other;
	rouse_remote *remote = rouse_loop_remote(other);
	assert_int_equal(rouse_post(remote, stop_by_post, NULL, NULL), 0);
	rouse_remote_unref(remote);
}

static void attach_after_the_run_began(void **state)
{
	rouse_loop *other = NULL;

	(void)state;
	assert_int_equal(rouse_post(f.remote, attach_in_the_run, &other, NULL), 0);
	app_run();
	assert_non_null(other);
	assert_int_equal(rouse_loop_destroy(other), 0);
}

static void l9_no_memory_changes_nothing(void **state)
{
	struct bare_memory memory;
	rouse_loop *loop = bare_loop_on(&memory);
	unsigned blocks = memory.blocks, failed = 0;
	rouse_appkit *appkit = NULL;
	int error = ROUSE_ENOMEM;

	(void)state;
	for (unsigned left = 0; error; left++) {
		memory.left = left;
		error = rouse_appkit_attach(loop, NULL, &appkit);
		memory.left = 1000;
		if (!error)
			break;
		assert_int_equal(error, ROUSE_ENOMEM);
		assert_null(appkit);
		assert_int_equal(memory.blocks, blocks);
		bare_assert_own(loop);
		failed++;
	}
	assert_true(failed > 1);
	assert_int_equal(rouse_appkit_detach(appkit), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	assert_int_equal(memory.blocks, 0);
}

#define plain(fn) cmocka_unit_test_setup_teardown(fn, open_plain, close_it)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        plain(a3_w21_stop_before_run),
	        plain(a1_a_wake_ends_the_wait_for_an_event),
	        plain(a3_w21_stop_from_a_thread),
	        plain(a3_stop_from_timers),
	        plain(a3_a_stop_in_a_modal_panel_ends_both),
	        plain(l7_another_thread_attaches_and_runs_nothing),
	        plain(l6_a_run_in_a_run_is_refused),
	        cmocka_unit_test(w21_the_loops_stop_is_dones),
	        plain(a2_g3_modal_panels_and_tracking_serve_everything),
	        cmocka_unit_test(a2_modes_are_selectable),
	        plain(a4_a_descriptor_closed_while_watched),
	        plain(a4_a_loop_destroyed_while_watched),
	        plain(detach_right_before_a_wait),
	        plain(detach_ends_a_run_of_ours),
	        plain(attach_after_the_run_began),
	        cmocka_unit_test(l9_no_memory_changes_nothing),
	        plain(a5_each_turn_drains_a_pool_and_memory_stays),
	};

	app_begin(false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
