/*
 * What one operation of the core costs, without the system.
 *
 *   operations               nanoseconds, medians and ranges of interleaved rounds
 *   operations OP COUNT      do it so often, for a counter of instructions
 *
 * Nanoseconds belong to the machine and the moment; instructions (instructions.sh) are the
 * same each time, and so are what a change is judged by.
 */
#include <rouse/pool.h>
#include <rouse/rouse.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 15, ARMED = 100000 };

static rouse_loop *loop;
static rouse_waker *waker;
static rouse_remote *remote;
static rouse_source *timers;
static uint64_t seed = 1;

static void must(int result)
{
	if (result < 0) {
		fprintf(stderr, "operations: %s\n", rouse_strerror(result));
		exit(1);
	}
}

static void woken(rouse_loop *l, void *data)
{
	(void)l;
	(void)data;
}

static void fired(rouse_loop *l, rouse_source self, rouse_ns deadline, void *data)
{
	(void)l;
	(void)self;
	(void)deadline;
	(void)data;
}

/* Somewhere in the next hour. */
static rouse_ns some_time(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return rouse_now() + 60000000000u + (seed >> 22) % 3600000000000u;
}

static void nothing(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		must(rouse_loop_turn(loop, 0));
}

static void wake_pending(unsigned count)
{
	must(rouse_wake(waker));
	for (unsigned i = 0; i < count; i++)
		must(rouse_wake(waker));
	must(rouse_loop_turn(loop, 0));
}

static void wake_and_turn(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		must(rouse_wake(waker));
		must(rouse_loop_turn(loop, 0));
	}
}

/* A hundred posts a turn, so that the turn's own cost is small beside them. */
static void post_and_run(unsigned count)
{
	for (unsigned done = 0; done < count; done++) {
		must(rouse_post(remote, woken, NULL, NULL));
		if (done % 100 == 99)
			must(rouse_loop_turn(loop, 0));
	}
	must(rouse_loop_turn(loop, 0));
}

static void insert_timers(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		must(rouse_timer_add(loop, some_time(), 0, 0, fired, NULL, &timers[ARMED + i]));
}

static void cancel_timers(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		must(rouse_remove(loop, timers[ARMED + i]));
}

static void rearm_timers(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		must(rouse_timer_set(loop, timers[i], some_time(), 0, 0));
}

static void pick_times(unsigned count)
{
	volatile rouse_ns sink;

	for (unsigned i = 0; i < count; i++)
		sink = some_time();
	(void)sink;
}

/* ---- Pools, called ------------------------------------------------------------------ */

static void released(void *object)
{
	(void)object;
}

static void push_and_pop(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		must(rouse_pool_pop(rouse_pool_push()));
}

static void release_in_pools(unsigned count, unsigned batch)
{
	while (count > 0) {
		rouse_pool pool = rouse_pool_push();

		for (unsigned i = 0; i < batch && count > 0; i++, count--) {
			rouse_autorelease(&loop, released);
			rouse_autorelease(&loop, released);
		}
		must(rouse_pool_pop(pool));
	}
}

static void release_two(unsigned count)
{
	release_in_pools(count, 1);
}

static void release_many(unsigned count)
{
	release_in_pools(count, 1000);
}

/* ---- A wake and its turn, by the loop's pools ------------------------------------------ */

struct turns {
	unsigned policy, count;
	int stack; /* on a thread that autoreleases, now and then */
	rouse_wake_fn fn;
};

static void autoreleases(rouse_loop *l, void *data)
{
	(void)data;
	rouse_autorelease(l, released);
}

/* On a thread of its own: one that has autoreleased once has a stack for good. */
static void *take_turns(void *data)
{
	const struct turns *how = data;
	rouse_loop_options options = {.size = sizeof options, .pool = how->policy};
	rouse_waker *own;
	rouse_loop *l;

	must(rouse_loop_create(&options, &l));
	must(rouse_waker_create(l, how->fn, NULL, &own));
	must(rouse_timer_add(l, some_time(), 0, 0, fired, NULL, NULL));
	if (how->stack)
		must(rouse_pool_pop(rouse_pool_push()));
	for (unsigned i = 0; i < how->count; i++) {
		must(rouse_wake(own));
		must(rouse_loop_turn(l, 0));
	}
	rouse_waker_unref(own);
	must(rouse_loop_destroy(l));
	return NULL;
}

static void on_a_thread(struct turns how)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_turns, &how) || pthread_join(thread, NULL))
		must(ROUSE_EOS);
}

static void turns_without(unsigned count)
{
	on_a_thread((struct turns){ROUSE_POOL_NONE, count, 0, woken});
}

static void turns_around_turns(unsigned count)
{
	on_a_thread((struct turns){ROUSE_POOL_PER_TURN, count, 0, woken});
}

static void turns_around_callbacks(unsigned count)
{
	on_a_thread((struct turns){ROUSE_POOL_PER_CALLBACK, count, 0, woken});
}

static void turns_with_stack(unsigned count)
{
	on_a_thread((struct turns){ROUSE_POOL_PER_TURN, count, 1, woken});
}

static void turns_that_autorelease(unsigned count)
{
	on_a_thread((struct turns){ROUSE_POOL_PER_TURN, count, 1, autoreleases});
}

static const struct operation {
	const char *name, *says;
	void (*run)(unsigned count);
	unsigned count;
} operations[] = {
        {"turn", "a turn with nothing to do, one system call", nothing, 20000},
        {"wake-pending", "a wake that is pending already", wake_pending, 100000},
        {"wake", "a wake of an awake loop, its callback, and the turn", wake_and_turn, 20000},
        {"post", "a post and its run, a hundred a turn", post_and_run, 50000},
        {"pool", "a pool pushed and popped, with nothing in it", push_and_pop, 100000},
        {"release-1", "two objects autoreleased and released, in a pool of theirs", release_two,
         50000},
        {"release-1000", "the same, a thousand of them a pool", release_many, 50000},
        {"turn-none", "wake, callback, turn: a loop without pools", turns_without, 20000},
        {"turn-each", "with a pool around each turn", turns_around_turns, 20000},
        {"turn-callback", "with a pool around each callback", turns_around_callbacks, 20000},
        {"turn-stack", "around each turn, on a thread that has a stack", turns_with_stack, 20000},
        {"turn-release", "and an object in it", turns_that_autorelease, 20000},
        {"timer-insert", "a timer inserted, 100,000 armed", insert_timers, 10000},
        {"timer-cancel", "a timer removed, 100,000 armed", cancel_timers, 10000},
        {"timer-set", "a timer armed anew, 100,000 armed", rearm_timers, 10000},
        {"some-time", "of the three above, picking a time", pick_times, 10000},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void set_up(void)
{
	must(rouse_loop_create(NULL, &loop));
	must(rouse_waker_create(loop, woken, NULL, &waker));
	remote = rouse_loop_remote(loop);
	timers = calloc(2 * ARMED, sizeof *timers);
	if (!timers)
		exit(1);
	for (unsigned i = 0; i < ARMED; i++)
		must(rouse_timer_add(loop, some_time(), 0, 0, fired, NULL, &timers[i]));
}

static void tear_down(void)
{
	rouse_waker_unref(waker);
	rouse_remote_unref(remote);
	must(rouse_loop_destroy(loop));
	free(timers);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void time_all(void)
{
	static double ns[OPERATIONS][ROUNDS];

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < OPERATIONS; i++) {
			rouse_ns begin = rouse_now();

			operations[i].run(operations[i].count);
			ns[i][round] = (double)(rouse_now() - begin) / operations[i].count;
		}
	}
	printf("%-14s %9s %9s %9s   ns, %d interleaved rounds\n", "operation", "median", "min",
	       "max", ROUNDS);
	for (int i = 0; i < OPERATIONS; i++) {
		qsort(ns[i], ROUNDS, sizeof ns[i][0], by_size);
		printf("%-14s %9.1f %9.1f %9.1f   %s\n", operations[i].name, ns[i][ROUNDS / 2],
		       ns[i][0], ns[i][ROUNDS - 1], operations[i].says);
	}
}

static int run_one(const char *name, unsigned count)
{
	for (int i = 0; i < OPERATIONS; i++) {
		if (strcmp(name, operations[i].name))
			continue;
		if (count > ARMED)
			break;
		/* What is to be cancelled must be there. */
		if (operations[i].run == cancel_timers)
			insert_timers(count);
		operations[i].run(count);
		return 0;
	}
	fprintf(stderr, "operations: no such operation, or more than %d\n", ARMED);
	return 2;
}

int main(int argc, char **argv)
{
	int status = 0;

	set_up();
	if (argc == 3)
		status = run_one(argv[1], (unsigned)strtoul(argv[2], NULL, 10));
	else if (argc == 2 && !strcmp(argv[1], "--list"))
		for (int i = 0; i < OPERATIONS; i++)
			puts(operations[i].name);
	else
		time_all();
	tear_down();
	return status;
}
