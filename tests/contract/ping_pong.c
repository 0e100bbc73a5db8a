/*
 * W13: two loops wake each other, and nothing else goes on: a wake that is lost is never made good
 * by another one, and both sleep for ever.
 *
 * Built twice.  With a loop that looks at its queue and marks itself asleep in two steps the
 * program must find that it stalls; that shows that it can.  Where others keep the processors busy,
 * the limit in seconds ends it undecided.
 *
 *   ping_pong ROUNDS [SECONDS]
 *
 * Exit status: 0 all rounds played; 1 stalled; 77 only one processor, or undecided.
 */
#include <rouse/rouse.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Nothing takes so long; what does is a stall. */
#define STALL 10

static struct side {
	pthread_t thread;
	rouse_waker *waker, *other;
	uint32_t jitter;
} sides[2];

static pthread_barrier_t ready;
static atomic_ulong played;
static unsigned long rounds;

static void play(rouse_loop *loop, void *data)
{
	struct side *side = data;

	if (atomic_fetch_add(&played, 1) + 1 >= rounds)
		rouse_loop_stop(loop);
	rouse_wake(side->other);
	/* To the moment at which the other one's answer comes. */
	side->jitter = side->jitter * 1664525u + 1013904223u;
	for (volatile uint32_t spin = side->jitter >> 20; spin > 0; spin--)
		;
}

static void *side_main(void *data)
{
	struct side *side = data;
	rouse_loop *loop;

	if (rouse_loop_create(NULL, &loop) || rouse_waker_create(loop, play, side, &side->waker))
		exit(2);
	pthread_barrier_wait(&ready);
	side->other = sides[side == sides].waker;
	pthread_barrier_wait(&ready);
	if (rouse_loop_run(loop))
		exit(2);
	pthread_barrier_wait(&ready);
	rouse_waker_unref(side->waker);
	rouse_loop_destroy(loop);
	return NULL;
}

static int processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

static void sleep_a_second(void)
{
	const struct timespec second = {.tv_sec = 1};

	nanosleep(&second, NULL);
}

int main(int argc, char **argv)
{
	unsigned long limit = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long before = 0, now, still = 0;

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	if (processors() < 2)
		return 77;
	pthread_barrier_init(&ready, NULL, 3);
	for (unsigned i = 0; i < 2; i++) {
		sides[i].jitter = i + 1;
		if (pthread_create(&sides[i].thread, NULL, side_main, &sides[i]))
			return 2;
	}
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready);
	rouse_wake(sides[0].waker);
	for (unsigned long seconds = 0; (now = atomic_load(&played)) < rounds; seconds++) {
		still = now == before ? still + 1 : 0;
		before = now;
		if (still >= STALL) {
			printf("stalled after %lu of %lu rounds\n", now, rounds);
			return 1;
		}
		if (limit && seconds >= limit && !still) {
			printf("undecided after %lu rounds\n", now);
			return 77;
		}
		sleep_a_second();
	}
	/* The one that stopped first may have been asked once more: both run to their end. */
	pthread_barrier_wait(&ready);
	pthread_join(sides[0].thread, NULL);
	pthread_join(sides[1].thread, NULL);
	printf("%lu rounds\n", now);
	return 0;
}
