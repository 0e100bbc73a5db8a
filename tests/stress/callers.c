/*
 * stress_callers: loops call each other, and threads without a loop call them.  Loops whose threads
 * would wait for each other in a ring are told so instead: a call has run once when it returns
 * success, not at all when it was refused, and all of them return.
 */
#include "stress.h"

#include <sched.h>
#include <stdio.h>

enum { LOOPS = 4, OUTSIDE = 2, DEPTH = 3 };

static struct site {
	pthread_t thread;
	struct stress_loop home;
	struct stress_memory memory;
	rouse_remote *remote;
	uint64_t random;
	_Atomic uint64_t calls, refused, served;
	atomic_int ready;
} sites[LOOPS];

static _Atomic uint64_t outside_calls;
static atomic_int ringing;

static void print_state(void)
{
	for (unsigned i = 0; i < LOOPS; i++)
		fprintf(stderr, "loop %u: called others %llu times, refused %llu, served %llu\n", i,
		        (unsigned long long)sites[i].calls, (unsigned long long)sites[i].refused,
		        (unsigned long long)sites[i].served);
}

struct errand {
	struct site *at;
	unsigned depth;
	int ran;
};

static int call(uint64_t *random, unsigned depth);

static void call_from(struct site *site, unsigned depth)
{
	if (!atomic_load(&ringing))
		return;
	atomic_fetch_add(&site->calls, 1);
	if (call(&site->random, depth) == ROUSE_EDEADLOCK)
		atomic_fetch_add(&site->refused, 1);
}

static void run_errand(rouse_loop *loop, void *data)
{
	struct errand *errand = data;

	STRESS_CHECK(loop == errand->at->home.loop &&
	                     pthread_equal(pthread_self(), errand->at->thread),
	             "a call on another loop");
	errand->ran++;
	atomic_fetch_add(&errand->at->served, 1);
	stress_alive();
	if (errand->depth > 0 && !stress_once_in(&errand->at->random, 3))
		call_from(errand->at, errand->depth - 1);
}

static int call(uint64_t *random, unsigned depth)
{
	struct errand errand = {.at = &sites[stress_below(random, LOOPS)], .depth = depth};
	int result = rouse_call(errand.at->remote, run_errand, &errand);

	STRESS_CHECK(result == 0 || result == ROUSE_EDEADLOCK, "a call: %s",
	             rouse_strerror(result));
	STRESS_CHECK(errand.ran == (result == 0), "a call returned %d, having run %d times", result,
	             errand.ran);
	return result;
}

static void tick(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	call_from(data, DEPTH);
}

static void *live(void *data)
{
	struct site *site = data;

	site->thread = pthread_self();
	site->random = stress_random_state();
	stress_memory_init(&site->memory);
	stress_open(&site->home, &site->memory, 0);
	site->remote = rouse_loop_remote(site->home.loop);
	stress_must(rouse_timer_add(site->home.loop, rouse_loop_now(site->home.loop), 20000, 0,
	                            tick, site, NULL),
	            "add a timer");
	atomic_store(&site->ready, 1);
	stress_run(&site->home);
	stress_close(&site->home);
	return NULL;
}

/* Nobody calls a thread without a loop: it is never refused. */
static void *call_from_outside(void *data)
{
	uint64_t random = stress_random_state();

	(void)data;
	while (!stress_over()) {
		STRESS_CHECK(call(&random, DEPTH) == 0, "a call from outside is refused");
		atomic_fetch_add(&outside_calls, 1);
	}
	return NULL;
}

static void nothing(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
}

static void run(void)
{
	pthread_t loops[LOOPS], threads[OUTSIDE];
	uint64_t calls = 0, refused = 0;

	stress.print_state = print_state;
	for (unsigned i = 0; i < LOOPS; i++) {
		loops[i] = stress_start(live, &sites[i]);
		while (!atomic_load(&sites[i].ready))
			sched_yield();
	}
	atomic_store(&ringing, 1);
	for (unsigned i = 0; i < OUTSIDE; i++)
		threads[i] = stress_start(call_from_outside, NULL);
	for (unsigned i = 0; i < OUTSIDE; i++)
		stress_join(threads[i]);
	atomic_store(&ringing, 0);
	/* A loop that takes a turn is in nobody's ring; one that was may have begun another. */
	for (unsigned i = 0; i < (DEPTH + 1) * LOOPS; i++)
		stress_must(rouse_call(sites[i % LOOPS].remote, nothing, NULL), "a call");
	for (unsigned i = 0; i < LOOPS; i++) {
		stress_must(rouse_remote_stop(sites[i].remote), "stop");
		stress_join(loops[i]);
		rouse_remote_unref(sites[i].remote);
		stress_memory_check(&sites[i].memory);
		calls += sites[i].calls;
		refused += sites[i].refused;
	}
	printf("calls from outside %llu, between loops %llu, of them %llu refused as a ring: all "
	       "returned\n",
	       (unsigned long long)outside_calls, (unsigned long long)calls,
	       (unsigned long long)refused);
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "stress_callers", run);
}
