/* Calls that come too late or too often: after the loop's end, for a waker that is closed, for a
 * task that is queued. */
#include "unit.h"

static struct counting memory;

/* ---- After the end ------------------------------------------------------------------- */

static int tasks_run, tasks_cancelled;

static void run_task(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
	tasks_run++;
}

static void cancel_task(rouse_task *task)
{
	(void)task;
	tasks_cancelled++;
}

static void calls_after_the_end_say_so(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_task task = {.run = run_task, .cancel = cancel_task};
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_remote *remote = rouse_loop_remote(loop);
		rouse_waker *waker;
		int ran = 0;
		unsigned made;

		tasks_run = tasks_cancelled = 0;
		assert_int_equal(rouse_waker_create(loop, count_call, &ran, &waker), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		made = memory.made;
		for (int twice = 0; twice < 2; twice++) {
			assert_int_equal(rouse_wake(waker), ROUSE_ECLOSED);
			assert_int_equal(rouse_post(remote, count_call, &ran, count_cancel),
			                 ROUSE_ECLOSED);
			assert_int_equal(rouse_post_task(remote, &task), ROUSE_ECLOSED);
			assert_int_equal(rouse_call(remote, count_call, &ran), ROUSE_ECLOSED);
			assert_int_equal(rouse_remote_stop(remote), ROUSE_ECLOSED);
		}
		assert_int_equal(memory.made, made);
		assert_int_equal(rouse_waker_close(waker), 0);
		assert_int_equal(ran + tasks_run + tasks_cancelled, 0);

		/* The task was never the loop's, so it is good for another one. */
		rouse_remote_unref(remote);
		loop = loop_on(poller, &memory);
		remote = rouse_loop_remote(loop);
		assert_int_equal(rouse_post_task(remote, &task), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(tasks_run, 1);
		rouse_remote_unref(remote);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_ptr_equal(rouse_waker_ref(waker), waker);
		assert_null(rouse_waker_unref(waker));
		assert_null(rouse_waker_unref(waker));
		counting_check(&memory);
	}
}

static void a_closed_waker_says_so(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_waker *waker;
		int ran = 0;

		assert_int_equal(rouse_waker_create(loop, count_call, &ran, &waker), 0);
		assert_int_equal(rouse_wake(waker), 0);
		assert_int_equal(rouse_waker_close(waker), 0);
		assert_int_equal(rouse_waker_close(waker), 0);
		/* Also the wake that is pending does not run. */
		assert_int_equal(rouse_wake(waker), ROUSE_ECLOSED);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		assert_int_equal(rouse_wake(waker), ROUSE_ECLOSED);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		assert_int_equal(ran, 0);
		rouse_waker_unref(waker);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

/* What the loop's end calls, and what is asked of the loop from there. */
struct end {
	rouse_loop *loop;
	rouse_waker *woken, *dropped[2];
	int called;
};

static void use_the_end(struct end *e)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};
	rouse_source source = {42};
	rouse_waker *waker = NULL;

	assert_int_equal(rouse_wake(e->woken), ROUSE_ECLOSED);
	e->dropped[e->called] = rouse_waker_unref(e->dropped[e->called]);
	e->called++;
	assert_int_equal(rouse_waker_create(e->loop, NULL, NULL, &waker), ROUSE_ECLOSED);
	assert_int_equal(rouse_timer_add(e->loop, 1, 0, 0, ignore_timer, NULL, &source),
	                 ROUSE_ECLOSED);
	assert_int_equal(rouse_hook_add(e->loop, &hook, NULL, &source), ROUSE_ECLOSED);
	assert_int_equal(rouse_fd_add(e->loop, 0, 0, ignore_fd, NULL, &source), ROUSE_ECLOSED);
	assert_null(waker);
	assert_true(source.id == 42);
}

static void use_in_cancel(void *data)
{
	use_the_end(data);
}

static void use_in_release(rouse_loop *loop, void *data)
{
	(void)loop;
	use_the_end(data);
}

/* The queue is closed first: what a cancel or a release does then leaves nothing in it. */
static void calls_while_the_loop_ends_say_so(void **state)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .release = use_in_release};

	(void)state;
	EACH_POLLER(poller)
	{
		struct end e = {.loop = loop_on(poller, &memory)};
		rouse_remote *remote = rouse_loop_remote(e.loop);

		assert_int_equal(rouse_waker_create(e.loop, NULL, NULL, &e.woken), 0);
		for (int i = 0; i < 2; i++)
			assert_int_equal(rouse_waker_create(e.loop, NULL, NULL, &e.dropped[i]), 0);
		assert_int_equal(rouse_hook_add(e.loop, &hook, &e, NULL), 0);
		assert_int_equal(rouse_post(remote, count_call, &e, use_in_cancel), 0);
		assert_int_equal(rouse_loop_destroy(e.loop), 0);
		assert_int_equal(e.called, 2);
		rouse_remote_unref(remote);
		rouse_waker_unref(e.woken);
		counting_check(&memory);
	}
}

/* ---- Queued twice ----------------------------------------------------------------------- */

struct again {
	rouse_task task;
	rouse_remote *remote;
	int ran, result;
};

/* It is the caller's again by now. */
static void post_again(rouse_loop *loop, rouse_task *task)
{
	struct again *again = (struct again *)task;

	(void)loop;
	if (again->ran++ == 0)
		again->result = rouse_post_task(again->remote, task);
}

static void a_task_is_queued_once(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		struct again again = {.task.run = post_again,
		                      .task.cancel = cancel_task,
		                      .remote = rouse_loop_remote(loop),
		                      .result = 1};

		tasks_cancelled = 0;
		assert_int_equal(rouse_post_task(again.remote, &again.task), 0);
		assert_int_equal(rouse_post_task(again.remote, &again.task), ROUSE_EEXIST);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(again.ran, 1);
		assert_int_equal(again.result, 0);
		assert_int_equal(rouse_post_task(again.remote, &again.task), ROUSE_EEXIST);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(rouse_loop_turn(loop, 0), 0);
		assert_int_equal(again.ran, 2);

		assert_int_equal(rouse_post_task(again.remote, &again.task), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_int_equal(again.ran, 2);
		assert_int_equal(tasks_cancelled, 1);
		/* Closed, and not queued for ever. */
		assert_int_equal(rouse_post_task(again.remote, &again.task), ROUSE_ECLOSED);
		rouse_remote_unref(again.remote);
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
	        cmocka_unit_test_setup(calls_after_the_end_say_so, setup),
	        cmocka_unit_test_setup(calls_while_the_loop_ends_say_so, setup),
	        cmocka_unit_test_setup(a_closed_waker_says_so, setup),
	        cmocka_unit_test_setup(a_task_is_queued_once, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
