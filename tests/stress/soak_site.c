/* A site: a loop with its sources, on a thread of its own, from beginning to end. */
#include "soak_site.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- A site's life --------------------------------------------------------------------- */

static void *counted_alloc(size_t size, void *ctx)
{
	struct soak_memory *memory = ctx;
	void *block = malloc(size);

	if (!block)
		return NULL;
	atomic_fetch_add_explicit(&memory->made, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&memory->blocks, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&memory->bytes, size, memory_order_relaxed);
	return block;
}

static void counted_free(void *block, size_t size, void *ctx)
{
	struct soak_memory *memory = ctx;

	free(block);
	atomic_fetch_sub_explicit(&memory->blocks, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&memory->bytes, size, memory_order_relaxed);
}

static void open_bell(struct soak_bell *bell, struct soak_site *site, struct soak_flow *flow,
                      unsigned which)
{
	*bell = (struct soak_bell){.site = site, .flow = flow, .which = which};
	soak_must(rouse_waker_create(site->loop, soak_woken, bell, &bell->waker), "create a waker");
}

static void open_lane(struct soak_site *site, unsigned index)
{
	struct soak_lane *lane = &site->lanes[index];

	lane->site = site;
	lane->index = index;
	for (unsigned i = 0; i < SOAK_OWN; i++)
		open_bell(&lane->own[i], site, &lane->flows[FLOW_OWN + i], i);
	for (unsigned i = 0; i < SOAK_TASKS; i++) {
		lane->pool[i].task.run = soak_task_run;
		lane->pool[i].lane = lane;
	}
	lane->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	SOAK_CHECK(lane->event >= 0 && !pipe2(lane->pipe, O_CLOEXEC | O_NONBLOCK), "pipe: %d",
	           errno);
	soak_must(rouse_fd_add(site->loop, lane->pipe[0], ROUSE_READABLE, soak_bytes_came, lane,
	                       &lane->pipe_source),
	          "add a pipe");
	soak_must(
	        rouse_fd_add(site->loop, lane->event, ROUSE_READABLE, soak_events_came, lane, NULL),
	        "add an eventfd");
}

static void open_timer(struct soak_timer *timer, struct soak_site *site, rouse_ns period,
                       rouse_timer_fn fn)
{
	*timer = (struct soak_timer){.site = site, .period = period, .due = ROUSE_NEVER};
	soak_must(rouse_timer_add(site->loop, ROUSE_NEVER, 0, 0, fn, timer, &timer->source),
	          "add a timer");
}

static void nothing(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
}

static void open_loop(struct soak_site *site)
{
	static const rouse_ns periods[SOAK_PERIODIC] = {7 * SOAK_MS, 20 * SOAK_MS, 50 * SOAK_MS,
	                                                1000 * SOAK_MS};
	rouse_loop_options options = {
	        .size = sizeof options,
	        .poller = site->poller,
	        .allocator = &site->memory.allocator,
	};

	site->memory.allocator = (rouse_allocator){counted_alloc, counted_free, &site->memory};
	soak_must(rouse_loop_create(&options, &site->loop), "create a loop");
	site->remote = rouse_loop_remote(site->loop);
	for (unsigned i = 0; i < SOAK_SHARED; i++)
		open_bell(&site->shared[i], site, NULL, i);
	for (unsigned i = 0; i < SOAK_LANES; i++)
		open_lane(site, i);
	for (unsigned i = 0; i < SOAK_ONE_SHOTS; i++)
		open_timer(&site->one_shots[i], site, 0, soak_one_shot_fired);
	for (unsigned i = 0; i < SOAK_PERIODIC; i++)
		open_timer(&site->periodic[i], site, periods[i], soak_periodic_fired);
	open_timer(&site->beat, site, SOAK_BEAT, soak_beat);
	if (!(rouse_loop_caps(site->loop) & ROUSE_CAP_SIGNAL))
		site->signo = 0;
	if (site->signo)
		soak_must(rouse_signal_add(site->loop, site->signo, soak_signalled, site,
		                           &site->signal_source),
		          "add a signal");
	/* Nodes of posts are made when more are under way than ever before: here, once. */
	for (unsigned i = 0; i < SOAK_PREFILL; i++)
		soak_must(rouse_post(site->remote, nothing, NULL, NULL), "post");
	soak_start_periods(site);
}

static void run_as_guest(struct soak_site *site)
{
	struct epoll_event event = {.events = EPOLLIN};
	int outer = epoll_create1(EPOLL_CLOEXEC);
	rouse_fd fd;

	soak_must(rouse_loop_fd(site->loop, &fd), "the loop's descriptor");
	SOAK_CHECK(outer >= 0 && !epoll_ctl(outer, EPOLL_CTL_ADD, fd, &event), "epoll: %d", errno);
	while (!rouse_loop_take_stop(site->loop)) {
		SOAK_CHECK(epoll_wait(outer, &event, 1, -1) >= 0 || errno == EINTR,
		           "epoll_wait: %d", errno);
		soak_must(rouse_loop_turn(site->loop, 0), "a turn");
	}
	close(outer);
}

static double thread_cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void close_loop(struct soak_site *site)
{
	soak_churn_remove(site);
	soak_must(rouse_loop_destroy(site->loop), "destroy the loop");
	for (unsigned i = 0; i < SOAK_SHARED; i++)
		rouse_waker_unref(site->shared[i].waker);
	for (unsigned i = 0; i < SOAK_LANES; i++) {
		struct soak_lane *lane = &site->lanes[i];

		for (unsigned k = 0; k < SOAK_OWN; k++)
			rouse_waker_unref(lane->own[k].waker);
		close(lane->pipe[0]);
		close(lane->pipe[1]);
		close(lane->event);
	}
}

struct opening {
	struct soak_site *site;
	pthread_mutex_t lock;
	pthread_cond_t opened;
	int open;
};

static void *live(void *data)
{
	struct opening *opening = data;
	struct soak_site *site = opening->site;

	open_loop(site);
	pthread_mutex_lock(&opening->lock);
	opening->open = 1;
	pthread_cond_signal(&opening->opened);
	pthread_mutex_unlock(&opening->lock);
	if (site->guest)
		run_as_guest(site);
	else
		soak_must(rouse_loop_run(site->loop), "run");
	site->cpu = thread_cpu();
	site->stats.size = sizeof site->stats;
	soak_must(rouse_loop_stats(site->loop, &site->stats), "stats");
	close_loop(site);
	return NULL;
}

void soak_site_start(struct soak_site *site)
{
	struct opening opening = {site, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

	site->random = soak.seed + (uint64_t)(site - soak.sites);
	pthread_mutex_init(&site->lock, NULL);
	SOAK_CHECK(!pthread_create(&site->thread, NULL, live, &opening), "pthread_create");
	pthread_mutex_lock(&opening.lock);
	while (!opening.open)
		pthread_cond_wait(&opening.opened, &opening.lock);
	pthread_mutex_unlock(&opening.lock);
}

void soak_site_close(struct soak_site *site)
{
	soak_must(rouse_remote_stop(site->remote), "stop");
	soak_join(site->thread, site->name);
	site->remote = rouse_remote_unref(site->remote);
	SOAK_CHECK(soak_get(&site->memory.blocks) == 0 && soak_get(&site->memory.bytes) == 0,
	           "%s: %llu blocks of memory were not freed", site->name,
	           (unsigned long long)soak_get(&site->memory.blocks));
}
