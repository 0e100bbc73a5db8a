/* What the two files of the epoll poller share. */
#ifndef ROUSE_POLLER_EPOLL_H
#define ROUSE_POLLER_EPOLL_H

#include "core/poller.h"
#include "core/ready.h"

#include <sys/epoll.h>

/* Names of sources have a generation in their upper half; these have none. */
enum { ROUSE__EPOLL_DOORBELL = 0, ROUSE__EPOLL_TIMER = 1 };

struct rouse__poller {
	const rouse_allocator *allocator;
	int epoll, doorbell;
	int timer, outer; /* -1 until needed */
	int edges;        /* each ring makes one; else the doorbell is absorbed */
	int ghost;        /* one is in the set */
	unsigned gone;    /* so many watches are of closed descriptors, and to be told */
	rouse_ns armed;
	int max_events;
	struct epoll_event events[];
};

/* What `place` says of a watch: its descriptor was found closed, and that is to be told. */
#define ROUSE__EPOLL_GONE 1

/* 0, or an errno. */
int rouse__epoll_control(int set, int op, int fd, uint32_t mask, uint64_t id);
/* The same on the set in use, for a descriptor of somebody else's. */
int rouse__epoll_change(struct rouse__poller *p, int op, const struct rouse__watch *watch,
                        uint32_t mask);
uint32_t rouse__epoll_mask(unsigned events);
/* -1, with errno set: none to be had. */
int rouse__epoll_new_set(void);
int rouse__epoll_new_timer(void);

/* Whether the descriptor is still the one that was added. */
int rouse__epoll_still_there(struct rouse__poller *p, const struct rouse__watch *watch);
void rouse__epoll_mark_gone(struct rouse__poller *p, struct rouse__watch *watch, int gone);
void rouse__epoll_shed_ghosts(struct rouse__poller *p, rouse_loop *door);
int rouse__epoll_outer(struct rouse__poller *p, rouse_fd *ret_fd);
int rouse__epoll_after_fork(struct rouse__poller *p, rouse_loop *door);

#endif
