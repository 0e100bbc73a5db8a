#include "stress.h"

#include "core/fault.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
/* Until a program in which nothing goes on hangs (ROUSE_STRESS_PATIENCE): more than any machine is
 * away for. */
#define PATIENCE 120

struct stress stress;

static rouse_ns end;
static _Atomic uint64_t lives;
static _Atomic uint64_t states;
static unsigned patience;

/* ---- Faults ---------------------------------------------------------------------------- */

static pthread_mutex_t failing = PTHREAD_MUTEX_INITIALIZER;

void stress_fail(const char *format, ...)
{
	va_list args;

	/* The first to fail speaks alone. */
	pthread_mutex_lock(&failing);
	fprintf(stderr, "\n%s/%s FAILED: ", stress.name, stress.mode);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nseed: ROUSE_STRESS_SEED=%llu\n", (unsigned long long)stress.seed);
	if (stress.print_state)
		stress.print_state();
	fflush(NULL);
	_Exit(EXIT_FAILURE);
}

int stress_must(int result, const char *what)
{
	STRESS_CHECK(result >= 0, "%s: %s", what, rouse_strerror(result));
	return result;
}

void stress_alive(void)
{
	atomic_fetch_add_explicit(&lives, 1, memory_order_relaxed);
}

/* Signals, of which a program may send many, are for the others. */
static void *watch(void *data)
{
	uint64_t seen = 0;
	unsigned quiet = 0;
	sigset_t all;

	(void)data;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;) {
		uint64_t now = atomic_load(&lives);

		quiet = now == seen ? quiet + 1 : 0;
		seen = now;
		STRESS_CHECK(quiet < patience, "nothing has gone on for %u s: it hangs", quiet);
		sleep(1);
	}
	return NULL;
}

unsigned stress_patience(void)
{
	return patience;
}

int stress_over(void)
{
	return rouse_now() >= end;
}

/* ---- Chance ---------------------------------------------------------------------------- */

uint64_t stress_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t stress_random_state(void)
{
	uint64_t mix = stress.seed + atomic_fetch_add(&states, 1);

	return stress_random(&mix);
}

unsigned stress_below(uint64_t *state, unsigned limit)
{
	return (unsigned)((stress_random(state) >> 33) % limit);
}

int stress_once_in(uint64_t *state, unsigned times)
{
	return stress_below(state, times) == 0;
}

/* Where another thread can come between, let it. */
static void jitter(enum rouse__point point, void *data)
{
	static _Thread_local uint64_t state;
	int saved = errno;

	(void)data;
	if (!state)
		state = stress_random_state();
	if (stress_once_in(&state, 64))
		sched_yield();
	else if (stress_once_in(&state, 2048))
		nanosleep(&(struct timespec){.tv_nsec = 1000L * (long)stress_below(&state, 200)},
		          NULL);
	(void)point;
	errno = saved;
}

/* ---- The program ----------------------------------------------------------------------- */

static uint64_t from_environment(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

int stress_main(int argc, char **argv, const char *name, void (*run)(void))
{
	uint64_t seconds = from_environment("ROUSE_STRESS_SECONDS", 20);
	pthread_t watcher;

	patience = (unsigned)from_environment("ROUSE_STRESS_PATIENCE", PATIENCE);
	stress.name = name;
	stress.mode = argc > 1 ? argv[1] : "epoll";
	stress.guest = !strcmp(stress.mode, "guest");
	stress.seed = from_environment("ROUSE_STRESS_SEED",
	                               (uint64_t)time(NULL) << 16 ^ (uint64_t)getpid());
	printf("%s/%s: %llu s, seed %llu\n", name, stress.mode, (unsigned long long)seconds,
	       (unsigned long long)stress.seed);
	fflush(stdout);
	end = rouse_now() + seconds * SECOND;
	rouse__fault_pause(jitter, NULL);
	watcher = stress_start(watch, NULL);
	pthread_detach(watcher);
	run();
	return EXIT_SUCCESS;
}

pthread_t stress_start(void *(*fn)(void *), void *data)
{
	pthread_t thread;

	STRESS_CHECK(!pthread_create(&thread, NULL, fn, data), "pthread_create");
	return thread;
}

void stress_join(pthread_t thread)
{
	STRESS_CHECK(!pthread_join(thread, NULL), "pthread_join");
}

/* ---- Memory ---------------------------------------------------------------------------- */

union block {
	size_t size;
	max_align_t align;
};

/* Only where a program forks: a lock would hide what the thread sanitizer is to see. */
static pthread_mutex_t allocating = PTHREAD_MUTEX_INITIALIZER;

static void enter_allocator(const struct stress_memory *memory)
{
	if (memory->forks)
		pthread_mutex_lock(&allocating);
}

static void leave_allocator(const struct stress_memory *memory)
{
	if (memory->forks)
		pthread_mutex_unlock(&allocating);
}

int stress_fork(void)
{
	int child;

	pthread_mutex_lock(&allocating);
	child = fork();
	pthread_mutex_unlock(&allocating);
	return child;
}

static void *counted_alloc(size_t size, void *ctx)
{
	struct stress_memory *memory = ctx;
	union block *block;

	enter_allocator(memory);
	block = malloc(sizeof *block + size);
	leave_allocator(memory);
	if (!block)
		return NULL;
	block->size = size;
	memset(block + 1, 0xa5, size);
	atomic_fetch_add(&memory->blocks, 1);
	return block + 1;
}

static void counted_free(void *ptr, size_t size, void *ctx)
{
	struct stress_memory *memory = ctx;
	union block *block = (union block *)ptr - 1;

	STRESS_CHECK(block->size == size, "a block of %zu bytes was freed as one of %zu",
	             block->size, size);
	memset(block, 0xdd, sizeof *block + size);
	enter_allocator(memory);
	free(block);
	leave_allocator(memory);
	atomic_fetch_sub(&memory->blocks, 1);
}

void stress_memory_init(struct stress_memory *memory)
{
	atomic_init(&memory->blocks, 0);
	memory->forks = 0;
	memory->allocator = (rouse_allocator){counted_alloc, counted_free, memory};
}

void stress_memory_check(struct stress_memory *memory)
{
	long blocks = atomic_load(&memory->blocks);

	STRESS_CHECK(blocks == 0, "%ld blocks of memory were not freed", blocks);
}

unsigned stress_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* ---- Loops ----------------------------------------------------------------------------- */

void stress_open(struct stress_loop *loop, struct stress_memory *memory, unsigned max_batch)
{
	rouse_loop_options options = {
	        .size = sizeof options,
	        .poller = stress.guest ? "epoll" : stress.mode,
	        .allocator = &memory->allocator,
	        .max_batch = max_batch,
	};
	struct epoll_event event = {.events = EPOLLIN};
	rouse_fd fd;

	loop->outer = -1;
	stress_must(rouse_loop_create(&options, &loop->loop), "create a loop");
	if (!stress.guest)
		return;
	loop->outer = epoll_create1(EPOLL_CLOEXEC);
	stress_must(rouse_loop_fd(loop->loop, &fd), "the loop's descriptor");
	STRESS_CHECK(loop->outer >= 0 && !epoll_ctl(loop->outer, EPOLL_CTL_ADD, fd, &event),
	             "epoll: %d", errno);
}

/* Rounded down: a host may wake early, and then turns again. */
static int milliseconds(rouse_ns longest)
{
	return longest == ROUSE_NEVER ? -1 : (int)(longest / 1000000);
}

int stress_turn(struct stress_loop *loop, rouse_ns longest)
{
	rouse_ns until = longest;
	struct epoll_event event;

	stress_alive();
	if (loop->outer >= 0) {
		STRESS_CHECK(epoll_wait(loop->outer, &event, 1, milliseconds(longest)) >= 0 ||
		                     errno == EINTR,
		             "epoll_wait: %d", errno);
		until = 0;
	} else if (longest != 0 && longest != ROUSE_NEVER) {
		until = rouse_loop_now(loop->loop) + longest;
	}
	return stress_must(rouse_loop_turn(loop->loop, until), "a turn");
}

void stress_run(struct stress_loop *loop)
{
	if (loop->outer < 0) {
		stress_must(rouse_loop_run(loop->loop), "run");
		return;
	}
	while (!rouse_loop_take_stop(loop->loop))
		stress_turn(loop, ROUSE_NEVER);
}

void stress_close(struct stress_loop *loop)
{
	stress_must(rouse_loop_destroy(loop->loop), "destroy a loop");
	loop->loop = NULL;
	if (loop->outer >= 0)
		close(loop->outer);
	loop->outer = -1;
}
