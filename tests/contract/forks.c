/* A forked child and the loop it inherited: refused, and nothing of the parent's. */
#include "inherited.h"

#include <signal.h>

/* ---- F10: refused ------------------------------------------------------------------- */

static void abuse(void *data)
{
	(void)data;
	assert_all_refused(ROUSE_EFORKED);
	raise(SIGUSR1);
	assert_all_refused(ROUSE_EFORKED);
	/* What returns no error does no harm: the last references, too. */
	assert_non_null(rouse_loop_poller(e.env->loop));
	rouse_loop_caps(e.env->loop);
	rouse_loop_now(e.env->loop);
	rouse_remote_unref(rouse_remote_ref(e.remote));
	rouse_waker_unref(rouse_waker_ref(e.waker));
	rouse_waker_unref(e.waker);
	rouse_remote_unref(e.remote);
}

static rouse_task task;

static void run_task(rouse_loop *loop, rouse_task *ran)
{
	(void)loop;
	(void)ran;
}

static void refuse_what_is_queued(void *data)
{
	assert_int_equal(rouse_remote_stop(e.remote), ROUSE_EFORKED);
	assert_int_equal(rouse_post_task(e.remote, &task), ROUSE_EFORKED);
	assert_int_equal(rouse_wake(e.waker), ROUSE_EFORKED);
	(void)data;
}

static void f10_what_is_queued_already_is_refused_too(void **state)
{
	struct env *env = *state;

	build(env);
	task = (rouse_task){.run = run_task};
	assert_int_equal(rouse_post_task(e.remote, &task), 0);
	assert_int_equal(rouse_remote_stop(e.remote), 0);
	assert_true(rouse_wake(e.waker) >= 0);
	in_child(refuse_what_is_queued, NULL);
	ENV_UNTIL(env, e.woken);
	assert_int_equal(rouse_loop_take_stop(env->loop), 1);
	assert_int_equal(env_drain(env), 0);
	finish();
}

static void f10_an_inherited_loop_refuses_and_reaches_nothing(void **state)
{
	build(*state);
	assert_untouched(*state, abuse);
	finish();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f10_what_is_queued_already_is_refused_too),
	        env_test(f10_an_inherited_loop_refuses_and_reaches_nothing),
	};

	return env_main(argc, argv, "forks", tests, sizeof tests / sizeof *tests);
}
