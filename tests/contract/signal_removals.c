/* Signals' sources removed: from anywhere, in any order, with signals under way. */
#include "signalled.h"

#include "core/fault.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- L3, L4: every kind removes a signal's source, and is removed by it ------------- */

enum kind { WAKER, POST, OTHER_SIGNAL, TIMER, HOOK, FD, KINDS };

struct pair {
	struct env *env;
	enum kind kind;
	int signal_removes, signal_runs, runs, removed;
	rouse_source signal, source;
	rouse_waker *waker;
	rouse_remote *remote;
	struct channel channel;
	int *watched; /* freed with the source: a later touch is a use after free */
};

static void remove_other(struct pair *p)
{
	if (p->kind == WAKER)
		assert_int_equal(rouse_waker_close(p->waker), 0);
	else if (p->kind != POST)
		assert_int_equal(rouse_remove(p->env->loop, p->source), 0);
	p->removed = p->kind != POST;
}

static void signal_ran(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct pair *p = data;

	(void)loop;
	(void)self;
	(void)signo;
	assert_non_null(p->watched);
	p->signal_runs++;
	if (p->signal_removes && p->signal_runs == 1)
		remove_other(p);
}

static void other_ran(struct pair *p)
{
	assert_false(p->removed);
	p->runs++;
	if (p->signal_removes || p->runs > 1)
		return;
	/* Under way already, from before or from just now. */
	raise(SIGUSR1);
	assert_int_equal(rouse_remove(p->env->loop, p->signal), 0);
	assert_int_equal(rouse_remove(p->env->loop, p->signal), ROUSE_ESTALE);
	assert_true(is_disposed(SIGUSR1, SIG_IGN));
	free(p->watched);
	p->watched = NULL;
}

static void other_called(rouse_loop *loop, void *data)
{
	(void)loop;
	other_ran(data);
}

static void other_signalled(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)self;
	(void)signo;
	other_called(loop, data);
}

static void other_fired(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self;
	(void)deadline;
	other_called(loop, data);
}

static void other_ready(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                        void *data)
{
	(void)self;
	(void)fd;
	(void)events;
	other_called(loop, data);
}

static int other_dispatched(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)self;
	(void)budget;
	other_called(loop, data);
	return 1;
}

static void make_other(struct pair *p)
{
	rouse_loop *loop = p->env->loop;
	rouse_hook hook = {
	        .size = sizeof hook, .events = ROUSE_READABLE, .dispatch = other_dispatched};

	if (p->kind == HOOK || p->kind == FD) {
		channel_open(p->env, &p->channel);
		channel_fill(p->env, &p->channel);
	}
	switch (p->kind) {
	case WAKER:
		assert_int_equal(rouse_waker_create(loop, other_called, p, &p->waker), 0);
		assert_true(rouse_wake(p->waker) >= 0);
		break;
	case POST:
		assert_int_equal(rouse_post(p->remote, other_called, p, NULL), 0);
		break;
	case OTHER_SIGNAL:
		assert_int_equal(rouse_signal_add(loop, SIGUSR2, other_signalled, p, &p->source),
		                 0);
		raise(SIGUSR2);
		break;
	case TIMER:
		assert_int_equal(rouse_timer_add(loop, rouse_loop_now(loop), 1, 0, other_fired, p,
		                                 &p->source),
		                 0);
		break;
	case HOOK:
		hook.fd = p->channel.fd;
		assert_int_equal(rouse_hook_add(loop, &hook, p, &p->source), 0);
		break;
	default:
		assert_int_equal(rouse_fd_add(loop, p->channel.fd, ROUSE_READABLE, other_ready, p,
		                              &p->source),
		                 0);
	}
}

static void make_signal(struct pair *p)
{
	assert_int_equal(rouse_signal_add(p->env->loop, SIGUSR1, signal_ran, p, &p->signal), 0);
	raise(SIGUSR1);
}

static void remove_in_pair(struct env *env, enum kind kind, int signal_first, int signal_removes)
{
	struct pair p = {.env = env, .kind = kind, .signal_removes = signal_removes};

	p.remote = rouse_loop_remote(env->loop);
	p.watched = malloc(sizeof *p.watched);
	assert_non_null(p.watched);
	signal(SIGUSR1, SIG_IGN);
	if (signal_first)
		make_signal(&p);
	make_other(&p);
	if (!signal_first)
		make_signal(&p);
	for (int turns = 0; turns < 3; turns++)
		env_turn(env, 0);
	if (signal_removes) {
		assert_int_equal(p.signal_runs, 1);
		/* In the queue the other one may have come before, and the order of signals is
		 * nobody's business. */
		if (kind > OTHER_SIGNAL || (signal_first && kind != OTHER_SIGNAL))
			assert_int_equal(p.runs, kind == POST);
		assert_int_equal(rouse_remove(env->loop, p.signal), 0);
		free(p.watched);
	} else {
		assert_true(p.runs >= 1);
		assert_null(p.watched);
		if (kind < OTHER_SIGNAL && !signal_first)
			assert_int_equal(p.signal_runs, 0);
		remove_other(&p);
	}
	rouse_waker_unref(p.waker);
	if (kind == HOOK || kind == FD)
		channel_close(env, &p.channel);
	env_drain(env);
	rouse_remote_unref(p.remote);
	signal(SIGUSR1, SIG_DFL);
}

static void l3_every_kind_removes_a_signal_and_is_removed_by_one(void **state)
{
	struct env *env = *state;

	for (int kind = 0; kind < KINDS; kind++)
		for (int way = 0; way < 4; way++)
			remove_in_pair(env, (enum kind)kind, way & 1, way >> 1);
}

struct own {
	rouse_source self;
	int *runs;
};

static void remove_itself(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct own *own = data;

	++*own->runs;
	/* One more that is under way as the source goes. */
	raise(signo);
	assert_int_equal(rouse_remove(loop, self), 0);
	assert_int_equal(rouse_remove(loop, self), ROUSE_ESTALE);
	memset(own, 0xa5, sizeof *own);
	free(own);
}

static void l4_a_callback_removes_its_own_source_and_frees_its_data(void **state)
{
	struct env *env = *state;

	for (int i = 0; i < 3; i++) {
		struct own *own = calloc(1, sizeof *own);
		int runs = 0;

		assert_non_null(own);
		own->runs = &runs;
		assert_int_equal(
		        rouse_signal_add(env->loop, SIGUSR1, remove_itself, own, &own->self), 0);
		raise(SIGUSR1);
		ENV_UNTIL(env, runs);
		assert_int_equal(env_drain(env), 0);
		assert_int_equal(runs, 1);
		assert_true(is_disposed(SIGUSR1, SIG_DFL));
	}
}

/* ---- Removal and destruction while signals rain ------------------------------------- */

static atomic_int dry;

static void *rain(void *data)
{
	while (!atomic_load(&dry))
		if (kill(getpid(), SIGUSR1))
			return data;
	return NULL;
}

static void l1_removed_and_destroyed_in_the_rain(void **state)
{
	struct env *env = *state;
	pthread_t threads[2];

	signal(SIGUSR1, SIG_IGN);
	atomic_store(&dry, 0);
	for (int i = 0; i < 2; i++)
		threads[i] = env_start(rain, env);
	for (unsigned round = 0; round < scaled(1000); round++) {
		int *runs = calloc(1, sizeof *runs);
		rouse_source source;

		assert_non_null(runs);
		assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, runs, &source),
		                 0);
		if (round % 3 == 0)
			env_turn(env, 0);
		if (round % 10 == 9) {
			env_close(env);
			env_open(env, 0);
		} else {
			assert_int_equal(rouse_remove(env->loop, source), 0);
		}
		free(runs);
		if (round % 3 == 1)
			env_turn(env, 0);
	}
	atomic_store(&dry, 1);
	for (int i = 0; i < 2; i++)
		env_join(threads[i]);
	env_drain(env);
	signal(SIGUSR1, SIG_DFL);
}

/* ---- A handler that is under way ---------------------------------------------------- */

static struct held {
	pthread_t sender;
	atomic_int reached, removed, too_early;
} held;

static void hold_in_handler(enum rouse__point point, void *data)
{
	(void)data;
	if (point != ROUSE__SET_PENDING || !pthread_equal(pthread_self(), held.sender))
		return;
	atomic_store(&held.reached, 1);
	/* Long enough for a removal that does not wait; one that does waits for us. */
	for (int i = 0; i < 2000 && !atomic_load(&held.removed); i++)
		sched_yield();
	atomic_store(&held.too_early, atomic_load(&held.removed));
}

static void *raise_and_be_held(void *data)
{
	held.sender = pthread_self();
	rouse__fault_pause(hold_in_handler, NULL);
	return pthread_kill(pthread_self(), SIGUSR1) ? data : NULL;
}

static void l1_a_removal_waits_for_a_handler_that_is_under_way(void **state)
{
	struct env *env = *state;
	int *runs = calloc(1, sizeof *runs);
	rouse_source source;
	pthread_t thread;

	assert_non_null(runs);
	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, runs, &source), 0);
	env_drain(env);
	memset(&held, 0, sizeof held);
	thread = env_start(raise_and_be_held, env);
	while (!atomic_load(&held.reached))
		sched_yield();
	assert_int_equal(rouse_remove(env->loop, source), 0);
	atomic_store(&held.removed, 1);
	free(runs);
	env_join(thread);
	rouse__fault_pause(NULL, NULL);
	assert_int_equal(atomic_load(&held.too_early), 0);
	assert_int_equal(env_drain(env), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(l3_every_kind_removes_a_signal_and_is_removed_by_one),
	        env_test(l4_a_callback_removes_its_own_source_and_frees_its_data),
	        env_test(l1_removed_and_destroyed_in_the_rain),
	        env_test(l1_a_removal_waits_for_a_handler_that_is_under_way),
	};

	return env_main(argc, argv, "signal_removals", tests, sizeof tests / sizeof *tests);
}
