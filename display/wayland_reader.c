/*
 * A thread that reads a display whose loop may not hold the intent while it sleeps.
 *
 *   hold    It takes an intent, for a queue of its own, which is always empty.
 *   look    From here on nobody reads without it.  Is one of the attached queues not empty, it
 *           gives the intent back, says `paused`, wakes the loop, and waits until that has
 *           dispatched: who is paused neither spins nor keeps anybody from reading.  The loop,
 *           once it has seen all of them empty, resumes it, and it looks again: what others
 *           have read meanwhile is seen here.
 *   poll    The display, and the eventfd.  Like every reader that plays by the rules it does
 *           nothing else while it holds the intent, so another thread's read waits no longer
 *           than it takes this one to be woken by the same bytes.
 *   read    Then it dispatches its own queue, which is libwayland's way to have errors and
 *           deleted ids dispatched; no object of the user's is there to be called.  On an error
 *           it wakes the loop and is done.
 *
 * The loop's thread never waits for this one but in stop.  The lock is around lists and flags; no
 * user code runs under it.
 */
#include "wayland_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void ring(const struct rouse__wl_reader *reader)
{
	const uint64_t one = 1;

	/* It fails only where it is full, and then it is rung already. */
	while (write(reader->control, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void absorb(const struct rouse__wl_reader *reader)
{
	uint64_t rings;

	while (read(reader->control, &rings, sizeof(rings)) < 0 && errno == EINTR)
		;
}

static bool stopped(struct rouse__wl_reader *reader)
{
	pthread_mutex_lock(&reader->lock);
	bool stop = reader->stop;
	pthread_mutex_unlock(&reader->lock);
	return stop;
}

static bool all_empty(struct rouse__wl *wl)
{
	struct rouse__wl_reader *reader = &wl->reader;

	pthread_mutex_lock(&reader->lock);
	bool empty = rouse__wl_claim(wl);
	pthread_mutex_unlock(&reader->lock);
	if (empty)
		wl_display_cancel_read(wl->display);
	return empty;
}

static void pause_for_loop(struct rouse__wl *wl)
{
	struct rouse__wl_reader *reader = &wl->reader;
	struct pollfd control = {.fd = reader->control, .events = POLLIN};

	atomic_store_explicit(&reader->paused, true, memory_order_release);
	(void)rouse_wake(wl->waker);
	while (poll(&control, 1, -1) < 0 && errno == EINTR)
		;
	absorb(reader);
}

/* With the intent, which is used up.  False: the display has an error. */
static bool wait_and_read(struct rouse__wl *wl)
{
	struct rouse__wl_reader *reader = &wl->reader;
	struct pollfd fds[] = {
	        {.fd = wl_display_get_fd(wl->display), .events = POLLIN},
	        {.fd = reader->control, .events = POLLIN},
	};

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (fds[1].revents)
		absorb(reader);
	if (fds[1].revents || !fds[0].revents) {
		wl_display_cancel_read(wl->display);
		return true;
	}
	return wl_display_read_events(wl->display) == 0 &&
	       wl_display_dispatch_queue_pending(wl->display, reader->queue) >= 0;
}

static void *run(void *data)
{
	struct rouse__wl *wl = data;
	struct rouse__wl_reader *reader = &wl->reader;
	bool alive = true;

	pthread_setname_np(pthread_self(), "rouse-wayland");
	while (alive && !stopped(reader)) {
		if (wl_display_prepare_read_queue(wl->display, reader->queue) < 0)
			break;
		if (all_empty(wl)) {
			alive = wait_and_read(wl);
		} else {
			wl_display_cancel_read(wl->display);
			pause_for_loop(wl);
		}
	}
	atomic_store_explicit(&reader->paused, true, memory_order_release);
	(void)rouse_wake(wl->waker);
	return NULL;
}

/* ---- On the loop's thread ------------------------------------------------------- */

static int open_control(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fd < 0 || fd > 2)
		return fd;
	/* Not for whoever writes to a standard stream that was closed. */
	int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	close(fd);
	return higher;
}

static int start_thread(struct rouse__wl *wl)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&wl->reader.thread, NULL, run, wl);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

bool rouse__wl_reader_start(struct rouse__wl *wl)
{
	struct rouse__wl_reader *reader = &wl->reader;

	if (reader->running)
		return true;
	reader->control = open_control();
	if (reader->control < 0)
		return false;
	reader->queue = wl_display_create_queue(wl->display);
	if (!reader->queue)
		goto no_queue;
	reader->stop = false;
	atomic_store_explicit(&reader->paused, false, memory_order_relaxed);
	if (start_thread(wl) != 0)
		goto no_thread;
	reader->running = true;
	return true;

no_thread:
	wl_event_queue_destroy(reader->queue);
no_queue:
	close(reader->control);
	return false;
}

void rouse__wl_reader_resume(struct rouse__wl *wl)
{
	if (!atomic_load_explicit(&wl->reader.paused, memory_order_acquire))
		return;
	atomic_store_explicit(&wl->reader.paused, false, memory_order_relaxed);
	ring(&wl->reader);
}

void rouse__wl_reader_stop(struct rouse__wl *wl)
{
	struct rouse__wl_reader *reader = &wl->reader;

	if (!reader->running)
		return;
	pthread_mutex_lock(&reader->lock);
	reader->stop = true;
	pthread_mutex_unlock(&reader->lock);
	ring(reader);
	pthread_join(reader->thread, NULL);
	reader->running = false;
	wl_event_queue_destroy(reader->queue);
	close(reader->control);
}

void rouse__wl_reader_forget(struct rouse__wl *wl)
{
	if (!wl->reader.running)
		return;
	wl->reader.running = false;
	close(wl->reader.control);
}
