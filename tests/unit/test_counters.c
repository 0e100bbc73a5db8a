/* What a loop counts, read from anywhere, and after its end. */
#include "unit.h"

#include "contract/env.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

static rouse_stats remote_stats(const rouse_remote *remote)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_remote_stats(remote, &stats), 0);
	return stats;
}

static rouse_loop *loop_of(const char *poller, unsigned max_batch)
{
	const rouse_loop_options options = {
	        .size = sizeof options, .poller = poller, .max_batch = max_batch};
	rouse_loop *loop;

	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	return loop;
}

static void ignore_call(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
}

static void run_task(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
}

/* ---- From elsewhere ----------------------------------------------------------------- */

struct look {
	const rouse_remote *remote;
	rouse_stats stats;
	int result;
};

static void look(void *data)
{
	struct look *l = data;

	l->stats = (rouse_stats){.size = sizeof l->stats};
	l->result = rouse_remote_stats(l->remote, &l->stats);
}

static void the_same_from_any_thread(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, NULL);
		rouse_remote *remote = rouse_loop_remote(loop);
		struct look l = {.remote = remote};
		rouse_stats own;

		for (int i = 0; i < 5; i++) {
			assert_int_equal(rouse_post(remote, ignore_call, NULL, NULL), 0);
			assert_int_equal(rouse_loop_turn(loop, 0), 1);
		}
		own = stats_of(loop);
		assert_int_equal(own.posts_run, 5);
		assert_int_equal(own.turns, 5);
		on_another_thread(look, &l);
		assert_int_equal(l.result, 0);
		assert_memory_equal(&l.stats, &own, sizeof own);
		own = remote_stats(remote);
		assert_memory_equal(&l.stats, &own, sizeof own);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

struct watcher {
	const rouse_remote *remote;
	atomic_int stop, looks;
	int backwards;
};

#define COUNTERS ((sizeof(rouse_stats) - offsetof(rouse_stats, turns)) / sizeof(uint64_t))

static void *watch_counters(void *data)
{
	struct watcher *w = data;
	rouse_stats last = {.size = sizeof last}, now = last;

	while (!atomic_load(&w->stop)) {
		uint64_t before[COUNTERS], after[COUNTERS];

		if (rouse_remote_stats(w->remote, &now))
			return w;
		memcpy(before, (char *)&last + offsetof(rouse_stats, turns), sizeof before);
		memcpy(after, (char *)&now + offsetof(rouse_stats, turns), sizeof after);
		for (size_t i = 0; i < COUNTERS; i++)
			w->backwards += after[i] < before[i];
		last = now;
		atomic_fetch_add(&w->looks, 1);
	}
	return NULL;
}

static void never_backwards_while_the_loop_runs(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_of(poller, 2);
		struct watcher w = {.remote = rouse_loop_remote(loop)};
		rouse_remote *remote = rouse_loop_remote(loop);
		pthread_t thread;
		void *failed;
		int data;

		assert_int_equal(pthread_create(&thread, NULL, watch_counters, &w), 0);
		while (atomic_load(&w.looks) < 1000) {
			for (int i = 0; i < 5; i++)
				assert_int_equal(rouse_post(remote, ignore_call, &data, NULL), 0);
			assert_int_equal(rouse_loop_turn(loop, 0), 2);
			assert_int_equal(rouse_cancel_posts(loop, &data), 3);
		}
		assert_int_equal(rouse_loop_destroy(loop), 0);
		atomic_store(&w.stop, 1);
		assert_int_equal(pthread_join(thread, &failed), 0);
		assert_null(failed);
		assert_int_equal(w.backwards, 0);
		rouse_remote_unref(remote);
		rouse_remote_unref((rouse_remote *)(uintptr_t)w.remote);
	}
}

static void after_the_loops_end(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, NULL);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_task task = {.run = run_task};
		rouse_stats stats;

		assert_int_equal(rouse_post(remote, ignore_call, NULL, NULL), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		for (int i = 0; i < 3; i++)
			assert_int_equal(rouse_post(remote, ignore_call, NULL, NULL), 0);
		assert_int_equal(rouse_post_task(remote, &task), 0);
		/* Nobody's callback, run or not. */
		assert_int_equal(rouse_remote_stop(remote), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		stats = remote_stats(remote);
		assert_int_equal(stats.posts_run, 1);
		assert_int_equal(stats.callbacks, 1);
		assert_int_equal(stats.turns, 1);
		assert_int_equal(stats.posts_cancelled, 4);
		assert_int_equal(rouse_post(remote, ignore_call, NULL, NULL), ROUSE_ECLOSED);
		assert_memory_equal(&(rouse_stats[]){remote_stats(remote)}, &stats, sizeof stats);
		rouse_remote_unref(remote);
	}
}

/* ---- What was cancelled ------------------------------------------------------------- */

static atomic_int calling;

static void *call_and_be_refused(void *data)
{
	int result;

	atomic_store(&calling, 1);
	result = rouse_call(data, ignore_call, NULL);
	return result == ROUSE_ECLOSED ? NULL : data;
}

static void posts_tasks_and_calls_that_were_cancelled(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, NULL);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_waker *waker;
		pthread_t thread;
		void *failed;
		int data;

		for (int i = 0; i < 3; i++)
			assert_int_equal(rouse_post(remote, ignore_call, &data, NULL), 0);
		assert_int_equal(rouse_cancel_posts(loop, &data), 3);
		assert_int_equal(stats_of(loop).posts_cancelled, 3);
		assert_int_equal(rouse_cancel_posts(loop, &data), 0);
		assert_int_equal(stats_of(loop).posts_cancelled, 3);
		assert_int_equal(stats_of(loop).posts_run, 0);
		assert_int_equal(stats_of(loop).callbacks, 0);
		/* No waker is one of them. */
		assert_int_equal(rouse_waker_create(loop, ignore_call, NULL, &waker), 0);
		assert_true(rouse_wake(waker) >= 0);
		atomic_store(&calling, 0);
		assert_int_equal(pthread_create(&thread, NULL, call_and_be_refused, remote), 0);
		/* Queued before the end or refused after it: the second is not counted. */
		while (!atomic_load(&calling))
			sched_yield();
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_int_equal(pthread_join(thread, &failed), 0);
		assert_null(failed);
		assert_in_range(remote_stats(remote).posts_cancelled, 3, 4);
		rouse_waker_unref(waker);
		rouse_remote_unref(remote);
	}
}

/* ---- Over the budget ---------------------------------------------------------------- */

static void posts_over_the_budget(void **state)
{
	static const struct {
		int posts, over;
	} rows[] = {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 2}, {9, 4}};

	(void)state;
	EACH_POLLER(poller)
	{
		for (size_t i = 0; i < COUNT(rows); i++) {
			rouse_loop *loop = loop_of(poller, 2);
			rouse_remote *remote = rouse_loop_remote(loop);

			for (int n = 0; n < rows[i].posts; n++)
				assert_int_equal(rouse_post(remote, ignore_call, NULL, NULL), 0);
			for (int n = 0; n < 8; n++)
				assert_in_range(rouse_loop_turn(loop, 0), 0, 2);
			assert_int_equal(stats_of(loop).posts_run, rows[i].posts);
			assert_int_equal(stats_of(loop).posts_over, rows[i].over);
			assert_int_equal(stats_of(loop).timers_over, 0);
			assert_int_equal(stats_of(loop).hooks_over, 0);
			assert_int_equal(stats_of(loop).fds_over, 0);
			rouse_remote_unref(remote);
			assert_int_equal(rouse_loop_destroy(loop), 0);
		}
	}
}

static void timers_over_the_budget(void **state)
{
	static const struct {
		int timers, over;
	} rows[] = {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 2}};

	(void)state;
	EACH_POLLER(poller)
	{
		for (size_t i = 0; i < COUNT(rows); i++) {
			rouse_loop *loop = loop_of(poller, 2);

			for (int n = 0; n < rows[i].timers; n++)
				assert_int_equal(
				        rouse_timer_add(loop, 1, 0, 0, ignore_timer, NULL, NULL),
				        0);
			for (int n = 0; n < 5; n++)
				assert_in_range(rouse_loop_turn(loop, 0), 0, 2);
			assert_int_equal(stats_of(loop).callbacks, rows[i].timers);
			assert_int_equal(stats_of(loop).timers_over, rows[i].over);
			assert_int_equal(stats_of(loop).posts_over, 0);
			assert_int_equal(rouse_loop_destroy(loop), 0);
		}
	}
}

struct display {
	int events;
};

static rouse_ns display_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)loop;
	(void)self;
	(void)flags;
	return ((struct display *)data)->events ? 0 : ROUSE_NEVER;
}

static int display_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)loop;
	(void)self;
	(void)ready;
	return ((struct display *)data)->events > 0;
}

static int display_dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	struct display *d = data;
	int handled = d->events < (int)budget ? d->events : (int)budget;

	(void)loop;
	(void)self;
	d->events -= handled;
	return handled;
}

static void hooks_over_the_budget(void **state)
{
	static const struct {
		int events[2], over;
	} rows[] = {{{1, 0}, 0}, {{1, 1}, 0}, {{3, 0}, 1}, {{5, 0}, 2}, {{3, 1}, 1}};

	(void)state;
	EACH_POLLER(poller)
	{
		for (size_t i = 0; i < COUNT(rows); i++) {
			const rouse_hook hook = {.size = sizeof hook,
			                         .fd = ROUSE_NO_FD,
			                         .prepare = display_prepare,
			                         .check = display_check,
			                         .dispatch = display_dispatch};
			rouse_loop *loop = loop_of(poller, 2);
			struct display displays[2];
			int total = 0;

			for (int n = 0; n < 2; n++) {
				displays[n].events = rows[i].events[n];
				total += rows[i].events[n];
				assert_int_equal(rouse_hook_add(loop, &hook, &displays[n], NULL),
				                 0);
			}
			/* The budget is each hook's. */
			for (int n = 0; n < 6; n++)
				assert_in_range(rouse_loop_turn(loop, 0), 0, 4);
			assert_int_equal(stats_of(loop).callbacks, total);
			assert_int_equal(stats_of(loop).hooks_over, rows[i].over);
			assert_int_equal(stats_of(loop).posts_over, 0);
			assert_int_equal(rouse_loop_destroy(loop), 0);
		}
	}
}

/* A poller does not say whether there were more than it was asked for. */
static void descriptors_as_many_as_the_budget(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_of(poller, 2);
		rouse_source sources[3];
		rouse_fd ends[3][2];

		if (!has_descriptors(loop)) {
			assert_int_equal(rouse_loop_destroy(loop), 0);
			continue;
		}
		for (int i = 0; i < 3; i++) {
			env_pair_open(&ends[i][0], &ends[i][1]);
			assert_int_equal(rouse_fd_add(loop, ends[i][1], ROUSE_WRITABLE, ignore_fd,
			                              NULL, &sources[i]),
			                 0);
		}
		for (int i = 1; i <= 5; i++) {
			assert_int_equal(rouse_loop_turn(loop, 0), 2);
			assert_int_equal(stats_of(loop).fds_over, i);
		}
		assert_int_equal(rouse_remove(loop, sources[0]), 0);
		assert_int_equal(rouse_remove(loop, sources[1]), 0);
		/* What a poller heard of them comes first, and is nothing. */
		while (rouse_loop_turn(loop, 0) == 0)
			continue;
		for (int i = 0; i < 5; i++)
			assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(stats_of(loop).fds_over, 5);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		for (int i = 0; i < 3; i++) {
			env_pair_close(ends[i][0]);
			env_pair_close(ends[i][1]);
		}
	}
}

/* ---- Sizes -------------------------------------------------------------------------- */

static void sizes_of_the_struct(void **state)
{
	struct {
		rouse_stats now;
		uint64_t later[2];
	} newer;
	const size_t least = sizeof newer.now.size;
	rouse_loop *loop = loop_on(NULL, NULL);
	rouse_remote *remote = rouse_loop_remote(loop);

	(void)state;
	assert_int_equal(rouse_loop_turn(loop, 0), 0);
	assert_int_equal(rouse_remote_stats(NULL, &newer.now), ROUSE_EINVAL);
	assert_int_equal(rouse_remote_stats(remote, NULL), ROUSE_EINVAL);
	for (size_t size = 0; size <= sizeof newer; size++) {
		unsigned char *bytes = (unsigned char *)&newer;
		int expected = size < least ? ROUSE_EINVAL : 0;

		memset(&newer, 0x5a, sizeof newer);
		newer.now.size = size;
		/* Its tail is zero where it has one. */
		memset(newer.later, 0, sizeof newer.later);
		assert_int_equal(rouse_remote_stats(remote, &newer.now), expected);
		assert_int_equal(newer.now.size, size);
		if (!expected && size >= least + sizeof(uint64_t))
			assert_int_equal(newer.now.turns, 1);
		for (size_t i = expected ? least : size; i < sizeof newer.now; i++)
			assert_int_equal(bytes[i], 0x5a);
	}
	for (size_t i = sizeof newer.now; i < sizeof newer; i++) {
		memset(&newer, 0, sizeof newer);
		newer.now.size = i + 1;
		((unsigned char *)&newer)[i] = 1;
		assert_int_equal(rouse_remote_stats(remote, &newer.now), ROUSE_EABI);
		assert_int_equal(newer.now.turns, 0);
		/* Beyond its end nothing is looked at. */
		newer.now.size = i;
		assert_int_equal(rouse_remote_stats(remote, &newer.now), 0);
	}
	rouse_remote_unref(remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(the_same_from_any_thread),
	        cmocka_unit_test(never_backwards_while_the_loop_runs),
	        cmocka_unit_test(after_the_loops_end),
	        cmocka_unit_test(posts_tasks_and_calls_that_were_cancelled),
	        cmocka_unit_test(posts_over_the_budget),
	        cmocka_unit_test(timers_over_the_budget),
	        cmocka_unit_test(hooks_over_the_budget),
	        cmocka_unit_test(descriptors_as_many_as_the_budget),
	        cmocka_unit_test(sizes_of_the_struct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
