/* The one door from a poller to a callback: what was seen is noted here and called later. */
#ifndef ROUSE_CORE_READY_H
#define ROUSE_CORE_READY_H

#include <rouse/rouse.h>

/* `events` may hold more than was asked for; the door keeps what is wanted. */
void rouse__ready(rouse_loop *loop, uint64_t id, unsigned events);
/* As above for a descriptor that was found closed: the poller has forgotten it. */
void rouse__ready_closed(rouse_loop *loop, uint64_t id);
/* The doorbell ended the wait. */
void rouse__ready_rung(rouse_loop *loop);

#endif
