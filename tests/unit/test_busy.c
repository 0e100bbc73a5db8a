/* Turning and destroying a loop from inside its callbacks; and what a loop could sleep on when it
 * becomes a guest, or gets a hook, at the last moment. */
#include "unit.h"

#include "contract/env.h"

#include <rouse/null.h>

#ifndef _WIN32
#include <poll.h>
#endif

static struct counting memory;

static int asked;
static rouse_loop *asked_about;

/* In a callback of a loop that is nobody's guest. */
static void ask_in_callback(void)
{
	rouse_loop *loop = asked_about;

	asked++;
	assert_int_equal(rouse_loop_destroy(loop), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_turn(loop, 0), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_turn(loop, ROUSE_NEVER), ROUSE_EBUSY);
	/* A run that is refused does not use a stop up. */
	assert_int_equal(rouse_loop_stop(loop), 0);
	assert_int_equal(rouse_loop_run(loop), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_take_stop(loop), 1);
	assert_int_equal(rouse_loop_check(loop, 1), ROUSE_EINVAL);
	assert_int_equal(rouse_loop_dispatch(loop), ROUSE_EINVAL);
}

/* In a hook's prepare, check or release, where a guest too is not to be turned. */
static void ask_in_pass(void)
{
	rouse_loop *loop = asked_about;
	rouse_ns deadline = 42;
	int guest = rouse_loop_check(loop, 0) != ROUSE_EINVAL;

	asked++;
	assert_int_equal(rouse_loop_destroy(loop), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_run(loop), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_turn(loop, 0), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_prepare(loop, 0, NULL), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_check(loop, 1), guest ? ROUSE_EBUSY : ROUSE_EINVAL);
	assert_int_equal(rouse_loop_dispatch(loop), guest ? ROUSE_EBUSY : ROUSE_EINVAL);
	assert_true(deadline == 42);
}

static void ask_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)fd;
	(void)events;
	(void)data;
	ask_in_callback();
	assert_int_equal(rouse_remove(loop, self), 0);
}

static void ask_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	(void)data;
	ask_in_callback();
}

static void ask_call(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	ask_in_callback();
}

static void ask_task(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
	ask_in_callback();
}

static rouse_ns ask_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)loop;
	(void)self;
	(void)flags;
	(void)data;
	ask_in_pass();
	return ROUSE_NEVER;
}

static int ask_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)loop;
	(void)self;
	(void)ready;
	(void)data;
	ask_in_pass();
	return 1;
}

static int ask_dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)loop;
	(void)self;
	(void)budget;
	(void)data;
	ask_in_callback();
	return 1;
}

static void ask_release(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	ask_in_pass();
}

static void ask_cancel(void *data)
{
	(void)data;
	ask_in_pass();
}

static void l6_callbacks_neither_turn_nor_destroy(void **state)
{
	const rouse_hook hook = {.size = sizeof hook,
	                         .fd = ROUSE_NO_FD,
	                         .check = ask_check,
	                         .dispatch = ask_dispatch};
	rouse_fd ends[2];

	(void)state;
	env_pair_open(&ends[0], &ends[1]);
	env_pair_write(ends[1]);
	EACH_POLLER(poller)
	{
		rouse_loop *loop = asked_about = loop_on(poller, &memory);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_task task = {.run = ask_task};
		rouse_waker *waker;
		rouse_source source;

		asked = 0;
		assert_int_equal(rouse_waker_create(loop, ask_call, NULL, &waker), 0);
		assert_int_equal(rouse_wake(waker), 0);
		assert_int_equal(rouse_post(remote, ask_call, NULL, NULL), 0);
		assert_int_equal(rouse_post_task(remote, &task), 0);
		assert_int_equal(rouse_timer_add(loop, 1, 0, 0, ask_timer, NULL, NULL), 0);
		assert_int_equal(rouse_hook_add(loop, &hook, NULL, &source), 0);
		assert_int_equal(rouse_fd_add(loop, ends[0], ROUSE_READABLE, ask_fd, NULL, NULL),
		                 0);
		if (!has_descriptors(loop))
			assert_int_equal(rouse_null_script(loop, 0, ends[0], ROUSE_READABLE), 0);
		/* Wake, post, task, timer, hook and descriptor, and the hook's check. */
		assert_int_equal(rouse_loop_turn(loop, 0), 6);
		assert_int_equal(asked, 7);
		assert_int_equal(rouse_call(remote, ask_call, NULL), 0);
		assert_int_equal(asked, 8);
		/* No harm was done. */
		assert_int_equal(rouse_remove(loop, source), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		rouse_waker_unref(waker);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
	env_pair_close(ends[0]);
	env_pair_close(ends[1]);
}

static void hooks_and_the_end_are_not_nested_in(void **state)
{
	const rouse_hook hook = {.size = sizeof hook,
	                         .fd = ROUSE_NO_FD,
	                         .prepare = ask_prepare,
	                         .check = ask_check,
	                         .release = ask_release};

	(void)state;
	EACH_POLLER(poller)
	{
		for (int guest = 0; guest <= can_be_guest(poller); guest++) {
			rouse_loop *loop = asked_about = loop_on(poller, &memory);
			rouse_remote *remote = rouse_loop_remote(loop);
			rouse_source source;
			rouse_ns deadline;

			asked = 0;
			if (guest)
				assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
			assert_int_equal(rouse_hook_add(loop, &hook, NULL, &source), 0);
			if (guest)
				assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
			assert_true(rouse_loop_turn(loop, 0) >= 0);
			/* A guest's turn prepares the next wait. */
			assert_int_equal(asked, guest ? 3 : 2);

			asked = 0;
			assert_int_equal(rouse_remove(loop, source), 0);
			assert_int_equal(asked, 1);
			assert_int_equal(rouse_hook_add(loop, &hook, NULL, NULL), 0);
			assert_in_range(rouse_post(remote, count_call, NULL, ask_cancel), 0, 1);
			assert_int_equal(rouse_loop_destroy(loop), 0);
			assert_int_equal(asked, 3);
			rouse_remote_unref(remote);
			counting_check(&memory);
		}
	}
}

static void run_in_guest(rouse_loop *loop, void *data)
{
	int *turned = data;

	assert_int_equal(rouse_loop_destroy(loop), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_run(loop), ROUSE_EBUSY);
	*turned = rouse_loop_turn(loop, 0) >= 0;
}

static void l6_guests_are_turned_but_not_run(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_ns deadline;
		int turned = 0;

		assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
		assert_int_equal(rouse_loop_run(loop), ROUSE_EBUSY);
		assert_int_equal(rouse_post(remote, run_in_guest, &turned, NULL), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(turned, 1);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

struct nesting {
	rouse_waker *waker;
	int ran, inside;
};

static void wake_and_nest(rouse_loop *loop, void *data)
{
	struct nesting *n = data;

	assert_int_equal(n->inside, 0);
	n->inside = 1;
	if (n->ran++ == 0) {
		assert_true(rouse_wake(n->waker) >= 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		/* Pending still. */
		assert_int_equal(rouse_wake(n->waker), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
	}
	n->inside = 0;
}

static void l6_a_wake_inside_its_own_callback_waits(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		struct nesting n = {.ran = 0};
		rouse_ns deadline;

		assert_int_equal(rouse_waker_create(loop, wake_and_nest, &n, &n.waker), 0);
		assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
		assert_int_equal(rouse_wake(n.waker), 1);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(n.ran, 1);
		assert_int_equal(rouse_loop_turn(loop, rouse_loop_now(loop) + HANG), 1);
		assert_int_equal(n.ran, 2);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		rouse_waker_unref(n.waker);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

/* What was queued while nobody had to ring is seen by the first wait as a guest. */
static void becoming_a_guest_loses_nothing(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_ns deadline = 42, hang = rouse_loop_now(loop) + HANG;
		int ran = 0;

		assert_int_equal(rouse_post(remote, count_call, &ran, NULL), 0);
		assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
		assert_true(deadline == 0);
		assert_int_equal(rouse_loop_turn(loop, hang), 1);
		assert_int_equal(ran, 1);
		assert_true(rouse_loop_now(loop) < hang);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

/* A host that asked for deadlines first, and for the descriptor later, may rely on that alone. */
#ifndef _WIN32
static void a_descriptor_asked_for_late_carries_all(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		struct pollfd host = {.events = POLLIN};
		rouse_ns deadline;
		int ran = 0;

		assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
		assert_int_equal(rouse_timer_add(loop, rouse_loop_now(loop) + MS, 0, 0,
		                                 ignore_timer, NULL, NULL),
		                 0);
		if (rouse_loop_caps(loop) & ROUSE_CAP_POLLABLE) {
			assert_int_equal(rouse_loop_fd(loop, &host.fd), 0);
			while (!ran) {
				assert_int_equal(poll(&host, 1, (int)(HANG / MS)), 1);
				ran = rouse_loop_turn(loop, 0);
			}
			assert_int_equal(ran, 1);
		}
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

#endif

/* ---- Hooks that come late --------------------------------------------------------------- */

static rouse_ns has_work(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)loop;
	(void)self;
	(void)flags;
	++*(int *)data;
	return 0;
}

static rouse_ns add_one(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .prepare = has_work};

	(void)flags;
	assert_int_equal(rouse_hook_add(loop, &hook, data, NULL), 0);
	assert_int_equal(rouse_remove(loop, self), 0);
	return ROUSE_NEVER;
}

/* It may have work already: the wait that follows must not sleep on it. */
static void a_hook_added_in_prepare_is_prepared(void **state)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .prepare = add_one};

	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_ns hang = rouse_loop_now(loop) + HANG;
		int prepared = 0;

		assert_int_equal(rouse_hook_add(loop, &hook, &prepared, NULL), 0);
		assert_int_equal(rouse_loop_turn(loop, hang), 0);
		assert_int_equal(prepared, 1);
		assert_true(rouse_loop_now(loop) < hang);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

/* ---- Hooks that are suspended -------------------------------------------------------------- */

struct display {
	struct display *other;
	int nests, suspended, prepared, checked;
	unsigned flags;
};

static rouse_ns note_flags(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	struct display *d = data;

	(void)loop;
	(void)self;
	d->prepared++;
	d->flags |= flags;
	return d->suspended ? 0 : ROUSE_NEVER;
}

static int note_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	struct display *d = data;

	(void)loop;
	(void)self;
	(void)ready;
	d->checked++;
	return d->nests;
}

static int nest(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	struct display *d = data;
	rouse_ns until = rouse_loop_now(loop) + MS;

	(void)self;
	(void)budget;
	d->nests = 0;
	d->suspended = 1;
	d->prepared = d->checked = d->other->prepared = d->other->checked = 0;
	assert_int_equal(rouse_loop_turn(loop, until), 0);
	/* That it says 0 ends no wait; where time is virtual, that can be seen. */
	if (!has_descriptors(loop))
		assert_true(rouse_loop_now(loop) == until);
	d->suspended = 0;
	return 1;
}

/* Prepared for the wait and after the turn, but asked to hold nothing: no check will let go. */
static void l6_a_suspended_hook_holds_nothing(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		struct display one = {.nests = 1}, two = {.other = &one};
		const rouse_hook hook = {.size = sizeof hook,
		                         .fd = ROUSE_NO_FD,
		                         .prepare = note_flags,
		                         .check = note_check,
		                         .dispatch = nest};
		rouse_ns deadline;

		one.other = &two;
		assert_int_equal(rouse_hook_add(loop, &hook, &one, NULL), 0);
		assert_int_equal(rouse_hook_add(loop, &hook, &two, NULL), 0);
		assert_int_equal(rouse_loop_prepare(loop, ROUSE_PREPARE_HOLD, &deadline), 0);
		assert_int_equal(one.flags, ROUSE_PREPARE_HOLD);
		assert_int_equal(rouse_loop_check(loop, 1), 1);
		one.flags = two.flags = 0;
		assert_int_equal(rouse_loop_dispatch(loop), 1);
		assert_true(one.prepared > 0);
		assert_int_equal(one.flags, 0);
		assert_int_equal(one.checked, 0);
		assert_true(two.prepared > 0);
		assert_int_equal(two.flags, ROUSE_PREPARE_HOLD);
		assert_int_equal(two.checked, 1);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

static int setup(void **state)
{
	(void)state;
	counting_init(&memory);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(l6_callbacks_neither_turn_nor_destroy, setup),
	        cmocka_unit_test_setup(hooks_and_the_end_are_not_nested_in, setup),
	        cmocka_unit_test_setup(l6_guests_are_turned_but_not_run, setup),
	        cmocka_unit_test_setup(l6_a_wake_inside_its_own_callback_waits, setup),
	        cmocka_unit_test_setup(becoming_a_guest_loses_nothing, setup),
#ifndef _WIN32
	        cmocka_unit_test_setup(a_descriptor_asked_for_late_carries_all, setup),
#endif
	        cmocka_unit_test_setup(a_hook_added_in_prepare_is_prepared, setup),
	        cmocka_unit_test_setup(l6_a_suspended_hook_holds_nothing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
