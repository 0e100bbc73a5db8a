/*
 * Something for system calls to be counted in, by the library that users get.
 *
 * Two calls of getppid(), which nothing else here makes, frame what counts.
 */
#include <rouse/rouse.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rouse_loop *loop;
static rouse_waker *waker;
static rouse_remote *remote;
static atomic_uint served;
static unsigned rounds;

static void die(const char *what)
{
	fprintf(stderr, "%s failed\n", what);
	_exit(2);
}

static void serve(rouse_loop *l, void *data)
{
	(void)data;
	if (atomic_fetch_add(&served, 1) + 1 == rounds)
		rouse_loop_stop(l);
}

/* One wake after the other, each when the one before was served.  The pause is long enough for
 * the loop to fall asleep again, and without a system call. */
static void *wake_each(void *data)
{
	(void)data;
	for (unsigned i = 0; i < rounds; i++) {
		while (atomic_load(&served) != i)
			;
		for (volatile unsigned pause = 0; pause < 200000; pause++)
			;
		if (rouse_wake(waker) < 0)
			die("rouse_wake");
	}
	return NULL;
}

static void *post_each(void *data)
{
	(void)data;
	for (unsigned i = 0; i < rounds; i++)
		if (rouse_post(remote, serve, NULL, NULL) < 0 || rouse_wake(waker) < 0)
			die("rouse_post");
	atomic_store(&served, 0);
	return NULL;
}

static atomic_int started, flooding, flooded, counted;

/* Its own beginning and end make calls too, so it begins before the count and ends after. */
static void *flood(void *data)
{
	atomic_store(&started, 1);
	while (!atomic_load(&flooding))
		;
	post_each(data);
	atomic_store(&flooded, 1);
	while (!atomic_load(&counted))
		;
	return NULL;
}

/* The loop is awake, in this callback, while another thread posts and wakes. */
static void busy(rouse_loop *l, void *data)
{
	(void)data;
	getppid();
	atomic_store(&flooding, 1);
	while (!atomic_load(&flooded))
		;
	getppid();
	atomic_store(&counted, 1);
	rouse_loop_stop(l);
}

static void count_wakes(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wake_each, NULL))
		die("pthread_create");
	getppid();
	rouse_loop_run(loop);
	getppid();
	pthread_join(thread, NULL);
}

static void count_posts_while_awake(void)
{
	pthread_t thread;

	/* Once through, so that the memory for posts is there. */
	post_each(NULL);
	while (rouse_loop_turn(loop, 0) > 0)
		;
	rouse_loop_run(loop);
	if (pthread_create(&thread, NULL, flood, NULL))
		die("pthread_create");
	while (!atomic_load(&started))
		;
	if (rouse_post(remote, busy, NULL, NULL) < 0)
		die("rouse_post");
	rouse_loop_run(loop);
	pthread_join(thread, NULL);
}

static void never(rouse_loop *l, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)l;
	(void)self;
	(void)fd;
	(void)events;
	(void)data;
	die("idle");
}

static void count_idle(void)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) ||
	    rouse_fd_add(loop, ends[0], ROUSE_READABLE, never, NULL, NULL))
		die("pipe2");
	getppid();
	alarm(rounds);
	/* SIGALRM ends the program, and the trace. */
	rouse_loop_run(loop);
}

int main(int argc, char **argv)
{
	rouse_loop_options options = {.size = sizeof options};

	if (argc != 4)
		die("usage");
	options.poller = argv[1];
	rounds = (unsigned)strtoul(argv[3], NULL, 10);
	if (rouse_loop_create(&options, &loop) || rouse_waker_create(loop, serve, NULL, &waker))
		die("rouse_loop_create");
	remote = rouse_loop_remote(loop);
	if (!strcmp(argv[2], "wakes"))
		count_wakes();
	else if (!strcmp(argv[2], "awake"))
		count_posts_while_awake();
	else if (!strcmp(argv[2], "idle"))
		count_idle();
	else
		die("usage");
	rouse_waker_unref(waker);
	rouse_remote_unref(remote);
	return rouse_loop_destroy(loop);
}
