/*
 * epoll: the doorbell edge-triggered and never read, everything else level-triggered.
 *
 * A parked watch asks for nothing, edge-triggered: epoll adds hang-up and error to every
 * mask, but an edge of them is reported once at most, and the door then drops it.  So parking
 * and waking up are changes of a mask, which need no memory and cannot fail.
 */
#include "poller/epoll.h"

#include "base/alloc.h"
#include "core/doorbell.h"
#include "core/fault.h"
#include "os/os.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/timerfd.h>
#include <unistd.h>

static size_t size_for(unsigned max_batch)
{
	return sizeof(struct rouse__poller) + max_batch * sizeof(struct epoll_event);
}

/* ---- The doorbell ----------------------------------------------------------- */

static int rings_once(struct rouse__poller *p)
{
	return rouse__doorbell_ring(p->doorbell) == 0 &&
	       ROUSE__SYS(ROUSE__EPOLL_WAIT, epoll_wait(p->epoll, p->events, 1, 0)) == 1;
}

/* Linux makes an edge for each write to an eventfd; a system that imitates it may make one
 * only when the counter leaves zero.  Found out once a process. */
static int makes_edges(struct rouse__poller *p)
{
	enum { UNKNOWN, YES, NO };
	static atomic_int known;
	int answer = atomic_load_explicit(&known, memory_order_relaxed);

	if (answer == UNKNOWN) {
		answer = rings_once(p) && rings_once(p) ? YES : NO;
		rouse__doorbell_absorb(p->doorbell);
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == YES;
}

static int join_doorbell(struct rouse__poller *p)
{
	int error = rouse__epoll_control(p->epoll, EPOLL_CTL_ADD, p->doorbell, EPOLLIN | EPOLLET,
	                                 ROUSE__EPOLL_DOORBELL);

	if (error)
		return error;
	p->edges = makes_edges(p);
	return p->edges ? 0
	                : rouse__epoll_control(p->epoll, EPOLL_CTL_MOD, p->doorbell, EPOLLIN,
	                                       ROUSE__EPOLL_DOORBELL);
}

static int create(const struct rouse__poller_config *config, struct rouse__poller **ret)
{
	size_t size = size_for(config->max_batch);
	struct rouse__poller *p = rouse__zalloc(config->allocator, size);
	int error;

	if (!p)
		return ROUSE_ENOMEM;
	p->allocator = config->allocator;
	p->doorbell = config->doorbell;
	p->timer = -1;
	p->outer = -1;
	p->armed = ROUSE_NEVER;
	p->max_events = (int)config->max_batch;
	p->epoll = rouse__epoll_new_set();
	if (p->epoll < 0) {
		error = errno;
		goto no_epoll;
	}
	error = join_doorbell(p);
	if (error)
		goto no_doorbell;
	*ret = p;
	return 0;

no_doorbell:
	close(p->epoll);
no_epoll:
	rouse__free(config->allocator, p, size);
	return rouse__os_failed(error);
}

static void destroy(struct rouse__poller *p)
{
	if (p->timer >= 0)
		close(p->timer);
	if (p->outer >= 0)
		close(p->outer);
	close(p->epoll);
	rouse__free(p->allocator, p, size_for((unsigned)p->max_events));
}

/* ---- Descriptors ------------------------------------------------------------ */

static unsigned events_of(uint32_t mask)
{
	unsigned events = 0;

	if (mask & EPOLLIN)
		events |= ROUSE_READABLE;
	if (mask & EPOLLOUT)
		events |= ROUSE_WRITABLE;
	if (mask & (EPOLLHUP | EPOLLRDHUP))
		events |= ROUSE_HANGUP;
	if (mask & EPOLLERR)
		events |= ROUSE_FDERROR;
	return events;
}

static void leave(struct rouse__poller *p, struct rouse__watch *watch)
{
	rouse__epoll_mark_gone(p, watch, 0);
	watch->in_poller = 0;
}

static int add(struct rouse__poller *p, struct rouse__watch *watch, unsigned events,
               struct rouse__watch *known)
{
	int error = rouse__epoll_control(p->epoll, EPOLL_CTL_ADD, watch->fd,
	                                 rouse__epoll_mask(events), watch->id);

	switch (error) {
	case 0:
		break;
	case EEXIST:
		return ROUSE_EEXIST;
	case EPERM:
		return ROUSE_ENOTSUP;
	case ENOSPC:
		return ROUSE_ELIMIT;
	default:
		return rouse__os_failed(error);
	}
	/* epoll forgot the older descriptor when it was closed, or this would have failed. */
	if (known)
		leave(p, known);
	watch->in_poller = 1;
	watch->events = events;
	return 0;
}

static int set(struct rouse__poller *p, struct rouse__watch *watch, unsigned events)
{
	int error = rouse__epoll_change(p, EPOLL_CTL_MOD, watch, rouse__epoll_mask(events));

	if (error)
		return rouse__os_failed(error);
	watch->events = events;
	return 0;
}

static void forget(struct rouse__poller *p, struct rouse__watch *watch)
{
	(void)rouse__epoll_change(p, EPOLL_CTL_DEL, watch, 0);
	leave(p, watch);
}

/* ---- The deadline ------------------------------------------------------------ */

static int need_timer(struct rouse__poller *p)
{
	int error;

	if (p->timer >= 0)
		return 0;
	p->timer = rouse__epoll_new_timer();
	if (p->timer < 0)
		return rouse__os_failed(errno);
	error = rouse__epoll_control(p->epoll, EPOLL_CTL_ADD, p->timer, EPOLLIN | EPOLLET,
	                             ROUSE__EPOLL_TIMER);
	if (error) {
		close(p->timer);
		p->timer = -1;
		return rouse__os_failed(error);
	}
	return 0;
}

static int arm(struct rouse__poller *p, rouse_ns deadline)
{
	struct itimerspec when = {.it_value = {0}};
	int error;

	/* What could not be told yet is work. */
	if (p->gone)
		deadline = 0;
	if (deadline == p->armed)
		return 0;
	error = need_timer(p);
	if (error)
		return error;
	/* A time of zero would disarm. */
	if (deadline != ROUSE_NEVER)
		when.it_value = rouse__timespec(deadline ? deadline : 1);
	if (ROUSE__SYS(ROUSE__TIMERFD_SETTIME,
	               timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &when, NULL)))
		return rouse__os_failed(errno);
	p->armed = deadline;
	return 0;
}

static int descriptor(struct rouse__poller *p, rouse_fd *ret_fd)
{
	int error = need_timer(p);

	return error ? error : rouse__epoll_outer(p, ret_fd);
}

static rouse_ns now(const struct rouse__poller *p)
{
	(void)p;
	return rouse__clock();
}

/* ---- The wait ------------------------------------------------------------------ */

static int plain_wait(struct rouse__poller *p, int timeout)
{
	return ROUSE__SYS(ROUSE__EPOLL_WAIT,
	                  epoll_wait(p->epoll, p->events, p->max_events, timeout));
}

/* ThreadSanitizer does not know epoll_pwait2: it would hold a signal's handler back until the
 * whole timeout was over. */
#if defined(__SANITIZE_THREAD__)
#undef ROUSE_HAVE_EPOLL_PWAIT2
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef ROUSE_HAVE_EPOLL_PWAIT2
#endif
#endif

#ifdef ROUSE_HAVE_EPOLL_PWAIT2
/* 0: not to be had here (an old kernel, a sandbox, valgrind). */
static int precise_wait(struct rouse__poller *p, rouse_ns deadline, int *ret_count)
{
	static atomic_int missing;
	rouse_ns at = rouse__clock();
	struct timespec timeout = rouse__timespec(deadline > at ? deadline - at : 0);

	if (atomic_load_explicit(&missing, memory_order_relaxed))
		return 0;
	*ret_count = ROUSE__SYS(ROUSE__EPOLL_PWAIT2,
	                        epoll_pwait2(p->epoll, p->events, p->max_events, &timeout, NULL));
	if (*ret_count >= 0 || (errno != ENOSYS && errno != EPERM))
		return 1;
	atomic_store_explicit(&missing, 1, memory_order_relaxed);
	return 0;
}
#else
static int precise_wait(struct rouse__poller *p, rouse_ns deadline, int *ret_count)
{
	(void)p;
	(void)deadline;
	(void)ret_count;
	return 0;
}
#endif

static int wait_until(struct rouse__poller *p, rouse_ns deadline, int *ret_count)
{
	int error;

	if (deadline == 0 || deadline == ROUSE_NEVER) {
		*ret_count = plain_wait(p, deadline ? -1 : 0);
		return 0;
	}
	if (precise_wait(p, deadline, ret_count))
		return 0;
	error = arm(p, deadline);
	if (!error)
		*ret_count = plain_wait(p, -1);
	return error;
}

/* Costs a system call, so it is asked after so many reports, twice as many, and so on. */
#define ASK_FIRST 16u
#define ASK_EVERY 256u

static int time_to_ask(struct rouse__watch *watch)
{
	unsigned n = ++watch->reports;

	return n % ASK_EVERY == 0 || (n >= ASK_FIRST && n < ASK_EVERY && (n & (n - 1)) == 0);
}

static void report(struct rouse__poller *p, const struct epoll_event *event, rouse_loop *door)
{
	struct rouse__watch *watch = rouse__watch_named(door, event->data.u64);

	if (!watch) {
		p->ghost = 1;
		return;
	}
	if (!time_to_ask(watch) || rouse__epoll_still_there(p, watch)) {
		rouse__ready(door, watch, events_of(event->events));
		return;
	}
	p->ghost = 1;
	leave(p, watch);
	rouse__ready_closed(door, watch);
}

/* As far as this report has room. */
static void report_gone(struct rouse__poller *p, int room, rouse_loop *door)
{
	struct rouse__watch *watch = rouse__watch_from(door, 0);

	for (; watch && p->gone && room > 0; watch = rouse__watch_from(door, watch->fd + 1)) {
		if (watch->place != ROUSE__EPOLL_GONE)
			continue;
		leave(p, watch);
		rouse__ready_closed(door, watch);
		room--;
	}
}

static int wait(struct rouse__poller *p, rouse_ns deadline, rouse_loop *door)
{
	int count, error = wait_until(p, p->gone ? 0 : deadline, &count);

	if (error)
		return error;
	if (count < 0)
		return errno == EINTR ? 0 : rouse__os_failed(errno);
	for (int i = 0; i < count; i++) {
		const struct epoll_event *event = &p->events[i];

		switch (event->data.u64) {
		case ROUSE__EPOLL_DOORBELL:
			if (!p->edges)
				rouse__doorbell_absorb(p->doorbell);
			rouse__ready_rung(door);
			break;
		case ROUSE__EPOLL_TIMER:
			p->armed = ROUSE_NEVER;
			break;
		default:
			report(p, event, door);
		}
	}
	if (p->ghost)
		rouse__epoll_shed_ghosts(p, door);
	if (p->gone)
		report_gone(p, p->max_events - count, door);
	if (p->gone && p->timer >= 0)
		(void)arm(p, 0);
	return 0;
}

const struct rouse__poller_ops rouse__epoll = {
        .name = "epoll",
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
        .after_fork = rouse__epoll_after_fork,
        .now = now,
};
