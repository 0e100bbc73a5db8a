/* Attaching and detaching; wayland_private.h has the protocol. */
#include "wayland_private.h"

#include "shared.h"

#include <assert.h>
#include <poll.h>
#include <stddef.h>
#include <unistd.h>

/* Every attached queue of the process. */
static rouse_wayland *attached;

/* ---- Ends ------------------------------------------------------------------------ */

static void free_queue(struct rouse__wl *wl, rouse_wayland *queue)
{
	wl->allocator.free(queue, sizeof(*queue), wl->allocator.ctx);
}

static void free_waker(struct rouse__wl *wl)
{
	/* At once, and not in another turn. */
	(void)rouse_waker_close(wl->waker);
	rouse_waker_unref(wl->waker);
}

static void free_display(struct rouse__wl *wl)
{
	const rouse_allocator allocator = wl->allocator;

	pthread_mutex_destroy(&wl->reader.lock);
	allocator.free(wl, sizeof(*wl), allocator.ctx);
}

static bool is_child(const struct rouse__wl *wl)
{
	return getpid() != wl->process;
}

static void lock_queues(struct rouse__wl *wl)
{
	if (wl->reader.running)
		pthread_mutex_lock(&wl->reader.lock);
}

static void unlock_queues(struct rouse__wl *wl)
{
	if (wl->reader.running)
		pthread_mutex_unlock(&wl->reader.lock);
}

/* What is gone leaves the list and the memory, when no frame uses it. */
static void sweep(struct rouse__wl *wl)
{
	rouse_wayland **link = &wl->queues;

	while (*link) {
		rouse_wayland *queue = *link;

		if (!queue->gone) {
			link = &queue->next;
			continue;
		}
		lock_queues(wl);
		*link = queue->next;
		unlock_queues(wl);
		free_queue(wl, queue);
	}
	if (wl->ended)
		free_display(wl);
}

void rouse__wl_enter(struct rouse__wl *wl)
{
	wl->depth++;
}

void rouse__wl_leave(struct rouse__wl *wl)
{
	assert(wl->depth > 0);
	if (--wl->depth == 0)
		sweep(wl);
}

/* From here on neither the loop nor the reader touches the queue. */
static void mark_gone(struct rouse__wl *wl, rouse_wayland *queue)
{
	lock_queues(wl);
	queue->gone = true;
	unlock_queues(wl);

	rouse__display_lock();
	rouse_wayland **link = &attached;
	while (*link != queue)
		link = &(*link)->next_any;
	*link = queue->next_any;
	rouse__display_unlock();
}

void rouse__wl_release(rouse_loop *loop, void *data)
{
	struct rouse__wl *wl = data;

	(void)loop;
	rouse__wl_enter(wl);
	if (is_child(wl)) {
		rouse__wl_reader_forget(wl);
	} else {
		rouse__wl_let_go(wl);
		rouse__wl_reader_stop(wl);
	}
	free_waker(wl);
	for (rouse_wayland *queue = wl->queues; queue; queue = queue->next)
		if (!queue->gone)
			mark_gone(wl, queue);
	wl->ended = true;
	rouse__wl_leave(wl);
}

/* ---- Attaching --------------------------------------------------------------------- */

/* The struct of 0.1. */
#define LEAST_OPTIONS                                                                              \
	(offsetof(rouse_wayland_options, lost) + sizeof(((rouse_wayland_options *)0)->lost))

static bool is_gone(struct wl_display *display)
{
	struct pollfd pollfd = {.fd = wl_display_get_fd(display)};

	return wl_display_get_error(display) != 0 ||
	       (poll(&pollfd, 1, 0) == 1 && (pollfd.revents & (POLLHUP | POLLERR | POLLNVAL)));
}

/* What is attached already.  Who else could attach this queue would be breaking a rule. */
static bool is_attached(const rouse_wayland_options *options)
{
	rouse__display_lock();
	const rouse_wayland *queue = attached;
	while (queue && (queue->options.display != options->display ||
	                 queue->options.queue != options->queue))
		queue = queue->next_any;
	rouse__display_unlock();
	return queue != NULL;
}

/* This display in this loop, if it is there. */
static struct rouse__wl *find(const rouse_loop *loop, const struct wl_display *display)
{
	rouse__display_lock();
	const rouse_wayland *queue = attached;
	while (queue && (queue->wl->loop != loop || queue->options.display != display))
		queue = queue->next_any;
	rouse__display_unlock();
	return queue ? queue->wl : NULL;
}

/* What is to be done is found by the hook. */
static void woken(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
}

static int join(rouse_loop *loop, struct wl_display *display, struct rouse__wl **ret_wl)
{
	const rouse_allocator *allocator = rouse_loop_allocator(loop);
	struct rouse__wl *wl = allocator->alloc(sizeof(*wl), allocator->ctx);

	if (!wl)
		return ROUSE_ENOMEM;
	*wl = (struct rouse__wl){.loop = loop,
	                         .display = display,
	                         .allocator = *allocator,
	                         .process = getpid(),
	                         .round = 1};
	atomic_init(&wl->reader.paused, false);
	pthread_mutex_init(&wl->reader.lock, NULL);
	int result = rouse_waker_create(loop, woken, NULL, &wl->waker);
	if (result == 0)
		result = rouse__wl_hook_add(wl);
	if (result < 0) {
		free_waker(wl);
		free_display(wl);
	} else {
		*ret_wl = wl;
	}
	return result;
}

static void enlist(struct rouse__wl *wl, rouse_wayland *queue)
{
	/* In front, so that a round that is under way does not come to it. */
	lock_queues(wl);
	queue->next = wl->queues;
	wl->queues = queue;
	unlock_queues(wl);

	rouse__display_lock();
	queue->next_any = attached;
	attached = queue;
	rouse__display_unlock();
}

int rouse_wayland_attach(rouse_loop *loop, const rouse_wayland_options *options,
                         rouse_wayland **ret_wayland)
{
	rouse_wayland_options copy;

	if (!loop || !options || !ret_wayland)
		return ROUSE_EINVAL;
	int result =
	        rouse__display_options(&copy, sizeof(copy), LEAST_OPTIONS, options, options->size);
	if (result == 0 && (!copy.display || copy.sole_reader > 1))
		result = ROUSE_EINVAL;
	if (result == 0)
		result = rouse__display_thread(loop);
	if (result < 0)
		return result;
	if (is_gone(copy.display))
		return ROUSE_ELOST;
	if (is_attached(&copy))
		return ROUSE_EEXIST;

	const rouse_allocator *allocator = rouse_loop_allocator(loop);
	struct rouse__wl *wl = find(loop, copy.display);
	rouse_wayland *queue = allocator->alloc(sizeof(*queue), allocator->ctx);
	if (!queue)
		return ROUSE_ENOMEM;
	if (wl) {
		/* Whoever sleeps, or is about to, has not looked into this queue. */
		(void)rouse_wake(wl->waker);
	} else {
		result = join(loop, copy.display, &wl);
		if (result < 0) {
			allocator->free(queue, sizeof(*queue), allocator->ctx);
			return result;
		}
	}
	*queue = (rouse_wayland){.wl = wl, .options = copy, .round = wl->round};
	enlist(wl, queue);
	*ret_wayland = queue;
	return 0;
}

/* ---- The rest of the interface --------------------------------------------------------- */

int rouse_wayland_detach(rouse_wayland *wayland)
{
	if (!wayland)
		return 0;
	struct rouse__wl *wl = wayland->wl;
	int result = rouse__display_thread(wl->loop);
	if (result < 0)
		return result;
	if (wayland->gone)
		return ROUSE_ESTALE;
	/* Its reader, which may have held the lock when it was not copied, is not there. */
	if (is_child(wl))
		rouse__wl_reader_forget(wl);

	bool last = true;
	for (const rouse_wayland *queue = wl->queues; queue; queue = queue->next)
		last = last && (queue == wayland || queue->gone);
	if (last)
		return rouse_remove(wl->loop, wl->hook);
	rouse__wl_enter(wl);
	mark_gone(wl, wayland);
	rouse__wl_leave(wl);
	return 0;
}

int rouse_wayland_flush(rouse_wayland *wayland)
{
	if (!wayland)
		return ROUSE_EINVAL;
	struct rouse__wl *wl = wayland->wl;
	int result = rouse__display_thread(wl->loop);
	if (result < 0)
		return result;
	if (wayland->gone)
		return ROUSE_ESTALE;
	rouse__wl_write_out(wl);
	if (wl_display_get_error(wl->display))
		return ROUSE_ELOST;
	return wl->blocked;
}
