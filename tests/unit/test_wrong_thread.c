/*
 * Each function that is for its loop's thread alone, called on another one.  The table has a
 * row for each; a check of the house compares it with the headers.
 */
#include "unit.h"

#include "contract/env.h"

#include <rouse/null.h>

#include <signal.h>
#include <string.h>

#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)
#define DESCRIPTOR 3

static struct {
	struct counting memory;
	rouse_loop *loop;
	rouse_waker *waker;
	rouse_source timer, fd, hook;
	rouse_fd ends[2];
	int woken, prepared, released;
	rouse_ns fired;

	/* What a row could write. */
	struct {
		rouse_waker *waker;
		rouse_source source;
		rouse_fd fd;
		rouse_ns deadline;
		rouse_stats stats;
	} out;
} f;

/* ---- The rows ------------------------------------------------------------------- */

static int destroy(void)
{
	return rouse_loop_destroy(f.loop);
}

static int run(void)
{
	return rouse_loop_run(f.loop);
}

static int turn(void)
{
	return rouse_loop_turn(f.loop, 0);
}

static int stop(void)
{
	return rouse_loop_stop(f.loop);
}

static int take_fd(void)
{
	return rouse_loop_fd(f.loop, &f.out.fd);
}

static void ignore_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)signo;
	(void)data;
}

static void ignore_child(rouse_loop *loop, rouse_source self, rouse_process process,
                         const rouse_exit *how, void *data)
{
	(void)loop;
	(void)self;
	(void)process;
	(void)how;
	(void)data;
}

static int prepare(void)
{
	return rouse_loop_prepare(f.loop, 0, &f.out.deadline);
}

static int check(void)
{
	return rouse_loop_check(f.loop, 1);
}

static int dispatch(void)
{
	return rouse_loop_dispatch(f.loop);
}

static int take_stop(void)
{
	return rouse_loop_take_stop(f.loop);
}

static int after_fork(void)
{
	return rouse_loop_after_fork(f.loop);
}

static int cancel_posts(void)
{
	return rouse_cancel_posts(f.loop, NULL);
}

static int create_waker(void)
{
	return rouse_waker_create(f.loop, count_call, &f.woken, &f.out.waker);
}

static int close_waker(void)
{
	return rouse_waker_close(f.waker);
}

static int add_fd(void)
{
	return rouse_fd_add(f.loop, f.ends[1], ROUSE_WRITABLE, ignore_fd, NULL, &f.out.source);
}

static int set_events(void)
{
	return rouse_fd_set_events(f.loop, f.fd, 0);
}

static int add_handle(void)
{
	return rouse_handle_add(f.loop, &f, ignore_handle, NULL, &f.out.source);
}

static int add_timer(void)
{
	return rouse_timer_add(f.loop, 1, 0, 0, ignore_timer, NULL, &f.out.source);
}

static int set_timer(void)
{
	return rouse_timer_set(f.loop, f.timer, 1, 0, 0);
}

static int add_signal(void)
{
	return rouse_signal_add(f.loop, SIGINT, ignore_signal, NULL, &f.out.source);
}

static int add_child(void)
{
	return rouse_child_add(f.loop, (rouse_process)1, ignore_child, NULL, &f.out.source);
}

static int remove_source(void)
{
	return rouse_remove(f.loop, f.hook);
}

static int add_hook(void)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};

	return rouse_hook_add(f.loop, &hook, NULL, &f.out.source);
}

static int stats(void)
{
	return rouse_loop_stats(f.loop, &f.out.stats);
}

static int script(void)
{
	return rouse_null_script(f.loop, 0, DESCRIPTOR, ROUSE_READABLE);
}

static int advance(void)
{
	return rouse_null_advance(f.loop, 3600 * 1000 * MS);
}

/* It has no error to return: 0 is its answer. */
static int now(void)
{
	return rouse_loop_now(f.loop) == 0 ? ROUSE_EWRONGTHREAD : 0;
}

/* clang-format off */
#define ROW(function, row) {#function, row}
/* clang-format on */

static const struct row {
	const char *name;
	int (*call)(void);
} rows[] = {
        ROW(rouse_loop_destroy, destroy),
        ROW(rouse_loop_run, run),
        ROW(rouse_loop_turn, turn),
        ROW(rouse_loop_stop, stop),
        ROW(rouse_loop_fd, take_fd),
        ROW(rouse_loop_prepare, prepare),
        ROW(rouse_loop_check, check),
        ROW(rouse_loop_dispatch, dispatch),
        ROW(rouse_loop_take_stop, take_stop),
        ROW(rouse_loop_after_fork, after_fork),
        ROW(rouse_cancel_posts, cancel_posts),
        ROW(rouse_waker_create, create_waker),
        ROW(rouse_waker_close, close_waker),
        ROW(rouse_fd_add, add_fd),
        ROW(rouse_fd_set_events, set_events),
        ROW(rouse_handle_add, add_handle),
        ROW(rouse_timer_add, add_timer),
        ROW(rouse_timer_set, set_timer),
        ROW(rouse_signal_add, add_signal),
        ROW(rouse_child_add, add_child),
        ROW(rouse_remove, remove_source),
        ROW(rouse_hook_add, add_hook),
        ROW(rouse_loop_stats, stats),
        ROW(rouse_loop_now, now),
        ROW(rouse_null_script, script),
        ROW(rouse_null_advance, advance),
};

/* ---- The test --------------------------------------------------------------------- */

static void note_deadline(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	*(rouse_ns *)data = deadline;
}

static rouse_ns count_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)loop;
	(void)self;
	(void)flags;
	++*(int *)data;
	return ROUSE_NEVER;
}

static void note_release(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	f.released++;
}

static void build(const char *poller)
{
	const rouse_hook hook = {.size = sizeof hook,
	                         .fd = ROUSE_NO_FD,
	                         .prepare = count_prepare,
	                         .release = note_release};

	memset(&f, 0, sizeof f);
	counting_init(&f.memory);
	f.loop = loop_on(poller, &f.memory);
	if (has_descriptors(f.loop))
		env_pair_open(&f.ends[0], &f.ends[1]);
	else
		f.ends[0] = DESCRIPTOR, f.ends[1] = DESCRIPTOR + 1;
	assert_int_equal(rouse_waker_create(f.loop, count_call, &f.woken, &f.waker), 0);
	assert_int_equal(rouse_fd_add(f.loop, f.ends[0], ROUSE_READABLE, ignore_fd, NULL, &f.fd),
	                 0);
	assert_int_equal(rouse_timer_add(f.loop, 5, 0, 0, note_deadline, &f.fired, &f.timer), 0);
	assert_int_equal(rouse_hook_add(f.loop, &hook, &f.prepared, &f.hook), 0);
	memset(&f.out, 0x5a, sizeof f.out);
	f.out.stats.size = sizeof f.out.stats;
}

static void finish(void)
{
	int real = has_descriptors(f.loop);

	assert_int_equal(rouse_loop_destroy(f.loop), 0);
	assert_int_equal(f.released, 1);
	rouse_waker_unref(f.waker);
	counting_check(&f.memory);
	if (real) {
		env_pair_close(f.ends[0]);
		env_pair_close(f.ends[1]);
	}
}

struct errand {
	const struct row *row;
	int result;
};

static void call_row(void *data)
{
	struct errand *errand = data;

	errand->result = errand->row->call();
}

static void nothing_changed(const char *name, const rouse_stats *before, unsigned made, rouse_ns at)
{
	rouse_stats after = stats_of(f.loop);

	assert_memory_equal(&after, before, sizeof after);
	assert_int_equal(f.memory.made, made);
	assert_true((uintptr_t)f.out.waker == (uintptr_t)UNTOUCHED);
	assert_true(f.out.source.id == UNTOUCHED);
	assert_true(f.out.deadline == UNTOUCHED);
	assert_true(f.out.fd == (rouse_fd)UNTOUCHED);
	assert_true(f.out.stats.turns == UNTOUCHED);
	/* No guest, no stop, and nothing ran. */
	assert_int_equal(rouse_loop_check(f.loop, 0), ROUSE_EINVAL);
	assert_int_equal(rouse_loop_take_stop(f.loop), 0);
	assert_int_equal(f.woken + f.prepared + f.released, 0);
	assert_true(f.fired == 0);
	if (!strcmp(rouse_loop_poller(f.loop), "null"))
		assert_true(rouse_loop_now(f.loop) == at);
	(void)name;
}

/* What was there is still there, and as it was. */
static void everything_works(void)
{
	assert_int_equal(rouse_wake(f.waker), 0);
	/* The wake, the timer, and no descriptor. */
	assert_int_equal(rouse_loop_turn(f.loop, 0), 2);
	assert_int_equal(f.woken, 1);
	assert_int_equal(f.prepared, 1);
	assert_true(f.fired == 5);
	if (has_descriptors(f.loop))
		env_pair_write(f.ends[1]);
	else
		assert_int_equal(rouse_null_script(f.loop, 0, DESCRIPTOR, ROUSE_READABLE), 0);
	assert_int_equal(rouse_loop_turn(f.loop, 0), 1);
	assert_int_equal(rouse_remove(f.loop, f.fd), 0);
	assert_int_equal(rouse_remove(f.loop, f.timer), 0);
}

static void l7_wrong_thread_is_refused(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct errand errand = {&rows[i], 0};
			rouse_stats before;
			unsigned made;
			rouse_ns at;

			build(poller);
			before = stats_of(f.loop);
			made = f.memory.made;
			at = rouse_loop_now(f.loop);
			on_another_thread(call_row, &errand);
			if (errand.result != ROUSE_EWRONGTHREAD)
				fail_msg("%s on %s: %d", rows[i].name, poller, errand.result);
			nothing_changed(rows[i].name, &before, made, at);
			everything_works();
			finish();
		}
	}
}

/* The thread is asked for before the rest is looked at, which only its owner may do. */
static void wrong_thread_goes_before_bad_arguments(void *data)
{
	int *wrong = data;

	*wrong = rouse_loop_fd(f.loop, NULL) != ROUSE_EWRONGTHREAD;
	*wrong |= rouse_waker_create(f.loop, NULL, NULL, NULL) != ROUSE_EWRONGTHREAD;
	*wrong |= rouse_fd_add(f.loop, ROUSE_NO_FD, ~0u, NULL, NULL, NULL) != ROUSE_EWRONGTHREAD;
	*wrong |= rouse_timer_add(f.loop, 0, 0, 0, NULL, NULL, NULL) != ROUSE_EWRONGTHREAD;
	*wrong |= rouse_hook_add(f.loop, NULL, NULL, NULL) != ROUSE_EWRONGTHREAD;
	*wrong |= rouse_remove(f.loop, (rouse_source){0}) != ROUSE_EWRONGTHREAD;
	*wrong |= rouse_loop_stats(f.loop, NULL) != ROUSE_EWRONGTHREAD;
	*wrong |= rouse_null_script(f.loop, 0, ROUSE_NO_FD, 0) != ROUSE_EWRONGTHREAD;
}

static void l7_wrong_thread_goes_before_bad_arguments(void **state)
{
	int wrong = 1;

	(void)state;
	build("null");
	on_another_thread(wrong_thread_goes_before_bad_arguments, &wrong);
	assert_int_equal(wrong, 0);
	finish();
}

static void run_and_take_stop(void *data)
{
	int *wrong = data;

	*wrong = rouse_loop_run(f.loop) != ROUSE_EWRONGTHREAD;
	*wrong |= rouse_loop_take_stop(f.loop) != ROUSE_EWRONGTHREAD;
}

static void l7_wrong_thread_uses_no_stop_up(void **state)
{
	int wrong = 1;

	(void)state;
	build("null");
	assert_int_equal(rouse_loop_stop(f.loop), 0);
	on_another_thread(run_and_take_stop, &wrong);
	assert_int_equal(wrong, 0);
	assert_int_equal(rouse_loop_take_stop(f.loop), 1);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(l7_wrong_thread_is_refused),
	        cmocka_unit_test(l7_wrong_thread_goes_before_bad_arguments),
	        cmocka_unit_test(l7_wrong_thread_uses_no_stop_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
