/* Lifetimes of signals' sources: where they may be added, their names, their memory, their end. */
#include "signalled.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

/* ---- L5 ----------------------------------------------------------------------------- */

static void add_and_raise(rouse_loop *loop, void *data)
{
	assert_int_equal(rouse_signal_add(loop, SIGUSR1, count_signal, data, NULL), 0);
	raise(SIGUSR1);
}

static void l5_added_in_a_callback_it_is_of_the_next_turn(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	int runs = 0;

	env_drain(env);
	assert_int_equal(rouse_post(remote, add_and_raise, &runs, NULL), 0);
	assert_int_equal(env_turn(env, ROUSE_NEVER), 1);
	assert_int_equal(runs, 0);
	ENV_UNTIL(env, runs == 1);
	env_close(env);
	assert_true(is_disposed(SIGUSR1, SIG_DFL));
	assert_int_equal(rouse_remote_stop(remote), ROUSE_ECLOSED);
	rouse_remote_unref(remote);
}

/* ---- L6 ----------------------------------------------------------------------------- */

struct suspended {
	struct env *env;
	rouse_remote *remote;
	rouse_source source;
	int depth, deepest, runs, inner;
};

static void nest(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct suspended *s = data;

	(void)loop;
	(void)self;
	s->runs++;
	s->depth++;
	if (s->depth > s->deepest)
		s->deepest = s->depth;
	for (int i = 0; i < 3 && s->runs == 1; i++) {
		int before = s->inner;

		raise(signo);
		assert_int_equal(rouse_post(s->remote, count_run, &s->inner, NULL), 0);
		ENV_UNTIL(s->env, s->inner > before);
		/* Kept for later, it does not make the host turn us for nothing. */
		assert_int_equal(env_drain(s->env), 0);
	}
	s->depth--;
}

static void l6_a_suspended_signal_runs_again_once_it_returned(void **state)
{
	struct env *env = *state;
	struct suspended s = {.env = env, .remote = rouse_loop_remote(env->loop)};

	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, nest, &s, &s.source), 0);
	raise(SIGUSR1);
	ENV_UNTIL(env, s.runs);
	assert_int_equal(s.deepest, 1);
	assert_int_equal(s.inner, 3);
	ENV_UNTIL(env, s.runs > 1);
	assert_int_equal(s.deepest, 1);
	assert_int_equal(rouse_remove(env->loop, s.source), 0);
	rouse_remote_unref(s.remote);
}

/* ---- L7, L8 ------------------------------------------------------------------------- */

struct stranger {
	rouse_loop *loop;
	rouse_source source, out;
	int add, remove;
};

static void *from_elsewhere(void *data)
{
	struct stranger *s = data;

	s->add = rouse_signal_add(s->loop, SIGUSR2, ignore_signal, NULL, &s->out);
	s->remove = rouse_remove(s->loop, s->source);
	return NULL;
}

static void l7_wrong_thread(void **state)
{
	struct env *env = *state;
	struct stranger s = {.loop = env->loop, .out = {42}};
	int runs = 0;

	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, &runs, &s.source), 0);
	env_join(env_start(from_elsewhere, &s));
	assert_int_equal(s.add, ROUSE_EWRONGTHREAD);
	assert_int_equal(s.remove, ROUSE_EWRONGTHREAD);
	assert_true(s.out.id == 42);
	assert_true(is_disposed(SIGUSR2, SIG_DFL));
	raise(SIGUSR1);
	ENV_UNTIL(env, runs);
	assert_int_equal(rouse_remove(env->loop, s.source), 0);
}

static void l8_names_of_signals(void **state)
{
	struct env *env = *state;
	rouse_source stale, source, timer;
	int runs = 0;

	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, &runs, &stale), 0);
	assert_int_equal(rouse_fd_set_events(env->loop, stale, 0), ROUSE_EINVAL);
	assert_int_equal(rouse_timer_set(env->loop, stale, 0, 0, 0), ROUSE_EINVAL);
	assert_int_equal(rouse_remove(env->loop, stale), 0);
	/* Its slot is another's. */
	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, &runs, &source), 0);
	assert_true(source.id != stale.id);
	assert_int_equal(rouse_timer_add(env->loop, ROUSE_NEVER, 0, 0, count_timer, &runs, &timer),
	                 0);
	assert_int_equal(rouse_remove(env->loop, stale), ROUSE_ESTALE);
	assert_int_equal(rouse_fd_set_events(env->loop, stale, 0), ROUSE_ESTALE);
	raise(SIGUSR1);
	ENV_UNTIL(env, runs == 1);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	assert_int_equal(rouse_remove(env->loop, timer), 0);
}

/* ---- The loop's end ----------------------------------------------------------------- */

struct last_words {
	rouse_loop *loop;
	int answers[2];
};

static void add_in_cancel(void *data)
{
	struct last_words *w = data;

	w->answers[0] = rouse_signal_add(w->loop, SIGUSR2, ignore_signal, NULL, NULL);
}

static void add_in_release(rouse_loop *loop, void *data)
{
	struct last_words *w = data;

	w->answers[1] = rouse_signal_add(loop, SIGUSR2, ignore_signal, NULL, NULL);
}

static void a_loop_being_destroyed_takes_no_signal(void **state)
{
	struct env *env = *state;
	struct last_words w = {.loop = env->loop};
	rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .release = add_in_release};
	rouse_remote *remote = rouse_loop_remote(env->loop);
	int runs = 0;

	assert_int_equal(rouse_hook_add(env->loop, &hook, &w, NULL), 0);
	assert_int_equal(rouse_post(remote, count_run, &w, add_in_cancel), 0);
	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, &runs, NULL), 0);
	raise(SIGUSR1);
	env_close(env);
	assert_int_equal(w.answers[0], ROUSE_ECLOSED);
	assert_int_equal(w.answers[1], ROUSE_ECLOSED);
	assert_int_equal(runs, 0);
	assert_true(is_disposed(SIGUSR1, SIG_DFL) && is_disposed(SIGUSR2, SIG_DFL));
	rouse_remote_unref(remote);
}

/* ---- L9 ----------------------------------------------------------------------------- */

struct memory {
	atomic_uint made, outstanding;
	unsigned fail_at;
};

static void *alloc(size_t size, void *ctx)
{
	struct memory *m = ctx;

	if (atomic_fetch_add(&m->made, 1) + 1 == m->fail_at)
		return NULL;
	atomic_fetch_add(&m->outstanding, 1);
	return malloc(size);
}

static void release(void *ptr, size_t size, void *ctx)
{
	struct memory *m = ctx;

	(void)size;
	atomic_fetch_sub(&m->outstanding, 1);
	free(ptr);
}

static void l9_each_allocation_fails_once(void **state)
{
	struct env *env = *state;
	int result = ROUSE_ENOMEM;

	for (unsigned n = 1; result; n++) {
		struct memory m = {0};
		const rouse_allocator allocator = {alloc, release, &m};
		const rouse_loop_options options = {.size = sizeof options,
		                                    .poller = rouse_loop_poller(env->loop),
		                                    .allocator = &allocator};
		rouse_source source = {42};
		rouse_loop *loop;
		int runs = 0;

		assert_int_equal(rouse_loop_create(&options, &loop), 0);
		m.fail_at = atomic_load(&m.made) + n;
		result = rouse_signal_add(loop, SIGUSR1, count_signal, &runs, &source);
		m.fail_at = 0;
		if (result) {
			assert_int_equal(result, ROUSE_ENOMEM);
			assert_true(source.id == 42);
			assert_true(is_disposed(SIGUSR1, SIG_DFL));
			assert_int_equal(
			        rouse_signal_add(loop, SIGUSR1, count_signal, &runs, &source), 0);
		} else {
			assert_true(n > 1);
		}
		raise(SIGUSR1);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(runs, 1);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_int_equal(atomic_load(&m.outstanding), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(l5_added_in_a_callback_it_is_of_the_next_turn),
	        env_test_in(l6_a_suspended_signal_runs_again_once_it_returned,
	                    DESCRIPTOR | BRACKET),
	        env_test(l7_wrong_thread),
	        env_test(l8_names_of_signals),
	        env_test(a_loop_being_destroyed_takes_no_signal),
	        env_test(l9_each_allocation_fails_once),
	};

	return env_main(argc, argv, "signal_lives", tests, sizeof tests / sizeof *tests);
}
