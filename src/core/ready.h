/* The one door from a poller to a callback: what was seen is noted here and called later. */
#ifndef ROUSE_CORE_READY_H
#define ROUSE_CORE_READY_H

#include <rouse/rouse.h>

struct rouse__watch;

/* The watch of that name, if a source still has it in the poller. */
struct rouse__watch *rouse__watch_named(const rouse_loop *loop, uint64_t id);
/* The first watch in the poller with this number or a larger one; NULL past the last.  Where
 * numbers are small ones. */
struct rouse__watch *rouse__watch_from(const rouse_loop *loop, rouse_fd fd);

/* `events` may hold more than was asked for; the door keeps what is wanted. */
void rouse__ready(rouse_loop *loop, struct rouse__watch *watch, unsigned events);
/* As above for a descriptor that was found closed: its number is nobody's. */
void rouse__ready_closed(rouse_loop *loop, struct rouse__watch *watch);
/* The doorbell ended the wait. */
void rouse__ready_rung(rouse_loop *loop);

#endif
