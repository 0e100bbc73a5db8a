/*
 * Every single allocation fails once, over a life that uses all there is: each failure is said,
 * nothing is left behind by it, and the same call works when made again.
 */
#include "unit.h"

#include "contract/env.h"

#include <rouse/null.h>

#include <string.h>

/* Enough of each that every table grows once more after its first size. */
enum { POSTS = 70, TIMERS = 20, DESCRIPTORS = 20, SCRIPTED = 20 };

static struct {
	struct counting memory;
	rouse_loop *loop;
	rouse_remote *remote;
	rouse_waker *waker;
	rouse_task task;
	rouse_fd ends[DESCRIPTORS + 1][2]; /* each with a byte in it */
	int woken, posted, tasks, fired, ready, displays;
	unsigned refusals;
} f;

/* ---- What is called ------------------------------------------------------------------- */

static void run_task(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
	f.tasks++;
}

static void fire(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	(void)data;
	f.fired++;
}

static void see(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)loop;
	(void)self;
	(void)fd;
	(void)data;
	assert_int_equal(events, ROUSE_READABLE);
	f.ready++;
}

static int display(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)loop;
	(void)self;
	(void)budget;
	(void)data;
	f.displays++;
	return 1;
}

/* ---- The life ---------------------------------------------------------------------------- */

/* Where the call was refused for want of memory it is made again, and then it works. */
#define must(call)                                                                                 \
	do {                                                                                       \
		unsigned blocks_ = f.memory.outstanding;                                           \
		int result_ = (call);                                                              \
		if (result_ == ROUSE_ENOMEM) {                                                     \
			f.refusals++;                                                              \
			may_have_grown(blocks_);                                                   \
			result_ = (call);                                                          \
		}                                                                                  \
		assert_int_equal(result_, 0);                                                      \
	} while (0)

/* Tables that had grown before the failure stay so; the object itself is gone.  What a socket is
 * asked by is the system's until that has said that it asks no more. */
#ifdef _WIN32
enum { MAY_STAY = 3 };
#else
enum { MAY_STAY = 2 };
#endif

static void may_have_grown(unsigned before)
{
	assert_in_range(f.memory.outstanding, before, before + MAY_STAY);
}

static int create(const char *poller)
{
	const rouse_loop_options options = {
	        .size = sizeof options, .poller = poller, .allocator = &f.memory.allocator};

	return rouse_loop_create(&options, &f.loop);
}

static void add_sources(void)
{
	rouse_hook hook = {.size = sizeof hook, .events = ROUSE_READABLE, .dispatch = display};
	rouse_source untouched = {0}, source = untouched;

	for (int i = 0; i < DESCRIPTORS; i++) {
		must(rouse_fd_add(f.loop, f.ends[i][0], ROUSE_READABLE, see, NULL, &source));
		assert_true(source.id != untouched.id);
		untouched = source;
	}
	hook.fd = f.ends[DESCRIPTORS][0];
	must(rouse_hook_add(f.loop, &hook, NULL, NULL));
	for (int i = 0; i < TIMERS; i++)
		must(rouse_timer_add(f.loop, 1, 0, 0, fire, NULL, NULL));
	for (int i = 0; i < SCRIPTED && !has_descriptors(f.loop); i++)
		must(rouse_null_script(f.loop, ROUSE_NEVER - 1, 0, 0));
}

static void use(void)
{
	must(rouse_waker_create(f.loop, count_call, &f.woken, &f.waker));
	for (int i = 0; i < POSTS; i++)
		must(rouse_post(f.remote, count_call, &f.posted, count_cancel));
	must(rouse_post_task(f.remote, &f.task));
	assert_int_equal(rouse_wake(f.waker), 0);
	add_sources();
	for (int i = 0; i <= DESCRIPTORS && !has_descriptors(f.loop); i++)
		must(rouse_null_script(f.loop, 0, f.ends[i][0], ROUSE_READABLE));
	assert_int_equal(rouse_loop_turn(f.loop, 0), POSTS + 2 + TIMERS + 1 + DESCRIPTORS);
	assert_int_equal(f.posted, POSTS);
	assert_int_equal(f.tasks, 1);
	assert_int_equal(f.woken, 1);
	assert_int_equal(f.fired, TIMERS);
	assert_int_equal(f.ready, DESCRIPTORS);
	assert_int_equal(f.displays, 1);
	/* Once, not twice. */
	assert_int_equal(rouse_loop_turn(f.loop, 0), DESCRIPTORS + 1);
}

static void live(const char *poller)
{
	unsigned open = open_descriptors();

	must(create(poller));
	f.remote = rouse_loop_remote(f.loop);
	use();
	rouse_remote_unref(f.remote);
	rouse_waker_unref(f.waker);
	assert_int_equal(rouse_loop_destroy(f.loop), 0);
	counting_check(&f.memory);
	assert_int_equal(open_descriptors(), open);
}

static void reset(void)
{
	counting_init(&f.memory);
	f.task = (rouse_task){.run = run_task};
	f.woken = f.posted = f.tasks = f.fired = f.ready = f.displays = 0;
	f.refusals = 0;
}

static void l9_each_allocation_fails_once(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		unsigned allocations;

		reset();
		live(poller);
		allocations = f.memory.made;
		assert_int_equal(f.refusals, 0);
		/* Whatever the poller: loop, batch, remote, waker, two chunks, and the sources. */
		assert_true(allocations > 6 + TIMERS + DESCRIPTORS);
		for (unsigned n = 1; n <= allocations; n++) {
			reset();
			counting_fail(&f.memory, n);
			live(poller);
			assert_int_equal(f.refusals, 1);
		}
	}
}

/* ---- Posts ---------------------------------------------------------------------------------- */

static void q8_a_refused_post_is_not_queued(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_remote *remote;
		rouse_loop *loop;
		int ran = 0, refused = 0, queued = 0;

		reset();
		loop = loop_on(poller, &f.memory);
		remote = rouse_loop_remote(loop);
		/* Each time that the slab wants to grow it is refused first. */
		while (refused < 3) {
			int result;

			counting_fail(&f.memory, 1);
			result = rouse_post(remote, count_call, &ran, count_cancel);
			if (result == 0) {
				queued++;
				continue;
			}
			assert_int_equal(result, ROUSE_ENOMEM);
			refused++;
			f.memory.fail_at = 0;
			assert_int_equal(rouse_post(remote, count_call, &ran, NULL), 0);
			queued++;
		}
		/* The caller's own node needs none. */
		counting_fail(&f.memory, 1);
		assert_int_equal(rouse_post_task(remote, &f.task), 0);
		f.memory.fail_at = 0;
		while (rouse_loop_turn(loop, 0) > 0)
			;
		assert_int_equal(ran, queued);
		assert_int_equal(f.tasks, 1);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&f.memory);
	}
}

/* ---- The steady state -------------------------------------------------------------------------
 */

static void round_of_everything(rouse_loop *loop, rouse_remote *remote, rouse_source timer,
                                rouse_source fd)
{
	assert_true(rouse_wake(f.waker) >= 0);
	for (int i = 0; i < 3; i++)
		assert_true(rouse_post(remote, count_call, &f.posted, NULL) >= 0);
	assert_true(rouse_post_task(remote, &f.task) >= 0);
	assert_int_equal(rouse_timer_set(loop, timer, 1, 0, 0), 0);
	assert_int_equal(rouse_fd_set_events(loop, fd, ROUSE_READABLE), 0);
	assert_int_equal(rouse_fd_set_events(loop, fd, 0), 0);
	/* The wake, the posts, the task, the timer. */
	assert_int_equal(rouse_loop_turn(loop, 0), 6);
}

static void the_steady_state_allocates_nothing(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		for (int guest = 0; guest <= can_be_guest(poller); guest++) {
			rouse_remote *remote;
			rouse_source timer, fd;
			rouse_ns deadline;
			rouse_loop *loop;
			unsigned made;

			reset();
			loop = loop_on(poller, &f.memory);
			remote = rouse_loop_remote(loop);
			assert_int_equal(rouse_waker_create(loop, count_call, &f.woken, &f.waker),
			                 0);
			assert_int_equal(
			        rouse_timer_add(loop, ROUSE_NEVER, 0, 0, fire, NULL, &timer), 0);
			assert_int_equal(rouse_fd_add(loop, f.ends[0][0], 0, see, NULL, &fd), 0);
			if (guest)
				assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
			round_of_everything(loop, remote, timer, fd);
			made = f.memory.made;
			for (int i = 0; i < 1000; i++)
				round_of_everything(loop, remote, timer, fd);
			assert_int_equal(f.memory.made, made);
			rouse_waker_unref(f.waker);
			rouse_remote_unref(remote);
			assert_int_equal(rouse_loop_destroy(loop), 0);
			counting_check(&f.memory);
		}
	}
}

static int open_ends(void **state)
{
	(void)state;
	for (int i = 0; i <= DESCRIPTORS; i++) {
		env_pair_open(&f.ends[i][0], &f.ends[i][1]);
		env_pair_write(f.ends[i][1]);
	}
	return 0;
}

static int close_ends(void **state)
{
	(void)state;
	for (int i = 0; i <= DESCRIPTORS; i++) {
		env_pair_close(f.ends[i][0]);
		env_pair_close(f.ends[i][1]);
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(l9_each_allocation_fails_once),
	        cmocka_unit_test(q8_a_refused_post_is_not_queued),
	        cmocka_unit_test(the_steady_state_allocates_nothing),
	};

	return cmocka_run_group_tests(tests, open_ends, close_ends);
}
