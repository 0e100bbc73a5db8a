/*
 * W2: "write data; wake" against "clear pending; read data".
 *
 * Each round is two wakes in close succession: the second may find the first still pending
 * just as the loop clears it.  The wake that then returns 0 counts on a run that sees what
 * was written before it.  Whether it did is known without any clock: once all wakes of a
 * round have returned, one whole turn later the last value must have been read.
 *
 * And the same of a task (LITMUS_TASK): a post that is told "queued already" counts on the one that
 * is queued, as a stop does.
 *
 * Each is built twice.  With a relaxed look at PENDING in rouse_wake(), and with a mere store where
 * a task's mark is cleared, the program must find losses; that shows that it can.  It needs two
 * processors at once: where others keep them busy, the limit in seconds ends it undecided.
 *
 *   litmus ROUNDS [ENOUGH-LOST [SECONDS]]
 *
 * Exit status: 0 nothing lost; 1 something; 77 only one processor, or undecided.
 */
#include <rouse/rouse.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_uint written; /* the data */
static atomic_uint fired, judged;
static atomic_int failed;
static unsigned seen;

static void look(void)
{
	seen = atomic_load_explicit(&written, memory_order_relaxed);
}

#ifdef LITMUS_TASK

static rouse_remote *remote;

static void run(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
	look();
}

static rouse_task task = {.run = run};

static int wake(void)
{
	int result = rouse_post_task(remote, &task);

	return result == ROUSE_EEXIST ? 0 : result;
}

static int begin(rouse_loop *loop)
{
	remote = rouse_loop_remote(loop);
	return 0;
}

static void end(void)
{
	rouse_remote_unref(remote);
}

#else

static rouse_waker *waker;

static void woken(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	look();
}

static int wake(void)
{
	return rouse_wake(waker);
}

static int begin(rouse_loop *loop)
{
	return rouse_waker_create(loop, woken, NULL, &waker);
}

static void end(void)
{
	rouse_waker_unref(waker);
}

#endif

static void write_and_wake(unsigned value)
{
	atomic_store_explicit(&written, value, memory_order_relaxed);
	if (wake() < 0)
		atomic_store(&failed, 1);
}

static void *produce(void *data)
{
	unsigned rounds = *(unsigned *)data;
	uint32_t jitter = 1;

	for (unsigned i = 1; i <= rounds; i++) {
		write_and_wake(2 * i - 1);
		jitter = jitter * 1664525u + 1013904223u;
		for (volatile uint32_t spin = jitter >> 23; spin > 0; spin--)
			;
		write_and_wake(2 * i);
		atomic_store_explicit(&fired, i, memory_order_release);
		for (unsigned spins = 1; atomic_load_explicit(&judged, memory_order_acquire) != i;)
			if (spins++ % 4096 == 0)
				sched_yield();
	}
	return NULL;
}

static int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100000;
	unsigned stop_after = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	rouse_ns limit = argc > 3 ? strtoul(argv[3], NULL, 10) * UINT64_C(1000000000) : ROUSE_NEVER;
	rouse_ns begun = rouse_now();
	unsigned lost = 0, round = 0, idle = 0;
	rouse_loop *loop;
	pthread_t thread;

	if (processors() < 2)
		return 77;
	if (rouse_loop_create(NULL, &loop) || begin(loop) ||
	    pthread_create(&thread, NULL, produce, &rounds))
		return 2;
	while (round < rounds && !(stop_after && lost >= stop_after)) {
		unsigned now = atomic_load_explicit(&fired, memory_order_acquire);

		if (rouse_loop_turn(loop, 0) < 0)
			return 2;
		if (now == round) {
			if (++idle % 4096 == 0)
				sched_yield();
			continue;
		}
		if (round % 1024 == 0 && rouse_now() - begun > limit) {
			printf("undecided after %u rounds\n", round);
			return 77;
		}
		round = now;
		lost += seen != 2 * round;
		atomic_store_explicit(&judged, round, memory_order_release);
	}
	printf("%u of %u rounds lost\n", lost, round);
	if (round < rounds)
		return 1; /* seen enough; the producer is left where it waits */
	pthread_join(thread, NULL);
	end();
	rouse_loop_destroy(loop);
	return lost || atomic_load(&failed);
}
