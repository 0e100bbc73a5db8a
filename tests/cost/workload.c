/*
 * Something for instructions to be counted in: one waker of many, or one ready descriptor of many,
 * so many times.
 *
 *   cost_workload wake|rotate|ready POPULATION ROUNDS
 */
#include <rouse/rouse.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static rouse_loop *loop;
static unsigned population, rounds, runs;

static void must(int result, const char *what)
{
	if (result < 0) {
		fprintf(stderr, "%s: %s\n", what, rouse_strerror(result));
		exit(2);
	}
}

static void *room_for(size_t size)
{
	void *memory = calloc(population, size);

	if (!memory)
		must(ROUSE_ENOMEM, "calloc");
	return memory;
}

static void woken(rouse_loop *l, void *data)
{
	(void)l;
	(void)data;
	runs++;
}

static void ready(rouse_loop *l, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)l;
	(void)self;
	(void)fd;
	(void)events;
	(void)data;
	runs++;
}

/* `step` from one waker to the next to be woken; 0: always the one in the middle. */
static void wake(unsigned step)
{
	rouse_waker **wakers = room_for(sizeof(*wakers));
	unsigned which = population / 2;

	for (unsigned i = 0; i < population; i++)
		must(rouse_waker_create(loop, woken, NULL, &wakers[i]), "rouse_waker_create");
	for (unsigned i = 0; i < rounds; i++) {
		must(rouse_wake(wakers[which]), "rouse_wake");
		must(rouse_loop_turn(loop, 0), "rouse_loop_turn");
		which = (which + step) % population;
	}
	for (unsigned i = 0; i < population; i++)
		rouse_waker_unref(wakers[i]);
	free(wakers);
}

/* 77: more descriptors than this process may have. */
static int open_one(unsigned count)
{
	int fd = eventfd(count, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd >= 0)
		return fd;
	perror("eventfd");
	exit(errno == EMFILE || errno == ENFILE ? 77 : 2);
}

static void turn_with_one_ready(void)
{
	int *fds = room_for(sizeof *fds);

	for (unsigned i = 0; i < population; i++) {
		fds[i] = open_one(i == population / 2);
		must(rouse_fd_add(loop, fds[i], ROUSE_READABLE, ready, NULL, NULL), "rouse_fd_add");
	}
	for (unsigned i = 0; i < rounds; i++)
		must(rouse_loop_turn(loop, 0), "rouse_loop_turn");
	for (unsigned i = 0; i < population; i++)
		close(fds[i]);
	free(fds);
}

int main(int argc, char **argv)
{
	rouse_loop_options options = {.size = sizeof options, .poller = "epoll"};

	if (argc != 4)
		return 2;
	population = (unsigned)strtoul(argv[2], NULL, 10);
	rounds = (unsigned)strtoul(argv[3], NULL, 10);
	if (!population || !rounds)
		return 2;
	must(rouse_loop_create(&options, &loop), "rouse_loop_create");
	if (!strcmp(argv[1], "wake"))
		wake(0);
	else if (!strcmp(argv[1], "rotate"))
		wake(7919);
	else if (!strcmp(argv[1], "ready"))
		turn_with_one_ready();
	else
		return 2;
	/* A turn that did nothing would cost the same for any number. */
	if (runs != rounds) {
		fprintf(stderr, "%u runs in %u rounds\n", runs, rounds);
		return 2;
	}
	return rouse_loop_destroy(loop);
}
