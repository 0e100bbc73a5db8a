/* Lifetimes: what was removed or destroyed is not touched again, whoever does it from where. */
#include "env.h"

#include "core/fault.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- L1, L2 ------------------------------------------------------------------------------ */

struct closer {
	rouse_waker *waker;
	int runs;
	atomic_int stop;
};

static void close_own(rouse_loop *loop, void *data)
{
	struct closer *c = data;

	(void)loop;
	c->runs++;
	assert_int_equal(rouse_waker_close(c->waker), 0);
	assert_int_equal(rouse_waker_close(c->waker), 0);
}

static void *wake_until_closed(void *data)
{
	rouse_waker *waker = data;

	while (rouse_wake(waker) != ROUSE_ECLOSED)
		;
	rouse_waker_unref(waker);
	return NULL;
}

static void l1_a_callback_closes_its_own_waker_while_others_wake_it(void **state)
{
	struct env *env = *state;

	for (int round = 0; round < 50; round++) {
		struct closer c = {0};
		pthread_t threads[2];

		assert_int_equal(rouse_waker_create(env->loop, close_own, &c, &c.waker), 0);
		for (int i = 0; i < 2; i++)
			threads[i] = env_start(wake_until_closed, rouse_waker_ref(c.waker));
		ENV_UNTIL(env, c.runs);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		rouse_waker_unref(c.waker);
		env_drain(env);
		assert_int_equal(c.runs, 1);
	}
}

static void nothing(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
}

static void l2_late_wakers_reach_no_descriptor_that_is_not_theirs(void **state)
{
	struct env *env = *state;

	for (int round = 0; round < 20; round++) {
		rouse_waker *waker;
		pthread_t threads[2];
		rouse_fd pairs[8][2];

		assert_int_equal(rouse_waker_create(env->loop, nothing, NULL, &waker), 0);
		for (int i = 0; i < 2; i++)
			threads[i] = env_start(wake_until_closed, rouse_waker_ref(waker));
		rouse_waker_unref(waker);
		env_turn(env, 0);
		env_close(env);
		for (int i = 0; i < 8; i++)
			env_pair_open(&pairs[i][0], &pairs[i][1]);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		for (int i = 0; i < 8; i++) {
			assert_int_equal(env_pair_drain(pairs[i][0]), 0);
			env_pair_close(pairs[i][0]);
			env_pair_close(pairs[i][1]);
		}
		env_open(env, 0);
	}
}

static void l2_last_reference_after_the_loop(void **state)
{
	struct env *env = *state;
	rouse_waker *waker;
	rouse_remote *remote = rouse_loop_remote(env->loop);

	assert_int_equal(rouse_waker_create(env->loop, nothing, NULL, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	env_close(env);
	assert_int_equal(rouse_wake(waker), ROUSE_ECLOSED);
	assert_int_equal(rouse_remote_stop(remote), ROUSE_ECLOSED);
	assert_int_equal(rouse_waker_close(waker), 0);
	assert_null(rouse_waker_unref(waker));
	assert_null(rouse_remote_unref(remote));
}

static void *drop(void *data)
{
	rouse_waker_unref(data);
	return NULL;
}

/* The memory is looked after by the leak check. */
static void last_reference_dropped_elsewhere_closes_the_waker(void **state)
{
	struct env *env = *state;

	for (int round = 0; round < 100; round++) {
		struct closer c = {0};
		pthread_t thread;

		assert_int_equal(rouse_waker_create(env->loop, close_own, &c, &c.waker), 0);
		if (round % 2)
			assert_true(rouse_wake(c.waker) >= 0);
		thread = env_start(drop, c.waker);
		if (round % 4 < 2)
			pthread_join(thread, NULL);
		if (round % 10 == 9) {
			env_close(env);
			env_open(env, 0);
		} else if (round % 4 < 2) {
			env_drain(env);
		}
		if (round % 4 >= 2)
			pthread_join(thread, NULL);
		if (round % 4 < 2)
			assert_int_equal(c.runs, 0);
		/* Its data may be gone from here on: one that is still queued must not run. */
		env_drain(env);
	}
}

struct last_words {
	rouse_waker *pending, *idle;
	int answers[3];
};

static void wake_in_cancel(void *data)
{
	struct last_words *w = data;

	w->answers[0] = rouse_wake(w->pending);
	w->answers[1] = rouse_wake(w->idle);
	w->answers[2] = rouse_wake(w->idle);
}

static void a_cancel_function_finds_every_waker_closed(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	struct last_words w;

	assert_int_equal(rouse_waker_create(env->loop, nothing, NULL, &w.pending), 0);
	assert_int_equal(rouse_waker_create(env->loop, nothing, NULL, &w.idle), 0);
	assert_true(rouse_post(remote, nothing, &w, wake_in_cancel) >= 0);
	assert_true(rouse_wake(w.pending) >= 0);
	env_close(env);
	for (int i = 0; i < 3; i++)
		assert_int_equal(w.answers[i], ROUSE_ECLOSED);
	rouse_waker_unref(w.pending);
	rouse_waker_unref(w.idle);
	rouse_remote_unref(remote);
}

/* ---- L3, L4: any kind removes any kind, from its callback, itself included ----------------- */

enum kind { WAKER, POST, TIMER, HOOK, FD, KINDS };

struct thing {
	struct env *env;
	enum kind kind;
	rouse_source source;
	rouse_waker *waker;
	struct channel channel;
	int runs;
	struct thing *victim;    /* removed by the first of the pair that runs */
	struct thing **freed_at; /* its memory goes at once: a later touch is a use after free */
};

static void remove_thing(struct thing *thing)
{
	struct env *env = thing->env;

	if (thing->kind == WAKER) {
		assert_int_equal(rouse_waker_close(thing->waker), 0);
		rouse_waker_unref(thing->waker);
	} else if (thing->kind != POST) {
		assert_int_equal(rouse_remove(env->loop, thing->source), 0);
		assert_int_equal(rouse_remove(env->loop, thing->source), ROUSE_ESTALE);
	}
	if (thing->kind == HOOK || thing->kind == FD)
		channel_close(env, &thing->channel);
	*thing->freed_at = NULL;
	memset(thing, 0xA5, sizeof *thing);
	free(thing);
}

static void ran(struct thing *thing)
{
	struct thing *victim = thing->victim;

	thing->runs++;
	thing->victim = NULL;
	if (victim)
		remove_thing(victim);
}

static void waker_ran(rouse_loop *loop, void *data)
{
	(void)loop;
	ran(data);
}

static void timer_ran(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	ran(data);
}

static void fd_ran(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)loop;
	(void)self;
	(void)fd;
	(void)events;
	ran(data);
}

static int hook_ran(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)loop;
	(void)self;
	(void)budget;
	ran(data);
	return 1;
}

static struct thing *make(struct env *env, enum kind kind, struct thing **freed_at)
{
	struct thing *thing = calloc(1, sizeof *thing);
	rouse_hook hook = {.size = sizeof hook, .events = ROUSE_READABLE, .dispatch = hook_ran};
	rouse_remote *remote;

	assert_non_null(thing);
	thing->env = env;
	thing->kind = kind;
	thing->freed_at = freed_at;
	*freed_at = thing;
	switch (kind) {
	case WAKER:
		assert_int_equal(rouse_waker_create(env->loop, waker_ran, thing, &thing->waker), 0);
		assert_true(rouse_wake(thing->waker) >= 0);
		break;
	case POST:
		remote = rouse_loop_remote(env->loop);
		assert_true(rouse_post(remote, waker_ran, thing, NULL) >= 0);
		rouse_remote_unref(remote);
		break;
	case TIMER:
		assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop), 1, 0,
		                                 timer_ran, thing, &thing->source),
		                 0);
		break;
	case HOOK:
		channel_open(env, &thing->channel);
		channel_fill(env, &thing->channel);
		hook.fd = thing->channel.fd;
		assert_int_equal(rouse_hook_add(env->loop, &hook, thing, &thing->source), 0);
		break;
	case FD:
	case KINDS:
		channel_open(env, &thing->channel);
		channel_fill(env, &thing->channel);
		assert_int_equal(rouse_fd_add(env->loop, thing->channel.fd, ROUSE_READABLE, fd_ran,
		                              thing, &thing->source),
		                 0);
		break;
	}
	return thing;
}

static void remove_pair(struct env *env, enum kind first, enum kind second)
{
	struct thing *a, *b;

	a = make(env, first, &a);
	b = make(env, second, &b);
	/* A post cannot be taken back, so nothing removes one. */
	a->victim = second == POST ? NULL : b;
	b->victim = first == POST ? NULL : a;
	/* Whichever of them runs first removes the other, which was ready in the same turn.  One
	 * that removed nothing (a post's counterpart) just runs. */
	for (int turns = 0; turns < 3; turns++)
		env_turn(env, 0);
	if (first != POST && second != POST)
		assert_true(!a != !b);
	if (a)
		remove_thing(a);
	if (b)
		remove_thing(b);
	env_drain(env);
}

static void l3_any_kind_removes_any_other(void **state)
{
	struct env *env = *state;

	for (int first = 0; first < KINDS; first++)
		for (int second = 0; second < KINDS; second++)
			remove_pair(env, (enum kind)first, (enum kind)second);
}

static void l4_a_callback_removes_itself_and_frees_its_data(void **state)
{
	struct env *env = *state;

	for (int kind = 0; kind < KINDS; kind++) {
		struct thing *thing = make(env, (enum kind)kind, &thing);

		thing->victim = thing;
		ENV_UNTIL(env, !thing);
		assert_int_equal(env_drain(env), 0);
	}
}

/* ---- L5 ------------------------------------------------------------------------------------- */

struct nursery {
	struct env *env;
	struct thing *children[KINDS];
	int added;
};

static void add_one_of_each(rouse_loop *loop, void *data)
{
	struct nursery *n = data;

	(void)loop;
	for (int kind = 0; kind < KINDS; kind++)
		n->children[kind] = make(n->env, (enum kind)kind, &n->children[kind]);
	n->added = 1;
}

static void l5_what_a_callback_adds_is_first_considered_in_the_next_turn(void **state)
{
	struct env *env = *state;
	struct nursery n = {.env = env};
	rouse_remote *remote = rouse_loop_remote(env->loop);

	assert_true(rouse_post(remote, add_one_of_each, &n, NULL) >= 0);
	while (!n.added)
		assert_in_range(env_turn(env, ROUSE_NEVER), 0, 1);
	for (int kind = 0; kind < KINDS; kind++)
		assert_int_equal(n.children[kind]->runs, 0);
	for (int kind = 0; kind < KINDS; kind++)
		ENV_UNTIL(env, n.children[kind]->runs > 0);
	for (int kind = 0; kind < KINDS; kind++)
		remove_thing(n.children[kind]);
	env_drain(env);
	rouse_remote_unref(remote);
}

/* ---- L6, for those without a host (nested.c has the others) --------------------------------- */

static void try_to_nest(rouse_loop *loop, void *data)
{
	int busy = 0;

	busy += rouse_loop_turn(loop, 0) == ROUSE_EBUSY;
	busy += rouse_loop_run(loop) == ROUSE_EBUSY;
	busy += rouse_loop_destroy(loop) == ROUSE_EBUSY;
	*(int *)data += busy;
}

static void l6_an_unhosted_loop_refuses_to_nest(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	int busy = 0, after = 0;
	struct thing *thing;

	assert_true(rouse_post(remote, try_to_nest, &busy, NULL) >= 0);
	ENV_UNTIL(env, busy);
	assert_int_equal(busy, 3);
	assert_int_equal(rouse_call(remote, try_to_nest, &after), 0);
	assert_int_equal(after, 3);
	thing = make(env, TIMER, &thing);
	ENV_UNTIL(env, thing->runs);
	remove_thing(thing);
	rouse_remote_unref(remote);
}

/* ---- Destroy with everything in place -------------------------------------------------------- */

static void released(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
}

static void destroy_takes_whatever_is_left(void **state)
{
	struct env *env = *state;
	struct thing *things[KINDS];
	int releases = 0;
	rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .release = released};

	for (int kind = 0; kind < KINDS; kind++)
		things[kind] = make(env, (enum kind)kind, &things[kind]);
	assert_int_equal(rouse_hook_add(env->loop, &hook, &releases, NULL), 0);
	env_close(env);
	assert_int_equal(releases, 1);
	for (int kind = 0; kind < KINDS; kind++) {
		assert_int_equal(things[kind]->runs, 0);
		if (kind == WAKER)
			rouse_waker_unref(things[kind]->waker);
		if ((kind == HOOK || kind == FD) && !env->null)
			channel_close(env, &things[kind]->channel);
		free(things[kind]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(l1_a_callback_closes_its_own_waker_while_others_wake_it),
	        env_test(l2_late_wakers_reach_no_descriptor_that_is_not_theirs),
	        env_test(l2_last_reference_after_the_loop),
	        env_test(last_reference_dropped_elsewhere_closes_the_waker),
	        env_test(a_cancel_function_finds_every_waker_closed),
	        env_test(l3_any_kind_removes_any_other),
	        env_test(l4_a_callback_removes_itself_and_frees_its_data),
	        env_test(l5_what_a_callback_adds_is_first_considered_in_the_next_turn),
	        env_test_in(l6_an_unhosted_loop_refuses_to_nest, UNHOSTED),
	        env_test(destroy_takes_whatever_is_left),
	};

	return env_main(argc, argv, "lives", tests, sizeof tests / sizeof *tests);
}
