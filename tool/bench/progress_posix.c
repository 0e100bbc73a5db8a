#include "bench/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "thread.h"

struct progress {
	struct run *run;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool quit;
};

static void *progress_main(void *data)
{
	struct progress *p = data;
	struct timespec when;

	/* Off the grid of the wakeups, which begins a tenth of a second from here: printing is work
	 * for a processor that some wakeup would otherwise find asleep. */
	clock_gettime(CLOCK_MONOTONIC, &when);
	when.tv_nsec += 7000000;
	if (when.tv_nsec >= 1000000000) {
		when.tv_nsec -= 1000000000;
		when.tv_sec++;
	}
	pthread_mutex_lock(&p->mutex);
	while (!p->quit) {
		unsigned gone = atomic_load_explicit(&p->run->progress, memory_order_acquire);

		dprintf(STDERR_FILENO, "\r%s %u of %u s\033[K", p->run->kind->name, gone,
		        p->run->options->seconds);
		when.tv_sec++;
		while (!p->quit && pthread_cond_timedwait(&p->changed, &p->mutex, &when) == 0)
			;
	}
	pthread_mutex_unlock(&p->mutex);
	dprintf(STDERR_FILENO, "\r\033[K");
	return NULL;
}

struct progress *progress_start(struct run *run)
{
	struct progress *p;
	pthread_condattr_t monotonic;

	if (!isatty(STDERR_FILENO))
		return NULL;
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->run = run;
	pthread_mutex_init(&p->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&p->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (thread_start(&p->thread, progress_main, p) == 0)
		return p;
	free(p);
	return NULL;
}

void progress_stop(struct progress *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->mutex);
	p->quit = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->mutex);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->mutex);
	free(p);
}
