/* poll(2): for systems and sandboxes that have nothing better.  Costs grow with the number of
 * descriptors watched. */
#include "base/alloc.h"
#include "core/doorbell.h"
#include "core/fault.h"
#include "core/poller.h"
#include "core/ready.h"
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>

/* Without it a peer that only writes no more is seen as end of file. */
#ifndef POLLRDHUP
#define POLLRDHUP 0
#endif

/* What stands beside each pollfd. */
struct place {
	struct rouse__watch *watch;
	/* Which file the number named, to tell when it was closed and reused.  Eventfds, timerfds
	 * and their like share one inode: of them the older one counts as still there. */
	dev_t device;
	ino_t inode;
	int closed; /* the system said so, and so did we; it stays parked */
};

struct rouse__poller {
	const rouse_allocator *allocator;
	int doorbell;
	unsigned max_batch;
	struct pollfd *fds; /* the doorbell first */
	struct place *places;
	size_t count, capacity;
	size_t first; /* where the next scan begins, so that a budget starves nobody */
};

static int reserve(struct rouse__poller *p)
{
	size_t capacity = p->capacity ? p->capacity * 2 : 16;
	struct pollfd *fds;
	struct place *places;

	if (p->count < p->capacity)
		return 1;
	fds = rouse__alloc(p->allocator, capacity * sizeof *fds);
	if (!fds)
		return 0;
	places = rouse__grow(p->allocator, p->places, p->capacity, capacity, sizeof *places);
	if (!places) {
		rouse__free(p->allocator, fds, capacity * sizeof *fds);
		return 0;
	}
	for (size_t i = 0; i < p->count; i++)
		fds[i] = p->fds[i];
	rouse__free(p->allocator, p->fds, p->capacity * sizeof *fds);
	p->fds = fds;
	p->places = places;
	p->capacity = capacity;
	return 1;
}

static void destroy(struct rouse__poller *p)
{
	rouse__free(p->allocator, p->fds, p->capacity * sizeof *p->fds);
	rouse__free(p->allocator, p->places, p->capacity * sizeof *p->places);
	rouse__free(p->allocator, p, sizeof *p);
}

static int create(const struct rouse__poller_config *config, struct rouse__poller **ret)
{
	struct rouse__poller *p = rouse__zalloc(config->allocator, sizeof *p);

	if (!p)
		return ROUSE_ENOMEM;
	p->allocator = config->allocator;
	p->doorbell = config->doorbell;
	p->max_batch = config->max_batch;
	if (!reserve(p)) {
		destroy(p);
		return ROUSE_ENOMEM;
	}
	p->fds[0] = (struct pollfd){.fd = p->doorbell, .events = POLLIN};
	p->places[0] = (struct place){0};
	p->count = 1;
	*ret = p;
	return 0;
}

/* ---- Descriptors -------------------------------------------------------------- */

static short mask_for(unsigned events)
{
	short mask = 0;

	if (events & ROUSE_READABLE)
		mask |= POLLIN;
	if (events & ROUSE_WRITABLE)
		mask |= POLLOUT;
	if (events & ROUSE_HANGUP)
		mask |= POLLRDHUP;
	return mask;
}

static unsigned events_of(short mask)
{
	unsigned events = 0;

	if (mask & POLLIN)
		events |= ROUSE_READABLE;
	if (mask & POLLOUT)
		events |= ROUSE_WRITABLE;
	if (mask & (POLLHUP | POLLRDHUP))
		events |= ROUSE_HANGUP;
	if (mask & POLLERR)
		events |= ROUSE_FDERROR;
	return events;
}

/* poll skips negative numbers, hang-up and all. */
static void put(struct rouse__poller *p, struct rouse__watch *watch, unsigned events)
{
	p->fds[watch->place] =
	        (struct pollfd){.fd = events ? watch->fd : -1, .events = mask_for(events)};
	watch->events = events;
}

static void forget(struct rouse__poller *p, struct rouse__watch *watch)
{
	size_t last = --p->count;

	if (watch->place != last) {
		p->fds[watch->place] = p->fds[last];
		p->places[watch->place] = p->places[last];
		p->places[watch->place].watch->place = watch->place;
	}
	watch->in_poller = 0;
}

static int add(struct rouse__poller *p, struct rouse__watch *watch, unsigned events,
               struct rouse__watch *known)
{
	struct stat file;

	if (fstat(watch->fd, &file))
		return rouse__os_failed(errno);
	if (S_ISREG(file.st_mode) || S_ISDIR(file.st_mode))
		return ROUSE_ENOTSUP;
	if (known) {
		const struct place *place = &p->places[known->place];

		if (place->device == file.st_dev && place->inode == file.st_ino)
			return ROUSE_EEXIST;
		forget(p, known);
	}
	if (!reserve(p))
		return ROUSE_ENOMEM;
	watch->place = p->count++;
	watch->in_poller = 1;
	p->places[watch->place] = (struct place){watch, file.st_dev, file.st_ino, 0};
	put(p, watch, events);
	return 0;
}

static int set(struct rouse__poller *p, struct rouse__watch *watch, unsigned events)
{
	if (p->places[watch->place].closed)
		return rouse__os_failed(EBADF);
	put(p, watch, events);
	return 0;
}

static rouse_ns now(const struct rouse__poller *p)
{
	(void)p;
	return rouse__clock();
}

/* ---- The wait -------------------------------------------------------------------- */

static int wait_until(struct rouse__poller *p, rouse_ns deadline)
{
	struct timespec timeout = {0};

	if (deadline != 0 && deadline != ROUSE_NEVER) {
		rouse_ns at = rouse__clock();
		rouse_ns left = deadline > at ? deadline - at : 0;

		timeout = rouse__timespec(left);
	}
#ifdef ROUSE_KQUEUE
	rouse_ns ms =
	        ((rouse_ns)timeout.tv_sec * 1000000000u + (rouse_ns)timeout.tv_nsec + 999999u) /
	        1000000u;
	int count = deadline == ROUSE_NEVER ? -1 : ms < INT_MAX ? (int)ms : INT_MAX;

	return ROUSE__SYS(ROUSE__POLL, poll(p->fds, (nfds_t)p->count, count));
#else
	return ROUSE__SYS(ROUSE__POLL,
	                  ppoll(p->fds, p->count, deadline == ROUSE_NEVER ? NULL : &timeout, NULL));
#endif
}

static void report(struct rouse__poller *p, size_t i, rouse_loop *door)
{
	struct rouse__watch *watch = p->places[i].watch;

	if (p->fds[i].revents & POLLNVAL) {
		put(p, watch, 0);
		p->places[i].closed = 1;
		rouse__ready_closed(door, watch);
		return;
	}
	rouse__ready(door, watch, events_of(p->fds[i].revents));
}

static int wait(struct rouse__poller *p, rouse_ns deadline, rouse_loop *door)
{
	int ready = wait_until(p, deadline);
	unsigned left = p->max_batch;
	size_t watched = p->count - 1;

	if (ready < 0)
		return errno == EINTR ? 0 : rouse__os_failed(errno);
	if (ready && p->fds[0].revents) {
		rouse__doorbell_absorb(p->doorbell);
		rouse__ready_rung(door);
		ready--;
	}
	for (size_t k = 0, begin = p->first; k < watched && ready > 0 && left > 0; k++) {
		size_t i = 1 + (begin + k) % watched;

		if (!p->fds[i].revents)
			continue;
		report(p, i, door);
		p->first = i % watched;
		ready--;
		left--;
	}
	return 0;
}

const struct rouse__poller_ops rouse__poll = {
        .name = "poll",
        .caps = ROUSE_CAP_FD | ROUSE_CAP_SIGNAL_SAFE_WAKE | ROUSE_CAP_SIGNAL | ROUSE_CAP_CHILD,
        .create = create,
        .destroy = destroy,
        .add = add,
        .set = set,
        .remove = forget,
        .wait = wait,
        .now = now,
};

/* The doorbell of any POSIX system is a descriptor. */
int rouse__doorbell_wait(int fd, int block)
{
	struct pollfd bell = {.fd = fd, .events = POLLIN};
	int rung = ROUSE__SYS(ROUSE__POLL, poll(&bell, 1, block ? -1 : 0));

	if (rung < 0)
		return errno == EINTR ? 0 : rouse__os_failed(errno);
	if (rung)
		rouse__doorbell_absorb(fd);
	return rung;
}
