/*
 * Named pauses and failures, compiled in for tests only.
 *
 * A pause point is a place in the protocol between two steps that another thread can come
 * between; a test that sets a pause function holds a thread there.  The calls of the pollers and
 * of the doorbell go through ROUSE__SYS(), which counts them and lets a test make them fail.
 * Memory fails by an allocator of the test's.
 */
#ifndef ROUSE_CORE_FAULT_H
#define ROUSE_CORE_FAULT_H

#ifdef ROUSE_FAULTS

enum rouse__point {
	ROUSE__QUEUE_LOOKED_EMPTY, /* loop: about to mark itself asleep */
	ROUSE__MARKED_ASLEEP,      /* loop: about to wait */
	ROUSE__WOKE,               /* loop: the wait has returned, nothing taken yet */
	ROUSE__TOOK,               /* loop: took a waker off the queue, PENDING still set */
	ROUSE__TAKING_BACK,        /* loop: about to take back a ring of its own */
	ROUSE__SET_PENDING,        /* waker: PENDING set, not queued yet */
	ROUSE__PUBLISHED,          /* producer: queued, not rung yet */
	ROUSE__POINTS
};

enum rouse__call {
	ROUSE__EVENTFD,
	ROUSE__RING,
	ROUSE__ABSORB,
	ROUSE__EPOLL_CREATE,
	ROUSE__EPOLL_CTL,
	ROUSE__EPOLL_WAIT,
	ROUSE__EPOLL_PWAIT2,
	ROUSE__TIMERFD,
	ROUSE__TIMERFD_SETTIME,
	ROUSE__POLL,
	ROUSE__PIDFD,
	ROUSE__KEVENT_CHANGE,
	ROUSE__KEVENT_WAIT,
	ROUSE__PORT,
	ROUSE__PORT_WAIT,
	ROUSE__WAIT,
	ROUSE__DUPLICATE,
	ROUSE__PIPE,
	ROUSE__PIPE_READ,
	ROUSE__TIMER,
	ROUSE__FINE_TIMER,
	ROUSE__TIMER_SET,
	ROUSE__AFD_OPEN,
	ROUSE__AFD_POLL,
	ROUSE__BASE_HANDLE,
	ROUSE__EVENT_SELECT,
	ROUSE__WINDOW,
	ROUSE__WATCHER,
	ROUSE__POST,
	ROUSE__NOTIFY,
	ROUSE__CALLS
};

void rouse__fault_pause(void (*at)(enum rouse__point point, void *data), void *data);
/* After `skip` more of these calls the next `times` fail with `os_error`. */
void rouse__fault_fail(enum rouse__call call, unsigned skip, unsigned times, int os_error);
unsigned rouse__fault_count(enum rouse__call call);
void rouse__fault_reset(void);

void rouse__fault_reached(enum rouse__point point);
int rouse__fault_fails(enum rouse__call call); /* sets errno, and GetLastError() */

#define ROUSE__PAUSE(point) rouse__fault_reached(point)
#define ROUSE__SYS(call, expr) (rouse__fault_fails(call) ? -1 : (expr))
/* For calls that say in another way that they failed. */
#define ROUSE__WIN(call, failed, expr) (rouse__fault_fails(call) ? (failed) : (expr))

#else

#define ROUSE__PAUSE(point) ((void)0)
#define ROUSE__SYS(call, expr) (expr)
#define ROUSE__WIN(call, failed, expr) (expr)

#endif
#endif
