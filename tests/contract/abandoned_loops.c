/* A loop whose thread ended: it is no thread's any more, and gives back what it can. */
#include "owner.h"
#include "signalled.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- The loop itself ---------------------------------------------------------------- */

static void ignore_child(rouse_loop *loop, rouse_source self, rouse_process process,
                         const rouse_exit *how, void *data)
{
	(void)loop;
	(void)self;
	(void)process;
	(void)how;
	(void)data;
}

/* How many of the loop's own functions answer something else than that this is not its thread. */
static int other_answers(struct owner *o)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};
	rouse_stats stats = {.size = sizeof stats};
	rouse_source out;
	rouse_waker *waker;
	rouse_ns deadline;
	rouse_fd fd;
	const int answers[] = {
	        rouse_loop_run(o->loop),
	        rouse_loop_turn(o->loop, 0),
	        rouse_loop_stop(o->loop),
	        rouse_loop_fd(o->loop, &fd),
	        rouse_loop_prepare(o->loop, 0, &deadline),
	        rouse_loop_check(o->loop, 1),
	        rouse_loop_dispatch(o->loop),
	        rouse_loop_take_stop(o->loop),
	        rouse_loop_after_fork(o->loop),
	        rouse_waker_create(o->loop, NULL, NULL, &waker),
	        rouse_waker_close(o->waker),
	        rouse_cancel_posts(o->loop, o),
	        rouse_fd_add(o->loop, o->ends[1], ROUSE_WRITABLE, count_fd, &o->ran, &out),
	        rouse_fd_set_events(o->loop, o->fd, 0),
	        rouse_timer_add(o->loop, 0, 0, 0, count_timer, &o->ran, &out),
	        rouse_timer_set(o->loop, o->timer, 0, 0, 0),
	        rouse_signal_add(o->loop, SIGUSR2, ignore_signal, NULL, &out),
	        rouse_child_add(o->loop, 1, ignore_child, NULL, &out),
	        rouse_hook_add(o->loop, &hook, NULL, &out),
	        rouse_remove(o->loop, o->fd),
	        rouse_loop_stats(o->loop, &stats),
	        rouse_loop_destroy(o->loop),
	};
	int others = 0;

	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		if (answers[i] == ROUSE_EWRONGTHREAD)
			continue;
		print_error("answer %zu is %d\n", i, answers[i]);
		others++;
	}
	return others;
}

struct successor {
	struct owner *owner;
	int same, others;
};

static void *succeed(void *data)
{
	struct successor *s = data;

	s->same = pthread_equal(pthread_self(), s->owner->thread) != 0;
	s->others = other_answers(s->owner);
	return NULL;
}

static void l10_its_functions_know_no_other_thread_whatever_its_id(void **state)
{
	struct owner o;
	struct successor s = {.owner = &o};

	abandon(&o, *state, NULL);
	assert_int_equal(other_answers(&o), 0);
	/* The system gives the id to the next thread, sooner or later. */
	for (int i = 0; i < 100 && !s.same; i++) {
		env_join(env_start(succeed, &s));
		assert_int_equal(s.others, 0);
	}
	assert_closed(&o);
	assert_int_equal(rouse_loop_poller(o.loop) != NULL, 1);
	drop(&o);
	if (!s.same) /* no thread was given the id: the rest was shown */
		skip();
}

/* Its thread's next loop is as good as any. */
static void *own_twice(void *data)
{
	struct owner *o = data;

	if (own_and_leave(&o[0]) || own_and_leave(&o[1]))
		return o;
	return rouse_loop_destroy(o[0].loop) ? o : NULL;
}

static void l10_one_is_destroyed_and_one_is_left(void **state)
{
	struct owner o[2];

	for (int i = 0; i < 2; i++)
		begin(&o[i], *state, queue_and_leave);
	env_join(env_start(own_twice, o));
	for (int i = 0; i < 2; i++) {
		assert_string_equal(o[i].order, "aabaa");
		assert_int_equal(rouse_wake(o[i].waker), ROUSE_ECLOSED);
		drop(&o[i]);
	}
	env_drain(*state);
}

static void *own_both(void *data)
{
	struct owner *o = data;

	return own_and_leave(&o[0]) || own_and_leave(&o[1]) ? o : NULL;
}

static void l10_several_of_one_thread(void **state)
{
	struct owner o[2];

	for (int i = 0; i < 2; i++)
		begin(&o[i], *state, queue_and_leave);
	env_join(env_start(own_both, o));
	for (int i = 0; i < 2; i++) {
		assert_string_equal(o[i].order, "aabaa");
		assert_closed(&o[i]);
		drop(&o[i]);
	}
}

/* ---- A destructor of the user's ----------------------------------------------------- */

static pthread_key_t early_key, late_key;

static void destroy_late(void *data)
{
	struct owner *o = data;

	o->destroyed = rouse_loop_destroy(o->loop);
}

static void *own_with_a_destructor(void *data)
{
	struct owner *o = data;

	if (pthread_setspecific(early_key, o))
		return o;
	return own_and_leave(o);
}

static void *own_with_a_late_destructor(void *data)
{
	struct owner *o = data;

	return own_and_leave(o) || pthread_setspecific(late_key, o) ? o : NULL;
}

/* In whichever order the two run, each post has one end, and nothing is touched twice. */
static void l10_destroyed_as_the_thread_ends(void **state)
{
	assert_int_equal(pthread_key_create(&late_key, destroy_late), 0);
	for (int late = 0; late < 2; late++) {
		struct owner o;

		begin(&o, *state, queue_and_leave);
		env_join(env_start(late ? own_with_a_late_destructor : own_with_a_destructor, &o));
		assert_true(o.destroyed == 0 || o.destroyed == ROUSE_EWRONGTHREAD);
		assert_string_equal(o.order, "aabaa");
		assert_int_equal(rouse_wake(o.waker), ROUSE_ECLOSED);
		drop(&o);
	}
	assert_int_equal(pthread_key_delete(late_key), 0);
}

/* ---- Its signal --------------------------------------------------------------------- */

static void watch_a_signal(struct owner *o)
{
	if (rouse_signal_add(o->loop, SIGRTMIN + 5, ignore_signal, NULL, NULL))
		abort();
}

static void l10_a_signal_it_watched_is_given_back(void **state)
{
	struct env *env = *state;
	struct sigaction now;
	rouse_source source;
	struct owner o;

	abandon(&o, env, watch_a_signal);
	assert_closed(&o);
	/* Given back, and free for others. */
	assert_int_equal(sigaction(SIGRTMIN + 5, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, SIG_DFL);
	assert_int_equal(rouse_signal_add(env->loop, SIGRTMIN + 5, ignore_signal, NULL, &source),
	                 0);
	raise(SIGRTMIN + 5);
	while (env_turn(env, ROUSE_NEVER) == 0)
		;
	assert_int_equal(rouse_remove(env->loop, source), 0);
	drop(&o);
}

/* What could be given back was: queue, wakers and remotes leave no more than the loop's own. */
static void l10_the_last_reference_frees_what_others_share(void **state)
{
	unsigned before = atomic_load(&arena.live), left;
	struct owner o;

	abandon(&o, *state, NULL);
	left = atomic_load(&arena.live) - before;
	for (int i = 0; i < 10; i++)
		rouse_waker_ref(o.waker);
	for (int i = 0; i < 10; i++)
		rouse_waker_unref(o.waker);
	assert_closed(&o);
	assert_int_equal(atomic_load(&arena.live) - before, left);
	drop(&o);
	/* The waker, at least. */
	assert_true(atomic_load(&arena.live) - before < left);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(l10_its_functions_know_no_other_thread_whatever_its_id),
	        env_test(l10_one_is_destroyed_and_one_is_left),
	        env_test(l10_several_of_one_thread),
	        env_test(l10_destroyed_as_the_thread_ends),
	        env_test(l10_a_signal_it_watched_is_given_back),
	        env_test(l10_the_last_reference_frees_what_others_share),
	};

	/* Before the library can have made a key of its own. */
	if (pthread_key_create(&early_key, destroy_late))
		return EXIT_FAILURE;
	return env_main(argc, argv, "abandoned_loops", tests, sizeof tests / sizeof *tests);
}
