/* Calls between loops: of a ring of threads that wait for each other the last one is refused. */
#include "env.h"

#include "core/fault.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* ---- Loops on threads of their own -------------------------------------------------- */

struct party {
	struct env env;
	pthread_t thread;
	rouse_remote *remote, *target;
	atomic_int ready, end, go, calling, done;
	rouse_post_fn fn; /* called on the target's thread */
	int result, ran;
};

static void *run_party(void *data)
{
	struct party *p = data;

	p->thread = pthread_self();
	env_open(&p->env, 0);
	p->remote = rouse_loop_remote(p->env.loop);
	atomic_store(&p->ready, 1);
	ENV_UNTIL(&p->env, atomic_load(&p->end));
	env_close(&p->env);
	return NULL;
}

static void start_parties(struct party *parties, pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++) {
		parties[i] = (struct party){.result = 1};
		threads[i] = env_start(run_party, &parties[i]);
		while (!atomic_load(&parties[i].ready))
			sched_yield();
	}
}

static void set_end(rouse_loop *loop, void *data)
{
	(void)loop;
	atomic_store(&((struct party *)data)->end, 1);
}

static void end_parties(struct party *parties, pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++) {
		assert_int_equal(rouse_post(parties[i].remote, set_end, &parties[i], NULL), 0);
		env_join(threads[i]);
		rouse_remote_unref(parties[i].remote);
	}
}

static void await(atomic_int *flag)
{
	while (!atomic_load(flag))
		sched_yield();
}

/* Set once a party's call is queued, and the loop it waits for cannot serve it yet. */
static atomic_int queued[3];

struct ring {
	struct party *parties;
	int count;
};

static void note_queued(enum rouse__point point, void *data)
{
	const struct ring *ring = data;

	if (point != ROUSE__PUBLISHED)
		return;
	for (int i = 0; i < ring->count; i++)
		if (pthread_equal(pthread_self(), ring->parties[i].thread) &&
		    atomic_load(&ring->parties[i].calling))
			atomic_store(&queued[i], 1);
}

static void count_party(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct party *)data)->ran++;
}

/* A callback that waits for its cue and then calls its neighbour. */
static void call_neighbour(rouse_loop *loop, void *data)
{
	struct party *p = data;

	(void)loop;
	await(&p->go);
	atomic_store(&p->calling, 1);
	p->result = rouse_call(p->target, p->fn, p);
	atomic_store(&p->calling, 0);
	atomic_store(&p->done, 1);
}

/* Each calls the next, in turn; `closed`: the last one calls the first. */
static void call_round(struct party *parties, int count, int closed)
{
	struct ring ring = {parties, count};

	for (int i = 0; i < count; i++) {
		struct party *p = &parties[i];

		atomic_store(&queued[i], 0);
		p->target = parties[(i + 1) % count].remote;
		p->fn = count_party;
		p->ran = 0;
		p->result = 1;
		atomic_store(&p->go, 0);
		atomic_store(&p->done, 0);
		if (i < count - 1 || closed)
			assert_int_equal(rouse_post(p->remote, call_neighbour, p, NULL), 0);
	}
	rouse__fault_pause(note_queued, &ring);
	for (int i = 0; i < count - 1; i++) {
		atomic_store(&parties[i].go, 1);
		if (closed || i < count - 2)
			await(&queued[i]);
	}
	if (closed)
		atomic_store(&parties[count - 1].go, 1);
	for (int i = 0; i < count; i++)
		if (i < count - 1 || closed)
			await(&parties[i].done);
	rouse__fault_pause(NULL, NULL);
	for (int i = 0; i < count - 1; i++) {
		assert_int_equal(parties[i].result, 0);
		assert_int_equal(parties[i].ran, 1);
	}
	assert_int_equal(parties[count - 1].result, closed ? ROUSE_EDEADLOCK : 1);
	assert_int_equal(parties[count - 1].ran, 0);
}

static void the_last_of_a_ring_is_refused(void **state)
{
	struct party parties[3];
	pthread_t threads[3];

	(void)state;
	for (int count = 2; count <= 3; count++) {
		start_parties(parties, threads, count);
		for (int round = 0; round < 20; round++) {
			call_round(parties, count, 1);
			/* Refused once, it is not refused again where there is no ring. */
			call_round(parties, count, 0);
		}
		end_parties(parties, threads, count);
	}
}

/* ---- Both at once ------------------------------------------------------------------- */

static void two_at_once_are_one_refusal(void **state)
{
	struct party parties[2];
	pthread_t threads[2];

	(void)state;
	start_parties(parties, threads, 2);
	for (unsigned round = 0; round < scaled(2000); round++) {
		int refused = 0;

		for (int i = 0; i < 2; i++) {
			struct party *p = &parties[i];

			p->target = parties[1 - i].remote;
			p->fn = count_party;
			p->ran = 0;
			atomic_store(&p->go, 0);
			atomic_store(&p->done, 0);
			assert_int_equal(rouse_post(p->remote, call_neighbour, p, NULL), 0);
		}
		/* Neither can serve the other before its own call is over. */
		for (int i = 0; i < 2; i++)
			atomic_store(&parties[i].go, 1);
		for (int i = 0; i < 2; i++)
			await(&parties[i].done);
		for (int i = 0; i < 2; i++) {
			refused += parties[i].result == ROUSE_EDEADLOCK;
			assert_int_equal(parties[i].ran, parties[i].result == 0);
		}
		assert_int_equal(refused, 1);
	}
	end_parties(parties, threads, 2);
}

/* ---- Back from the called function -------------------------------------------------- */

struct back {
	rouse_remote *home, *other_home, *away;
	int ran, back, other_back, inline_ran;
};

static void count_back(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct back *)data)->ran++;
}

static void call_back(rouse_loop *loop, void *data)
{
	struct back *b = data;

	(void)loop;
	b->back = rouse_call(b->home, count_back, b);
	b->other_back = rouse_call(b->other_home, count_back, b);
	/* Its own thread waits for nobody. */
	b->inline_ran = rouse_call(b->away, count_run, &(int){0});
}

/* Whichever of the waiting thread's loops is called. */
static void a_called_function_that_calls_back_is_refused(void **state)
{
	struct env *env = *state, other;
	struct party party;
	pthread_t thread;
	struct back b;

	env_open(&other, 0);
	start_parties(&party, &thread, 1);
	b = (struct back){.home = rouse_loop_remote(env->loop),
	                  .other_home = rouse_loop_remote(other.loop),
	                  .away = party.remote};
	for (int round = 0; round < 10; round++) {
		b.back = b.other_back = b.inline_ran = 1;
		assert_int_equal(rouse_call(party.remote, call_back, &b), 0);
		assert_int_equal(b.back, ROUSE_EDEADLOCK);
		assert_int_equal(b.other_back, ROUSE_EDEADLOCK);
		assert_int_equal(b.inline_ran, 0);
	}
	/* They did not run then, and do not run later. */
	env_drain(env);
	env_drain(&other);
	assert_int_equal(b.ran, 0);
	rouse_remote_unref(b.home);
	rouse_remote_unref(b.other_home);
	end_parties(&party, &thread, 1);
	env_close(&other);
}

/* ---- No false alarm ----------------------------------------------------------------- */

struct plain {
	rouse_remote *first;
	struct party *second;
	int result, inner, ran;
};

static void call_second(rouse_loop *loop, void *data)
{
	struct plain *p = data;

	(void)loop;
	p->ran++;
	p->inner = rouse_call(p->second->remote, count_party, p->second);
}

static void *call_plainly(void *data)
{
	struct plain *p = data;

	p->result = rouse_call(p->first, call_second, p);
	return NULL;
}

/* A thread without a loop waits for ours, which waits for another in turn. */
static void a_plain_threads_call_is_none(void **state)
{
	struct env *env = *state;
	struct party party;
	pthread_t thread;
	struct plain plain[2];

	start_parties(&party, &thread, 1);
	for (int round = 0; round < 20; round++) {
		pthread_t callers[2];

		for (int i = 0; i < 2; i++) {
			plain[i] = (struct plain){.first = rouse_loop_remote(env->loop),
			                          .second = &party,
			                          .result = 1,
			                          .inner = 1};
			callers[i] = env_start(call_plainly, &plain[i]);
		}
		ENV_UNTIL(env, plain[0].ran && plain[1].ran);
		for (int i = 0; i < 2; i++) {
			env_join(callers[i]);
			assert_int_equal(plain[i].result, 0);
			assert_int_equal(plain[i].inner, 0);
			rouse_remote_unref(plain[i].first);
		}
	}
	assert_int_equal(party.ran, 40);
	end_parties(&party, &thread, 1);
}

struct pair_call {
	struct party *target;
	atomic_int done;
	int result;
};

static void call_target(rouse_loop *loop, void *data)
{
	struct pair_call *c = data;

	(void)loop;
	c->result = rouse_call(c->target->remote, count_party, c->target);
	atomic_store(&c->done, 1);
}

/* Two wait for the third: no ring. */
static void two_that_wait_for_a_third_are_none(void **state)
{
	struct party parties[3];
	pthread_t threads[3];

	(void)state;
	start_parties(parties, threads, 3);
	for (int round = 0; round < 50; round++) {
		struct pair_call calls[2];

		for (int i = 0; i < 2; i++) {
			calls[i] = (struct pair_call){.target = &parties[2], .result = 1};
			assert_int_equal(
			        rouse_post(parties[i].remote, call_target, &calls[i], NULL), 0);
		}
		for (int i = 0; i < 2; i++) {
			await(&calls[i].done);
			assert_int_equal(calls[i].result, 0);
		}
	}
	end_parties(parties, threads, 3);
}

/* ---- The end of a loop that is waited for ------------------------------------------- */

static void end_and_never_serve(rouse_loop *loop, void *data)
{
	struct party *p = data;

	(void)loop;
	await(&queued[0]);
	atomic_store(&p->end, 1);
}

/* A call that its target's end refuses leaves no trace of waiting. */
static void waited_for_and_destroyed_it_is_closed_and_nobody_waits(void **state)
{
	struct env *env = *state;
	struct party party;
	struct party self = {.thread = pthread_self(), .result = 1};
	struct ring ring = {&self, 1};
	pthread_t thread;
	struct back b;

	self.remote = rouse_loop_remote(env->loop);
	start_parties(&party, &thread, 1);
	atomic_store(&queued[0], 0);
	rouse__fault_pause(note_queued, &ring);
	assert_int_equal(rouse_post(party.remote, end_and_never_serve, &party, NULL), 0);
	atomic_store(&self.calling, 1);
	self.result = rouse_call(party.remote, count_party, &self);
	rouse__fault_pause(NULL, NULL);
	/* Taken with the callback that ended it, or left for the loop's end. */
	assert_true(self.result == ROUSE_ECLOSED || (self.result == 0 && self.ran == 1));
	env_join(thread);
	assert_int_equal(rouse_call(party.remote, count_party, &self), ROUSE_ECLOSED);
	rouse_remote_unref(party.remote);

	start_parties(&party, &thread, 1);
	b = (struct back){.home = self.remote, .other_home = self.remote, .away = party.remote};
	assert_int_equal(rouse_post(party.remote, call_back, &b, NULL), 0);
	/* We wait for nobody now: both are served. */
	ENV_UNTIL(env, b.ran == 2);
	end_parties(&party, &thread, 1);
	assert_int_equal(b.back, 0);
	assert_int_equal(b.other_back, 0);
	rouse_remote_unref(self.remote);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(the_last_of_a_ring_is_refused),
	        env_test(two_at_once_are_one_refusal),
	        env_test(a_called_function_that_calls_back_is_refused),
	        env_test(a_plain_threads_call_is_none),
	        env_test(two_that_wait_for_a_third_are_none),
	        env_test(waited_for_and_destroyed_it_is_closed_and_nobody_waits),
	};

	return env_main(argc, argv, "deadlocks", tests, sizeof tests / sizeof *tests);
}
