/*
 * What it takes to wake a thread that waits for a window library, by the library's own wait and
 * wake, and in a rouse loop.  Needs an X server.
 *
 *   bench_windows                microseconds: each row's median, of interleaved rounds the median
 *                                and the range, with both threads on one processor and on any
 *   bench_windows ROW COUNT      do it so often, for a counter of system calls (windows.sh)
 */
#define SDL_MAIN_HANDLED
#include <rouse/glfw.h>
#include <rouse/sdl.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <SDL.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 9, WAKES = 200, LEAST_GAP = 2000000, MORE_GAP = 2000000 }; /* ns */

static rouse_loop *loop;
static rouse_waker *waker;
static rouse_remote *remote;
static SDL_Window *sdl_window;

static _Atomic rouse_ns sent; /* 0: answered */
static atomic_bool over;
static sem_t answered;
static rouse_ns took[WAKES];
static unsigned wakes;

static void must(int result)
{
	if (result < 0) {
		fprintf(stderr, "bench_windows: %s\n", rouse_strerror(result));
		exit(1);
	}
}

static void answer(void)
{
	rouse_ns now = rouse_now(), began = atomic_exchange(&sent, 0);

	if (!began)
		return;
	took[wakes++ % WAKES] = now - began;
	sem_post(&answered);
}

/* ---- Rows -------------------------------------------------------------------------- */

static void on_wake(rouse_loop *l, void *data)
{
	(void)l, (void)data;
	answer();
}

static void on_event(rouse_loop *l, rouse_sdl *sdl, const SDL_Event *event, void *data)
{
	(void)l, (void)sdl, (void)data;
	if (event->type == SDL_USEREVENT)
		answer();
}

static void run_rouse(void)
{
	must(rouse_loop_run(loop));
}

static void run_glfw(void)
{
	rouse_glfw_options options = {.size = sizeof(options)};
	rouse_glfw *glfw;

	must(rouse_glfw_attach(loop, &options, &glfw));
	run_rouse();
	rouse_glfw_detach(glfw);
}

static void run_sdl(void)
{
	rouse_sdl_options options = {
	        .size = sizeof(options), .window = sdl_window, .event = on_event};
	rouse_sdl *sdl;

	must(rouse_sdl_attach(loop, &options, &sdl));
	run_rouse();
	rouse_sdl_detach(sdl);
}

static void wait_glfw(void)
{
	while (!atomic_load(&over)) {
		glfwWaitEvents();
		answer();
	}
}

static void wait_sdl(void)
{
	SDL_Event event;

	while (!atomic_load(&over))
		if (SDL_WaitEvent(&event) && event.type == SDL_USEREVENT)
			answer();
}

/* SDL's wait is another one where it has no window. */
static void wait_sdl_without_window(void)
{
	SDL_DestroyWindow(sdl_window);
	wait_sdl();
	sdl_window = SDL_CreateWindow("bench", 0, 0, 200, 100, 0);
}

static void wake_rouse(void)
{
	rouse_wake(waker);
}

static void wake_glfw(void)
{
	glfwPostEmptyEvent();
}

static void wake_sdl(void)
{
	SDL_Event event = {.type = SDL_USEREVENT};

	SDL_PushEvent(&event);
}

static const struct row {
	const char *name, *what;
	void (*wait)(void), (*wake)(void);
} rows[] = {
        {"rouse", "rouse_wake, no window", run_rouse, wake_rouse},
        {"glfw-rouse", "rouse_wake, GLFW attached", run_glfw, wake_rouse},
        {"glfw-own", "glfwPostEmptyEvent, glfwWaitEvents", wait_glfw, wake_glfw},
        {"sdl-rouse", "rouse_wake, SDL attached", run_sdl, wake_rouse},
        {"sdl-push", "SDL_PushEvent, SDL attached", run_sdl, wake_sdl},
        {"sdl-own", "SDL_PushEvent, SDL_WaitEvent", wait_sdl, wake_sdl},
        {"sdl-no-window", "the same without a window", wait_sdl_without_window, wake_sdl},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* ---- One round of one row ------------------------------------------------------------ */

struct round {
	const struct row *row;
	unsigned count;
};

/* Each of another length, so that no clock of a library's is met in step. */
static void sleep_some(void)
{
	static unsigned seed = 1;
	const struct timespec gap = {.tv_nsec = LEAST_GAP + rand_r(&seed) % MORE_GAP};

	nanosleep(&gap, NULL);
}

static void *wake_all(void *data)
{
	const struct round *round = data;

	for (unsigned i = 0; i < round->count; i++) {
		sleep_some();
		atomic_store(&sent, rouse_now());
		round->row->wake();
		sem_wait(&answered);
	}
	sleep_some();
	atomic_store(&over, true);
	round->row->wake();
	rouse_remote_stop(remote);
	return NULL;
}

static void play(const struct row *row, unsigned count)
{
	struct round round = {row, count};
	pthread_t thread;

	wakes = 0;
	atomic_store(&over, false);
	if (pthread_create(&thread, NULL, wake_all, &round))
		exit(1);
	row->wait();
	pthread_join(thread, NULL);
	/* A stop that a library's own wait did not use. */
	(void)rouse_loop_turn(loop, 0);
	(void)rouse_loop_take_stop(loop);
	atomic_store(&sent, 0);
}

static int by_size(const void *a, const void *b)
{
	rouse_ns x = *(const rouse_ns *)a, y = *(const rouse_ns *)b;

	return (x > y) - (x < y);
}

static rouse_ns median(rouse_ns *values, unsigned count)
{
	qsort(values, count, sizeof(*values), by_size);
	return values[count / 2];
}

static void on_processors(const cpu_set_t *set)
{
	if (sched_setaffinity(0, sizeof(*set), set))
		perror("sched_setaffinity");
}

static void measure(const char *where)
{
	static rouse_ns medians[ROWS][ROUNDS];

	for (unsigned round = 0; round < ROUNDS; round++)
		for (unsigned i = 0; i < ROWS; i++) {
			play(&rows[i], WAKES);
			medians[i][round] = median(took, WAKES);
		}
	printf("%s, p50 in us: median of %d rounds of %d wakes (range)\n", where, ROUNDS, WAKES);
	for (unsigned i = 0; i < ROWS; i++) {
		rouse_ns middle = median(medians[i], ROUNDS);

		printf("  %-36s %8.1f (%.1f to %.1f)\n", rows[i].what, (double)middle / 1e3,
		       (double)medians[i][0] / 1e3, (double)medians[i][ROUNDS - 1] / 1e3);
	}
}

static void open_all(void)
{
	must(rouse_loop_create(NULL, &loop));
	must(rouse_waker_create(loop, on_wake, NULL, &waker));
	remote = rouse_loop_remote(loop);
	sem_init(&answered, 0, 0);
	SDL_SetMainReady();
	if (!glfwInit() || SDL_Init(SDL_INIT_VIDEO) ||
	    !(sdl_window = SDL_CreateWindow("bench", 0, 0, 200, 100, 0))) {
		puts("SKIP: no window");
		exit(77);
	}
	glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
	if (!glfwCreateWindow(200, 100, "bench", NULL, NULL))
		exit(77);
}

int main(int argc, char **argv)
{
	cpu_set_t all, one;

	open_all();
	for (unsigned i = 0; argc > 2 && i < ROWS; i++)
		if (!strcmp(argv[1], rows[i].name))
			play(&rows[i], (unsigned)strtoul(argv[2], NULL, 10));
	if (argc == 1) {
		sched_getaffinity(0, sizeof(all), &all);
		CPU_ZERO(&one);
		for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
			if (CPU_ISSET(cpu, &all))
				CPU_SET(cpu, &one);
		on_processors(&one);
		measure("One processor");
		on_processors(&all);
		measure("Any processor");
	}
	rouse_remote_unref(remote);
	rouse_waker_unref(waker);
	must(rouse_loop_destroy(loop));
	SDL_Quit();
	glfwTerminate();
	return 0;
}
