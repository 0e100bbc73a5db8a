/* What is against the rules, or a trap, and what happens then: it is answered clearly, or does what
 * docs/windows.md says. */
#include "subject.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A loop that is not there --------------------------------------------------- */

static void nothing(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
}

struct late {
	struct subject *subject;
	rouse_loop *ended;
	void *attached;
	int result;
};

static void attach_late(void *data)
{
	struct late *late = data;

	late->result = subject_attach(late->subject, late->ended, &late->attached);
}

static void attach_to_a_loop_that_ends(void **state)
{
	struct subject s = {0};
	struct late late = {.subject = &s};
	rouse_remote *remote;

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(subject_detach(s.attached), 0);
	assert_int_equal(rouse_loop_create(NULL, &late.ended), 0);
	remote = rouse_loop_remote(late.ended);
	assert_int_equal(rouse_post(remote, nothing, &late, attach_late), 0);
	assert_int_equal(rouse_loop_destroy(late.ended), 0);
	assert_int_equal(late.result, ROUSE_ECLOSED);
	assert_null(late.attached);
	/* The failed one has left nothing. */
	assert_int_equal(subject_attach(&s, s.loop, &s.attached), 0);
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	rouse_remote_unref(remote);
	subject_close(&s);
}

/* ---- The library ends first ------------------------------------------------------- */

/* And says so once; the loop goes on. */
static void await_loss(struct subject *s)
{
	unsigned ticks = 0, turns = 0;

	fixture_until(s->loop, &s->lost, 1);
	assert_int_equal(rouse_timer_add(s->loop, rouse_now() + 20 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	while (ticks == 0) {
		assert_true(rouse_loop_turn(s->loop, rouse_now() + LONG) >= 0);
		turns++;
	}
	assert_true(turns <= 3);
	assert_int_equal(s->lost, 1);
	assert_int_equal(s->after, s->after_until_lost);
}

static void quit(rouse_loop *loop, void *data)
{
	(void)loop;
	subject_quit(data);
}

static void library_that_ends_while_attached_is_lost(void **state)
{
	struct subject s = {.period = MS};
	rouse_remote *remote;
	void *attached = NULL;

	(void)state;
	subject_open(&s, NULL);
	remote = rouse_loop_remote(s.loop);
	subject_send(&s, 1);
	assert_int_equal(rouse_post(remote, quit, &s, NULL), 0);
	await_loss(&s);
	assert_int_equal(subject_attach(&s, s.loop, &attached), ROUSE_EINVAL);
	assert_int_equal(subject_detach(s.attached), 0);
	assert_int_equal(subject_attach(&s, s.loop, &attached), ROUSE_EINVAL);
	assert_null(attached);
	/* And once it is there again, it may be attached again. */
	assert_true(library_open(&s));
	server_join(&s);
	assert_int_equal(subject_attach(&s, s.loop, &s.attached), 0);
	s.events = 0;
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	rouse_remote_unref(remote);
	subject_close(&s);
}

static void quit_and_detach(rouse_loop *loop, void *data)
{
	struct subject *s = data;

	(void)loop;
	subject_quit(s);
	assert_int_equal(subject_detach(s->attached), 0);
	s->attached = NULL;
}

/* The wrong way round, with an event reported in the same turn. */
static void library_that_ends_just_before_it_is_detached(void **state)
{
	struct subject s = {0};
	rouse_remote *remote;

	(void)state;
	subject_open(&s, NULL);
	remote = rouse_loop_remote(s.loop);
	subject_send(&s, 1);
	assert_int_equal(rouse_post(remote, quit_and_detach, &s, NULL), 0);
	fixture_prompt_turn(s.loop);
	fixture_settle(s.loop);
	assert_int_equal(s.lost + s.after, 0);
	rouse_remote_unref(remote);
	subject_close(&s);
}

/* ---- Fork ------------------------------------------------------------------------ */

static int in_the_child(struct subject *s)
{
	unsigned ticks = 0;
	void *attached;

	/* A hang ends, too. */
	alarm(20);
	if (subject_detach(s->attached) != ROUSE_EFORKED ||
	    subject_attach(s, s->loop, &attached) != ROUSE_EFORKED)
		return 1;
	if (rouse_loop_after_fork(s->loop) || subject_detach(s->attached))
		return 2;
	if (rouse_timer_add(s->loop, rouse_now() + MS, 0, 0, fixture_count_timer, &ticks, NULL))
		return 3;
	while (ticks == 0)
		if (rouse_loop_turn(s->loop, rouse_now() + LONG) < 0)
			return 4;
	return rouse_loop_destroy(s->loop) ? 5 : 0;
}

static void f10_forked_child_detaches(void **state)
{
	struct subject s = {0};
	int status = 0;

	(void)state;
	subject_open(&s, NULL);
	pid_t child = fork();
	if (child == 0)
		_exit(in_the_child(&s));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* The parent's is as it was. */
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	subject_close(&s);
}

/* ---- The library's own wait -------------------------------------------------------- */

struct waits {
	rouse_remote *remote;
	unsigned posts, ticks, seen, failed;
};

static void count_post(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(unsigned *)data;
}

/* From another thread, while the loop's is in the library's wait, or about to be. */
static void *post_and_push(void *data)
{
	struct waits *waits = data;

	for (int i = 0; i < 10; i++)
		waits->failed += rouse_post(waits->remote, count_post, &waits->posts, NULL) != 0;
	library_push();
	return NULL;
}

static void wait_by_the_library(rouse_loop *loop, void *data)
{
	struct waits *waits = data;
	rouse_ns began = rouse_now();
	pthread_t thread;

	assert_int_equal(
	        rouse_timer_add(loop, rouse_now(), 0, 0, fixture_count_timer, &waits->ticks, NULL),
	        0);
	assert_int_equal(pthread_create(&thread, NULL, post_and_push, waits), 0);
	library_wait(LONG);
	assert_true(rouse_now() - began < SOON);
	/* The loop stood still. */
	waits->seen = waits->posts + waits->ticks;
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void librarys_own_wait_ends_by_its_own_wake_and_serves_nothing(void **state)
{
	struct subject s = {0};
	struct waits waits = {0};

	(void)state;
	subject_open(&s, NULL);
	waits.remote = rouse_loop_remote(s.loop);
	for (unsigned i = 1; i <= 20; i++) {
		assert_int_equal(rouse_post(waits.remote, wait_by_the_library, &waits, NULL), 0);
		fixture_until(s.loop, &waits.posts, 10 * i);
		fixture_until(s.loop, &waits.ticks, i);
		assert_int_equal(waits.seen, (10 + 1) * (i - 1));
	}
	assert_int_equal(waits.failed, 0);
	/* What it has read is not lost on the loop. */
	subject_send(&s, 1);
	fixture_until(s.loop, &s.events, 1);
	rouse_remote_unref(waits.remote);
	subject_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(attach_to_a_loop_that_ends),
	        cmocka_unit_test(library_that_ends_while_attached_is_lost),
	        cmocka_unit_test(library_that_ends_just_before_it_is_detached),
	        cmocka_unit_test(f10_forked_child_detaches),
	        cmocka_unit_test(librarys_own_wait_ends_by_its_own_wake_and_serves_nothing),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
