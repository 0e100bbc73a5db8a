/*
 * Loops end and begin while threads that do not know it wake them.
 *
 * The threads are not waited for by time: the counts are what ends the test, and a wake that is
 * lost hangs it.
 */
#include "env.h"

#include "core/fault.h"

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2 };

/* A waker's reference, handed to a thread. */
struct held {
	rouse_waker *waker;
	unsigned life; /* of which of the loops it is */
};

struct raced {
	_Atomic(struct held *) next;
	sem_t handed;
	atomic_uint answered, wrong;
	atomic_uint *ended; /* loops that are gone */
	atomic_int *over;
	pthread_t thread;
};

static struct held *hold(rouse_waker *waker, unsigned life)
{
	struct held *held = malloc(sizeof *held);

	assert_non_null(held);
	*held = (struct held){rouse_waker_ref(waker), life};
	return held;
}

static void let_go(struct held *held)
{
	if (held)
		rouse_waker_unref(held->waker);
	free(held);
}

/* Wakes what it was given last until that says closed, and a few times more: after the loop is
 * gone, and often as the last one to hold it. */
static void *wake_to_the_end(void *data)
{
	struct raced *r = data;
	struct held *held = NULL;
	unsigned more = 0;

	while (!atomic_load(r->over)) {
		int gone, result;

		if (!more) {
			while (sem_wait(&r->handed))
				;
			let_go(held);
			held = atomic_exchange(&r->next, NULL);
			if (!held)
				continue;
			more = 4;
		}
		gone = held->life < atomic_load(r->ended);
		result = rouse_wake(held->waker);
		if (result == ROUSE_ECLOSED)
			more--;
		else if (!gone && (result == 0 || result == 1))
			atomic_fetch_add(&r->answered, 1);
		else
			atomic_fetch_add(&r->wrong, 1);
		/* It is pending: let the loop have the processor. */
		if (result == 0)
			sched_yield();
	}
	let_go(held);
	return NULL;
}

struct life {
	int over, runs;
};

static void live(rouse_loop *loop, void *data)
{
	struct life *life = data;

	(void)loop;
	assert_false(life->over);
	life->runs++;
}

static void one_life(struct env *env, struct raced *raced, unsigned number)
{
	const unsigned turns = number % 5;
	struct life *life = calloc(1, sizeof *life);
	rouse_waker *waker;

	assert_non_null(life);
	assert_int_equal(rouse_waker_create(env->loop, live, life, &waker), 0);
	for (int i = 0; i < THREADS; i++) {
		let_go(atomic_exchange(&raced[i].next, hold(waker, number)));
		sem_post(&raced[i].handed);
	}
	/* Now and then the threads hold it alone. */
	if (turns & 1)
		waker = rouse_waker_unref(waker);
	for (unsigned i = 0; i < turns; i++)
		env_turn(env, i ? 0 : ROUSE_NEVER);
	env_close(env);
	atomic_store(raced->ended, number + 1);
	life->over = 1;
	free(life);
	if (waker)
		assert_int_equal(rouse_wake(waker), ROUSE_ECLOSED);
	rouse_waker_unref(waker);
	env_open(env, 0);
}

static unsigned answered(struct raced *raced)
{
	unsigned sum = 0;

	for (int i = 0; i < THREADS; i++)
		sum += atomic_load(&raced[i].answered);
	return sum;
}

/* A wake that has begun is overtaken by the loop's end more often than by chance. */
static void dawdle(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__SET_PENDING)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static void w19_wakes_race_the_loops_end_and_its_next_beginning(void **state)
{
	struct env *env = *state;
	struct raced raced[THREADS];
	atomic_int over = 0;
	atomic_uint ended = 0;
	unsigned wakes = scaled(20000), lives = 100 + scaled(200);

	rouse__fault_pause(dawdle, NULL);
	for (int i = 0; i < THREADS; i++) {
		memset(&raced[i], 0, sizeof raced[i]);
		raced[i].over = &over;
		raced[i].ended = &ended;
		sem_init(&raced[i].handed, 0, 0);
		raced[i].thread = env_start(wake_to_the_end, &raced[i]);
	}
	for (unsigned i = 0; i < lives || answered(raced) < wakes; i++)
		one_life(env, raced, i);
	atomic_store(&over, 1);
	for (int i = 0; i < THREADS; i++)
		sem_post(&raced[i].handed);
	for (int i = 0; i < THREADS; i++) {
		env_join(raced[i].thread);
		let_go(atomic_load(&raced[i].next));
		sem_destroy(&raced[i].handed);
		assert_int_equal(atomic_load(&raced[i].wrong), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(w19_wakes_race_the_loops_end_and_its_next_beginning),
	};

	return env_main(argc, argv, "rebirths", tests, sizeof tests / sizeof *tests);
}
