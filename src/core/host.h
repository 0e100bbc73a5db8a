/*
 * The seam between the loop and a host that waits for messages (Windows).
 *
 * All that ends a wait comes as a ring of the doorbell or over the doorbell's completion port:
 *
 *   doorbell   posts and wakes from any thread; handles that are signalled and the armed
 *              deadline, which threads of the system's wait for and put into the poller's list
 *              before they ring.
 *   port       sockets: the system puts their readiness there by itself.
 *
 * An unhosted loop waits for the port, and a ring is a packet there: one wait, and nothing to
 * switch on or off.  A host that waits for messages cannot wait for a port.  So it gives the
 * doorbell a carrier, with which rings go to its window instead, and has the port watched by a
 * thread of its own, which rings when something has come (rouse__bell_watch()).  Then one message
 * is all that the host's wait needs to see, whoever's loop of messages runs at the moment, and the
 * turn that it makes takes the rest out of port and list without waiting.  The loop is a guest
 * whose carrier says what a guest's descriptor says elsewhere (guest.c): the deadline is armed in
 * the poller, work left over rings.
 *
 * A ring has two halves, so that there is one packet or message under way at most, and none has to
 * be taken back:
 *
 *   Ringing     says RUNG, then says UNDER WAY.  Only who finds that it was not so brings a packet
 *               or message.  Where that fails, it is not so any more, and the ring is known to have
 *               failed; RUNG stays.
 *   Arriving    on the loop's thread: it is not under way any more; then takes RUNG.  If it
 *               was not said, the ring was taken back, and nothing is to be done.
 *   Absorbing   takes RUNG, and leaves what is under way on its way.
 *
 * A ringer that found one under way has said RUNG before, and its arrival comes after: both are
 * exchanges of one word, so the arrival sees that RUNG.
 *
 * With a carrier the arrival leaves RUNG to the turn that it makes, whose wait takes it.  So a turn
 * that is made for another reason has heard the ring, too, and the message comes for nothing.
 *
 * Changing hands.  The carrier comes and goes on the loop's thread, while others ring.  Who rings
 * by the old way then may leave UNDER WAY said and nothing under way: a packet in a port that
 * nobody takes from, a message to a window that is no more.  So after the change the loop's thread
 * takes UNDER WAY back, and rings.  Whoever said it before that is answered by this ring, and
 * whoever says it later sees the new way.  There may be two under way then, once, and the second
 * comes for nothing.
 */
#ifndef ROUSE_CORE_HOST_H
#define ROUSE_CORE_HOST_H

#include "core/doorbell.h"

#include <rouse/rouse.h>

#include <stdatomic.h>
#include <stdint.h>

/* How rings come to the loop's thread, other than over the port.  Made by a host for one loop;
 * once given to the doorbell it stays, for somebody may always be ringing, and goes with it. */
struct rouse__carrier {
	/* Any thread, and it may hold any lock: bring one message, upon which the host calls
	 * rouse__bell_arrived() on the loop's thread.  0, or a GetLastError().  Keeps neither
	 * errno nor that. */
	int (*bring)(struct rouse__carrier *carrier);
	/* With the last reference to the loop's shared part: on any thread. */
	void (*free)(struct rouse__carrier *carrier);
};

struct rouse__bell {
	void *port;
	atomic_int rung, under_way;
	_Atomic(struct rouse__carrier *) carrier; /* NULL: the port */
	struct rouse__carrier *kept;              /* the one it ever had */
	/* The port's watcher. */
	void *watcher, *taken;
	atomic_int ends;
	struct {
		uintptr_t key;
		void *what;
		unsigned long bytes;
	} held;          /* the packet that it took */
	atomic_int full; /* there is one, and it waits */
};

/* The keys of the port's packets: a ring's, and the end of its watcher; others are the poller's. */
enum { ROUSE__BELL_KEY = 0, ROUSE__END_KEY = 255 };

/* A packet has come.  1: it was a ring; 0: it was taken back. */
int rouse__bell_arrived(struct rouse__bell *bell);
/* A message has come.  1: a ring is to be heard, by a turn; 0: it was heard, or taken back. */
int rouse__bell_landed(struct rouse__bell *bell);
/* In a turn: was it rung? */
int rouse__bell_heard(struct rouse__bell *bell);

/*
 * The loop's thread: from now on rings go by the carrier; by the port again.  The first one is kept
 * for good, and only that may be given again.  After what it brought to is gone, the ring that a
 * change of hands ends with.
 */
void rouse__bell_give(struct rouse__bell *bell, struct rouse__carrier *carrier);
void rouse__bell_withdraw(struct rouse__bell *bell);
void rouse__bell_anew(struct rouse__bell *bell);
static inline int rouse__bell_carried(const struct rouse__bell *bell)
{
	return atomic_load_explicit(&bell->carrier, memory_order_relaxed) != NULL;
}

/*
 * A thread that watches the port for a loop that cannot: it takes one packet, rings, and waits
 * until a turn has taken that from it.  (Put back, it would be the port's last, and of more sockets
 * than a turn takes, some never had their turn.)  The loop's thread begins it, while nothing waits
 * for the port, and ends it.  0, or a ROUSE_E*.
 */
struct _OVERLAPPED_ENTRY;
int rouse__bell_watch(struct rouse__bell *bell);
void rouse__bell_unwatch(struct rouse__bell *bell);
/* 1: the packet that it holds, which comes before those in the port.  After a look at these it may
 * go on. */
unsigned rouse__bell_held(const struct rouse__bell *bell, struct _OVERLAPPED_ENTRY *ret_entry);
void rouse__bell_go_on(struct rouse__bell *bell);
static inline int rouse__bell_full(const struct rouse__bell *bell)
{
	return atomic_load_explicit(&bell->full, memory_order_acquire);
}

#endif
