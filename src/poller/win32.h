/*
 * What the files of the win32 poller share.
 *
 * Each watch has a record.  All of it is the loop's thread's, but for one list: threads of the
 * system's that waited for handles put their records into `signalled`, and ring.
 *
 *   collect   What was signalled, and what the port has, goes to the end of `ready`.
 *   report    The first max_batch records of `ready` go through the door, and into `again`: so a
 *             flood of one kind holds nobody up.
 *   renew     Before the next wait what is in `again` is waited for anew: all of it is one-shot,
 *             and so level-triggered.  What is parked by then stays out.
 */
#ifndef ROUSE_POLLER_WIN32_H
#define ROUSE_POLLER_WIN32_H

#include "base/list.h"
#include "core/host.h"
#include "core/poller.h"
#include "core/ready.h"

#include <winsock2.h>
#include <windows.h>

enum { ROUSE__SOCKET_KEY = ROUSE__BELL_KEY + 1 };

enum rouse__kind { ROUSE__SOCKET, ROUSE__BY_EVENT, ROUSE__HANDLE, ROUSE__PIPE_END };

struct rouse__record {
	struct rouse__list link;    /* in ready, again, or neither */
	struct rouse__watch *watch; /* NULL: nobody's any more */
	unsigned seen;              /* events to report */
	unsigned char kind;
	unsigned char closed; /* seen, or told already: its descriptor is not there */
};

/* ---- Handles ---------------------------------------------------------------------- */

struct rouse__signalled {
	struct rouse__record record; /* first */
	struct rouse__poller *poller;
	struct rouse__signalled *next;
	PTP_WAIT wait;
	HANDLE object; /* ours: a duplicate, or an event */
	unsigned char waiting;
};

/* ---- Sockets ------------------------------------------------------------------------- */

struct rouse__afd;

struct rouse__sockets {
	struct rouse__list groups;
	unsigned pending;            /* polls that the system has, and their memory with them */
	struct rouse__list by_event; /* those that the driver is not asked for */
};

/* ---- The poller ------------------------------------------------------------------------- */

struct rouse__poller {
	const rouse_allocator *allocator;
	struct rouse__bell *bell;
	unsigned max_batch;
	unsigned char heard; /* a ring came out of the port between two waits */
	struct rouse__list ready, again;
	_Atomic(struct rouse__signalled *) signalled;
	atomic_int ending; /* the loop's thread waits for one of the pool's callbacks */
	PTP_POOL pool;     /* one thread; NULL: none was needed yet */
	TP_CALLBACK_ENVIRON with_pool;
	struct rouse__signalled timer; /* `object` NULL: none yet */
	rouse_ns armed;
	struct rouse__sockets sockets;
	OVERLAPPED_ENTRY entries[];
};

/* Something is to be reported of it, as soon as it is not parked. */
void rouse__win32_seen(struct rouse__poller *p, struct rouse__record *record, unsigned events);

/* Whatever its kind is: the poller has no such watch any more. */
void rouse__win32_forget(struct rouse__poller *p, struct rouse__watch *watch);

/* Take what the port has by now, outside of a wait: nothing of it is lost to the next one. */
void rouse__win32_look(struct rouse__poller *p);

/* ---- win32_handles.c ---------------------------------------------------------------------- */

int rouse__handles_add(struct rouse__poller *p, struct rouse__watch *watch);
void rouse__handles_renew(struct rouse__poller *p, struct rouse__record *record);
void rouse__handles_remove(struct rouse__poller *p, struct rouse__record *record);
/* What was signalled since. */
void rouse__handles_collect(struct rouse__poller *p);
void rouse__handles_finish(struct rouse__poller *p);
/* Let the wait end at `deadline`.  0; a ROUSE_E*: there is no timer to be had. */
int rouse__timer_arm(struct rouse__poller *p, rouse_ns deadline);

/* For whatever else has an object that is signalled.  After begin() and an `object` comes any
 * number of arm(), each of which ends with collect(); end() closes the object. */
int rouse__signalled_begin(struct rouse__poller *p, struct rouse__signalled *s);
void rouse__signalled_arm(struct rouse__signalled *s);
void rouse__signalled_arm_for(struct rouse__signalled *s, unsigned milliseconds);
void rouse__signalled_end(struct rouse__poller *p, struct rouse__signalled *s);
/* Any thread: into the list, and ring. */
void rouse__signalled_tell(struct rouse__signalled *s);
/* The loop's thread waits for one that may be in tell() to end: no ring is worth that. */
void rouse__signalled_hurry(struct rouse__poller *p, int hurry);
/* Whether the number still names what is ours. */
int rouse__handle_names(HANDLE handle, HANDLE object);
void rouse__found_closed(struct rouse__poller *p, struct rouse__record *record);

/* ---- win32_pipes.c ------------------------------------------------------------------------- */

int rouse__pipes_add(struct rouse__poller *p, struct rouse__watch *watch);
/* A ROUSE_E*: as for a socket, below. */
int rouse__pipes_renew(struct rouse__poller *p, struct rouse__record *record);
void rouse__pipes_remove(struct rouse__poller *p, struct rouse__record *record);
/* Its read has ended. */
void rouse__pipes_came(struct rouse__poller *p, struct rouse__record *record);

/* ---- win32_sockets.c ----------------------------------------------------------------------- */

void rouse__sockets_init(struct rouse__poller *p);
int rouse__sockets_add(struct rouse__poller *p, struct rouse__watch *watch, unsigned events,
                       struct rouse__watch *known);

/* A ROUSE_E*: it could not be asked for, and stays to be. */
int rouse__sockets_renew(struct rouse__poller *p, struct rouse__record *record);
void rouse__sockets_remove(struct rouse__poller *p, struct rouse__record *record);
/* A packet of the port's, under ROUSE__SOCKET_KEY. */
void rouse__sockets_arrived(struct rouse__poller *p, const OVERLAPPED_ENTRY *entry);
void rouse__sockets_finish(struct rouse__poller *p);

/* ---- win32_events.c ------------------------------------------------------------------------ */

int rouse__events_add(struct rouse__poller *p, struct rouse__watch *watch, unsigned events);
/* All of them, before a wait.  A ROUSE_E*: one could not be asked, and stays to be. */
int rouse__events_sweep(struct rouse__poller *p);
void rouse__events_remove(struct rouse__poller *p, struct rouse__record *record);
/* Its event was set. */
void rouse__events_came(struct rouse__poller *p, struct rouse__record *record);
/* Whether its socket was closed, and the number is another one's. */
int rouse__events_gone(struct rouse__record *record);

#endif
