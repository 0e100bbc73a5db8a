/*
 * kqueue, of macOS and the BSDs.
 *
 * The kqueue is the doorbell's (doorbell_kqueue.c), which the shared part owns: a ring is a user
 * event in it, and a host that watches it sees everything at once.  A descriptor has a read filter
 * from its addition on, so that one that was closed and reused is known by having none; the write
 * filter is there while it is wanted.  The system forgets both when the number is closed, whatever
 * duplicates there are: there are no ghosts.
 *
 * Both filters of a descriptor may be reported in one wait.  What they say is first gathered in
 * its watch, and goes through the door once.
 */
#include "base/alloc.h"
#include "core/fault.h"
#include "core/poller.h"
#include "core/ready.h"
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <sys/event.h>
#include <sys/stat.h>

struct rouse__poller {
	const rouse_allocator *allocator;
	int kqueue;
	rouse_ns armed;
	int max_events;
	struct kevent events[];
};

static size_t size_for(unsigned max_batch)
{
	return sizeof(struct rouse__poller) + max_batch * sizeof(struct kevent);
}

static int create(const struct rouse__poller_config *config, struct rouse__poller **ret)
{
	struct rouse__poller *p = rouse__zalloc(config->allocator, size_for(config->max_batch));

	if (!p)
		return ROUSE_ENOMEM;
	p->allocator = config->allocator;
	p->kqueue = config->doorbell;
	p->armed = ROUSE_NEVER;
	p->max_events = (int)config->max_batch;
	*ret = p;
	return 0;
}

static void destroy(struct rouse__poller *p)
{
	rouse__free(p->allocator, p, size_for((unsigned)p->max_events));
}

/* ---- Descriptors -------------------------------------------------------------------- */

/* 0, or an errno. */
static int change(struct rouse__poller *p, uintptr_t ident, int filter, int flags, unsigned fflags,
                  int64_t data, uint64_t id)
{
	struct kevent event;
	int result;

	EV_SET(&event, ident, filter, flags, fflags, data, (void *)(uintptr_t)id);
	do
		result = ROUSE__SYS(ROUSE__KEVENT_CHANGE,
		                    kevent(p->kqueue, &event, 1, NULL, 0, NULL));
	while (result < 0 && errno == EINTR);
	return result < 0 ? errno : 0;
}

/* Data is no reason to wake who waits for the end alone. */
static int set_read(struct rouse__poller *p, const struct rouse__watch *watch, unsigned events)
{
	int only_end = !(events & ROUSE_READABLE);

	return change(p, (uintptr_t)watch->fd, EVFILT_READ,
	              EV_ADD | (events ? EV_ENABLE : EV_DISABLE), only_end ? NOTE_LOWAT : 0,
	              only_end ? INT_MAX : 0, watch->id);
}

static int set_write(struct rouse__poller *p, const struct rouse__watch *watch, unsigned events)
{
	return change(p, (uintptr_t)watch->fd, EVFILT_WRITE,
	              events & ROUSE_WRITABLE ? EV_ADD | EV_ENABLE : EV_DELETE, 0, 0, watch->id);
}

static int wants_write(unsigned events)
{
	return (events & ROUSE_WRITABLE) != 0;
}

static int set_both(struct rouse__poller *p, struct rouse__watch *watch, unsigned events,
                    unsigned before)
{
	int error = set_read(p, watch, events);

	if (!error && wants_write(events) != wants_write(before))
		error = set_write(p, watch, events);
	if (!error)
		watch->events = events;
	return error;
}

static int is_watched(struct rouse__poller *p, const struct rouse__watch *watch)
{
	return change(p, (uintptr_t)watch->fd, EVFILT_READ, watch->events ? EV_ENABLE : EV_DISABLE,
	              0, 0, watch->id) == 0;
}

static int add(struct rouse__poller *p, struct rouse__watch *watch, unsigned events,
               struct rouse__watch *known)
{
	struct stat file;
	int error;

	if (fstat(watch->fd, &file))
		return rouse__os_failed(errno);
	if (S_ISREG(file.st_mode) || S_ISDIR(file.st_mode) || watch->fd == p->kqueue)
		return ROUSE_ENOTSUP;
	if (known && is_watched(p, known))
		return ROUSE_EEXIST;
	error = set_both(p, watch, events, 0);
	if (error) {
		(void)change(p, (uintptr_t)watch->fd, EVFILT_READ, EV_DELETE, 0, 0, 0);
		return error == EINVAL || error == ENODEV ? ROUSE_ENOTSUP : rouse__os_failed(error);
	}
	if (known)
		known->in_poller = 0;
	watch->in_poller = 1;
	watch->reports = 0;
	return 0;
}

static int set(struct rouse__poller *p, struct rouse__watch *watch, unsigned events)
{
	unsigned before = watch->events;
	int error;

	/* EV_ADD would add whatever has that number now. */
	if (!is_watched(p, watch))
		return rouse__os_failed(EBADF);
	error = set_both(p, watch, events, before);
	if (!error)
		return 0;
	(void)set_read(p, watch, before);
	return rouse__os_failed(error);
}

static void forget(struct rouse__poller *p, struct rouse__watch *watch)
{
	if (is_watched(p, watch)) {
		(void)change(p, (uintptr_t)watch->fd, EVFILT_READ, EV_DELETE, 0, 0, 0);
		if (wants_write(watch->events))
			(void)change(p, (uintptr_t)watch->fd, EVFILT_WRITE, EV_DELETE, 0, 0, 0);
	}
	watch->in_poller = 0;
}

/* ---- The deadline --------------------------------------------------------------------- */

static rouse_ns now(const struct rouse__poller *p)
{
	(void)p;
	return rouse__clock();
}

/* Relative, as the filter's absolute time is on another clock.  Deleting one that has fired fails.
 */
static int arm(struct rouse__poller *p, rouse_ns deadline)
{
	rouse_ns at, left;
	int error;

	if (deadline == p->armed)
		return 0;
	if (deadline == ROUSE_NEVER) {
		(void)change(p, 1, EVFILT_TIMER, EV_DELETE, 0, 0, 0);
		p->armed = deadline;
		return 0;
	}
	at = deadline ? rouse__clock() : 0;
	left = deadline > at ? deadline - at : 1;
	if (left > INT64_MAX)
		left = INT64_MAX;
	error = change(p, 1, EVFILT_TIMER, EV_ADD | EV_ONESHOT, NOTE_NSECONDS, (int64_t)left, 0);
	if (error)
		return rouse__os_failed(error);
	p->armed = deadline;
	return 0;
}

static int descriptor(struct rouse__poller *p, rouse_fd *ret_fd)
{
	*ret_fd = p->kqueue;
	return 0;
}

/* ---- The wait ---------------------------------------------------------------------------- */

static struct rouse__watch *watch_of(const struct kevent *event, rouse_loop *door)
{
	struct rouse__watch *watch = rouse__watch_from(door, (rouse_fd)event->ident);

	if (!watch || (uintptr_t)watch->fd != event->ident ||
	    (uintptr_t)watch->id != (uintptr_t)event->udata)
		return NULL;
	return watch;
}

static unsigned events_of(const struct kevent *event, const struct rouse__watch *watch)
{
	unsigned events = 0;

	if (event->filter == EVFILT_WRITE)
		events |= ROUSE_WRITABLE;
	else if (watch->events & ROUSE_READABLE)
		events |= ROUSE_READABLE;
	if (event->flags & EV_EOF)
		events |= event->fflags ? ROUSE_HANGUP | ROUSE_FDERROR : ROUSE_HANGUP;
	return events;
}

static void gather(struct rouse__poller *p, const struct kevent *event, rouse_loop *door)
{
	struct rouse__watch *watch;

	if (event->filter == EVFILT_USER) {
		rouse__ready_rung(door);
	} else if (event->filter == EVFILT_TIMER) {
		p->armed = ROUSE_NEVER;
	} else {
		watch = watch_of(event, door);
		if (watch)
			watch->reports |= events_of(event, watch);
	}
}

static void report(const struct kevent *event, rouse_loop *door)
{
	struct rouse__watch *watch;
	unsigned events;

	if (event->filter != EVFILT_READ && event->filter != EVFILT_WRITE)
		return;
	watch = watch_of(event, door);
	events = watch ? watch->reports : 0;
	if (!events)
		return;
	watch->reports = 0;
	rouse__ready(door, watch, events);
}

static int wait(struct rouse__poller *p, rouse_ns deadline, rouse_loop *door)
{
	struct timespec timeout = {0};
	int count;

	if (deadline != 0 && deadline != ROUSE_NEVER) {
		rouse_ns at = rouse__clock();

		timeout = rouse__timespec(deadline > at ? deadline - at : 0);
	}
	count = ROUSE__SYS(ROUSE__KEVENT_WAIT, kevent(p->kqueue, NULL, 0, p->events, p->max_events,
	                                              deadline == ROUSE_NEVER ? NULL : &timeout));
	if (count < 0)
		return errno == EINTR ? 0 : rouse__os_failed(errno);
	for (int i = 0; i < count; i++)
		gather(p, &p->events[i], door);
	for (int i = 0; i < count; i++)
		report(&p->events[i], door);
	return 0;
}

/* The child has none of the parent's kqueue; the doorbell has made a new one in its place. */
static int after_fork(struct rouse__poller *p, rouse_loop *door)
{
	p->armed = ROUSE_NEVER;
	for (struct rouse__watch *watch = rouse__watch_from(door, 0); watch;
	     watch = rouse__watch_from(door, watch->fd + 1)) {
		int error = set_both(p, watch, watch->events, 0);

		if (error && error != EBADF)
			return rouse__os_failed(error);
	}
	return 0;
}

const struct rouse__poller_ops rouse__kqueue = {
        .name = "kqueue",
        .caps = ROUSE_CAP_FD | ROUSE_CAP_SIGNAL_SAFE_WAKE | ROUSE_CAP_POLLABLE | ROUSE_CAP_SIGNAL |
                ROUSE_CAP_CHILD,
        .create = create,
        .destroy = destroy,
        .add = add,
        .set = set,
        .remove = forget,
        .wait = wait,
        .descriptor = descriptor,
        .arm = arm,
        .after_fork = after_fork,
        .now = now,
};
