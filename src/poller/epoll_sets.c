/*
 * Sets of descriptors: made, copied, and one around another.
 *
 * Ghosts.  epoll watches files, not numbers: a descriptor that is closed while a duplicate of it
 * is open somewhere goes on being reported, and can be taken out of the set no more.  It is
 * known by a name that no source has, or, while its source is still there, by asking epoll to
 * change what it is said to watch, which fails; that is asked now and then of whatever is
 * reported.  Then a new set takes the place of the old one.  A host watches the set that
 * was handed out to it, so that one only ever holds the other.
 */
#include "poller/epoll.h"

#include "core/fault.h"
#include "os/os.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

int rouse__epoll_control(int set, int op, int fd, uint32_t mask, uint64_t id)
{
	struct epoll_event event = {.events = mask, .data.u64 = id};

	return ROUSE__SYS(ROUSE__EPOLL_CTL, epoll_ctl(set, op, fd, &event)) ? errno : 0;
}

int rouse__epoll_new_set(void)
{
	return rouse__fd_adopt(ROUSE__SYS(ROUSE__EPOLL_CREATE, epoll_create1(EPOLL_CLOEXEC)));
}

/* A descriptor that was closed while watched may have left its number to one of our own. */
int rouse__epoll_change(struct rouse__poller *p, int op, const struct rouse__watch *watch,
                        uint32_t mask)
{
	if (watch->fd == p->timer || watch->fd == p->epoll)
		return EBADF;
	return rouse__epoll_control(p->epoll, op, watch->fd, mask, watch->id);
}

uint32_t rouse__epoll_mask(unsigned events)
{
	uint32_t mask = 0;

	if (!events)
		return EPOLLET;
	if (events & ROUSE_READABLE)
		mask |= EPOLLIN;
	if (events & ROUSE_WRITABLE)
		mask |= EPOLLOUT;
	if (events & ROUSE_HANGUP)
		mask |= EPOLLRDHUP;
	return mask;
}

int rouse__epoll_new_timer(void)
{
	return rouse__fd_adopt(ROUSE__SYS(
	        ROUSE__TIMERFD, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)));
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}

void rouse__epoll_mark_gone(struct rouse__poller *p, struct rouse__watch *watch, int gone)
{
	if (watch->place == ROUSE__EPOLL_GONE)
		p->gone--;
	if (gone)
		p->gone++;
	watch->place = gone ? ROUSE__EPOLL_GONE : 0;
}

/* A set that holds another, readable while that is.  -1, with errno set. */
static int new_outer(int inner)
{
	int error, set = rouse__epoll_new_set();

	if (set < 0)
		return -1;
	error = rouse__epoll_control(set, EPOLL_CTL_ADD, inner, EPOLLIN, 0);
	if (!error)
		return set;
	close(set);
	errno = error;
	return -1;
}

int rouse__epoll_outer(struct rouse__poller *p, rouse_fd *ret_fd)
{
	if (p->outer < 0)
		p->outer = new_outer(p->epoll);
	if (p->outer < 0)
		return rouse__os_failed(errno);
	*ret_fd = p->outer;
	return 0;
}

/* These say that a number is not what it was: closed, another file's, one that is never ready. */
static int means_gone(int error)
{
	return error == EBADF || error == ENOENT || error == EPERM;
}

int rouse__epoll_still_there(struct rouse__poller *p, const struct rouse__watch *watch)
{
	return !means_gone(
	        rouse__epoll_change(p, EPOLL_CTL_MOD, watch, rouse__epoll_mask(watch->events)));
}

/*
 * A new set with all that the old one watches, and this timer.  -1, with errno set.  `ask` the
 * old one first whether a number still names what was added: but not in a forked child, whose
 * old set is the parent's too.
 */
static int copy_set(struct rouse__poller *p, rouse_loop *door, int timer, int ask)
{
	int error, set = rouse__epoll_new_set();

	if (set < 0)
		return -1;
	error = rouse__epoll_control(set, EPOLL_CTL_ADD, p->doorbell,
	                             p->edges ? EPOLLIN | EPOLLET : EPOLLIN, ROUSE__EPOLL_DOORBELL);
	if (!error && timer >= 0)
		error = rouse__epoll_control(set, EPOLL_CTL_ADD, timer, EPOLLIN | EPOLLET,
		                             ROUSE__EPOLL_TIMER);
	for (struct rouse__watch *watch = rouse__watch_from(door, 0); watch && !error;
	     watch = rouse__watch_from(door, watch->fd + 1)) {
		/* Its number may have been closed, and be one of the new ones here. */
		if (watch->fd == set || watch->fd == timer || watch->fd == p->epoll ||
		    watch->fd == p->outer || (ask && !rouse__epoll_still_there(p, watch)))
			error = EBADF;
		else
			error = rouse__epoll_control(set, EPOLL_CTL_ADD, watch->fd,
			                             rouse__epoll_mask(watch->events), watch->id);
		if (means_gone(error)) {
			rouse__epoll_mark_gone(p, watch, 1);
			error = 0;
		} else if (!error) {
			rouse__epoll_mark_gone(p, watch, 0);
		}
	}
	if (!error)
		return set;
	close(set);
	errno = error;
	return -1;
}

/* Where that fails, the ghost keeps the loop from sleeping until it succeeds; no more. */
void rouse__epoll_shed_ghosts(struct rouse__poller *p, rouse_loop *door)
{
	int set = copy_set(p, door, p->timer, 1);

	if (set < 0)
		return;
	if (p->outer >= 0 && rouse__epoll_control(p->outer, EPOLL_CTL_ADD, set, EPOLLIN, 0)) {
		close(set);
		return;
	}
	/* A forked child may hold the old one open. */
	if (p->outer >= 0)
		(void)rouse__epoll_control(p->outer, EPOLL_CTL_DEL, p->epoll, 0, 0);
	close(p->epoll);
	p->epoll = set;
	p->ghost = 0;
}

int rouse__epoll_after_fork(struct rouse__poller *p, rouse_loop *door)
{
	int error, set = -1, timer = -1, outer = -1;

	if (p->timer >= 0 && (timer = rouse__epoll_new_timer()) < 0)
		goto failed;
	set = copy_set(p, door, timer, 0);
	if (set < 0)
		goto failed;
	if (p->outer >= 0) {
		outer = new_outer(set);
		if (outer < 0)
			goto failed;
		error = rouse__fd_replace(p->outer, outer);
		errno = error;
		if (error)
			goto failed;
	}
	close(p->epoll);
	close_if_open(p->timer);
	p->epoll = set;
	p->timer = timer;
	p->armed = ROUSE_NEVER;
	return 0;

failed:
	error = errno;
	close_if_open(timer);
	close_if_open(set);
	return error == ENOSPC ? ROUSE_ELIMIT : rouse__os_failed(error);
}
