/*
 * The doorbell: what a producer rings to end the loop's wait.
 *
 * A descriptor that stays readable once rung, until absorbed.  Ringing makes a new edge each
 * time, so an edge-triggered poller never has to absorb it: a wake then costs the write and
 * the wait, and no read.
 */
#ifndef ROUSE_CORE_DOORBELL_H
#define ROUSE_CORE_DOORBELL_H

/* 0, or a ROUSE_E*. */
int rouse__doorbell_open(int *ret_fd);
void rouse__doorbell_close(int fd);
/* Another one in its place, by the same number: whoever holds the old one keeps it. */
int rouse__doorbell_replace(int fd);
/* Any thread, signal handlers too; preserves errno.  0, or the errno of a broken doorbell. */
int rouse__doorbell_ring(int fd);
/* Make it unreadable again. */
void rouse__doorbell_absorb(int fd);

#endif
