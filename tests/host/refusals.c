/* What a host does where the loop, the system or memory says no; and where a guest lets go at the
 * least convenient of moments. */
#include "guest.h"

#include "bare.h"
#include "core/fault.h"

#include <errno.h>

static int open_host(void **state)
{
	(void)state;
	host_open();
	return 0;
}

static int close_host(void **state)
{
	(void)state;
	rouse__fault_reset();
	host_close();
	return 0;
}

static void serves(rouse_loop *loop)
{
	unsigned posts = 0;

	bare_post(loop, &posts);
	UNTIL(posts);
}

static void can_be_attached(rouse_loop *loop)
{
	assert_int_equal(host_attach(loop), 0);
	serves(loop);
	assert_int_equal(host_detach(), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void f9_what_the_system_refuses_changes_nothing(void **state)
{
	static const enum rouse__call calls[] = {ROUSE__EPOLL_CREATE, ROUSE__TIMERFD,
	                                         ROUSE__EPOLL_CTL};

	(void)state;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		rouse_loop *loop = bare_loop();
		unsigned asked;

		rouse__fault_reset();
		asked = rouse__fault_count(calls[i]);
		rouse__fault_fail(calls[i], 0, 1, EMFILE);
		assert_int_equal(host_attach(loop), ROUSE_EOS);
		assert_true(rouse__fault_count(calls[i]) > asked);
		rouse__fault_reset();
		settle();
		bare_assert_own(loop);
		can_be_attached(loop);
	}
}

static void l9_no_memory_changes_nothing(void **state)
{
	struct bare_memory memory;
	rouse_loop *loop = bare_loop_on(&memory);
	unsigned blocks = memory.blocks, failed = 0;

	(void)state;
	for (unsigned left = 0;; left++) {
		int error;

		memory.left = left;
		error = host_attach(loop);
		memory.left = 1000;
		if (!error)
			break;
		assert_int_equal(error, ROUSE_ENOMEM);
		assert_int_equal(memory.blocks, blocks);
		settle();
		bare_assert_own(loop);
		failed++;
	}
	/* A recipe takes none. */
	assert_int_equal(failed > 0, host_kind.adapter);
	serves(loop);
	assert_int_equal(host_detach(), 0);
	can_be_attached(loop);
	settle();
	assert_int_equal(memory.blocks, 0);
}

static void attach_in_release(rouse_loop *loop, void *data)
{
	*(int *)data = host_attach(loop);
}

/* While it is destroyed, and a host could have it for no time at all. */
static void a_closed_loop_is_refused(void **state)
{
	rouse_loop *loop = bare_loop();
	int result = 0;
	const rouse_hook hook = {
	        .size = sizeof hook, .fd = ROUSE_NO_FD, .release = attach_in_release};

	(void)state;
	if (!host_kind.adapter)
		skip();
	assert_int_equal(rouse_hook_add(loop, &hook, &result, NULL), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	assert_int_equal(result, ROUSE_ECLOSED);
	settle();
}

struct nest {
	rouse_remote *remote;
	unsigned asked, refused, answers;
};

static void go_on(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct nest *)data)->answers++;
}

/* What would be after the nested loop goes into a callback of its own. */
static void ask_and_return(rouse_loop *loop, void *data)
{
	struct nest *nest = data;
	rouse_loop *own = bare_loop();
	unsigned posts = 0;

	(void)loop;
	/* One that is nobody's guest may run. */
	bare_post(own, &posts);
	fixture_until(own, &posts, 1);
	assert_int_equal(rouse_loop_destroy(own), 0);
	nest->refused += host_refuses_to_nest();
	assert_true(rouse_post(nest->remote, go_on, nest, NULL) >= 0);
	assert_int_equal(nest->answers, nest->asked);
	nest->asked++;
}

static void l6_a_host_that_does_not_nest_says_so_and_is_unharmed(void **state)
{
	rouse_loop *loop = bare_loop();
	struct nest nest = {.remote = rouse_loop_remote(loop)};

	(void)state;
	assert_int_equal(host_attach(loop), 0);
	for (unsigned i = 1; i <= 20; i++) {
		assert_true(rouse_post(nest.remote, ask_and_return, &nest, NULL) >= 0);
		UNTIL(nest.answers == i);
	}
	assert_int_equal(nest.refused, host_kind.refuses ? 20 : 0);
	assert_int_equal(host_detach(), 0);
	rouse_remote_unref(nest.remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* ---- Letting go ------------------------------------------------------------------------- */

enum pass { PREPARE, CHECK, DISPATCH };

struct leaver {
	enum pass in;
	unsigned left;
};

static void leave(rouse_loop *loop, struct leaver *leaver, enum pass pass)
{
	if (leaver->in != pass || leaver->left)
		return;
	/* Which is not for who has let go. */
	assert_int_equal(rouse_loop_stop(loop), 0);
	assert_int_equal(host_detach(), 0);
	leaver->left++;
}

static rouse_ns leave_in_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)self, (void)flags;
	leave(loop, data, PREPARE);
	return ROUSE_NEVER;
}

static int leave_in_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)self, (void)ready;
	leave(loop, data, CHECK);
	return 1;
}

static int leave_in_dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)self, (void)budget;
	leave(loop, data, DISPATCH);
	return 1;
}

/* As a display's callback does, that has lost its display. */
static void detach_in_each_pass_of_a_hook(void **state)
{
	(void)state;
	for (enum pass in = PREPARE; in <= DISPATCH; in++) {
		struct leaver leaver = {.in = in};
		const rouse_hook hook = {.size = sizeof hook,
		                         .fd = ROUSE_NO_FD,
		                         .prepare = leave_in_prepare,
		                         .check = leave_in_check,
		                         .dispatch = leave_in_dispatch};
		rouse_loop *loop = bare_loop();
		unsigned before = 0, posts = 0;
		rouse_source source;

		assert_int_equal(host_attach(loop), 0);
		assert_int_equal(rouse_hook_add(loop, &hook, &leaver, &source), 0);
		/* No iteration that waits: it could be the one that it leaves in. */
		while (!leaver.left) {
			bare_post(loop, &before);
			host_poll();
		}
		/* What comes now, waits for the next host. */
		bare_post(loop, &posts);
		settle();
		assert_int_equal(posts, 0);
		assert_int_equal(host_dones, 0);
		assert_int_equal(rouse_loop_take_stop(loop), 1);
		assert_int_equal(rouse_remove(loop, source), 0);
		assert_int_equal(host_attach(loop), 0);
		UNTIL(posts);
		assert_int_equal(host_detach(), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

static void detach_when_told_of_a_stop(void **state)
{
	rouse_loop *loop = bare_loop();
	unsigned posts = 0;

	(void)state;
	if (!host_kind.told)
		skip();
	host_leaves = true;
	for (unsigned i = 1; i <= 20; i++) {
		assert_int_equal(host_attach(loop), 0);
		if (i % 2)
			bare_post(loop, &posts);
		assert_int_equal(rouse_loop_stop(loop), 0);
		UNTIL(host_dones == i);
		settle();
		assert_int_equal(host_dones, i);
		assert_int_equal(host_result, 0);
	}
	host_leaves = false;
	can_be_attached(loop);
}

#define host_test(fn) cmocka_unit_test_setup_teardown(fn, open_host, close_host)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        host_test(f9_what_the_system_refuses_changes_nothing),
	        host_test(l9_no_memory_changes_nothing),
	        host_test(a_closed_loop_is_refused),
	        host_test(l6_a_host_that_does_not_nest_says_so_and_is_unharmed),
	        host_test(detach_in_each_pass_of_a_hook),
	        host_test(detach_when_told_of_a_stop),
	};

	host_init(&argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
