/*
 * The doorbell: what a producer rings to end the loop's wait.
 *
 * A descriptor that stays readable once rung, until absorbed.  Ringing makes a new edge each
 * time, so an edge-triggered poller never has to absorb it: a wake then costs the write and
 * the wait, and no read.
 */
#ifndef ROUSE_CORE_DOORBELL_H
#define ROUSE_CORE_DOORBELL_H

#include <rouse/rouse.h>

#ifdef _WIN32
typedef struct rouse__bell *rouse__doorbell; /* core/host.h */
#else
typedef int rouse__doorbell;
#endif

/* 0, or a ROUSE_E*. */
int rouse__doorbell_open(const rouse_allocator *allocator, rouse__doorbell *ret_bell);
void rouse__doorbell_close(const rouse_allocator *allocator, rouse__doorbell bell);
/* Another one in its place, by the same name: whoever holds the old one keeps it. */
int rouse__doorbell_replace(rouse__doorbell bell);
/* Any thread, signal handlers too; preserves errno.  0, or the errno of a broken doorbell. */
int rouse__doorbell_ring(rouse__doorbell bell);
/* Take a ring back, or note that it was heard. */
void rouse__doorbell_absorb(rouse__doorbell bell);
/* For a poller that waits for nothing else: until it is rung, or not at all; and absorb that.
 * 1: it was rung; 0: it was not, or this ended early; or a ROUSE_E*. */
int rouse__doorbell_wait(rouse__doorbell bell, int block);

#endif
