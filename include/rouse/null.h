/**
 * @file null.h
 * The "null" poller: a loop whose clock is virtual and whose descriptors are scripted.
 *
 * Everything above the poller is the real thing, so a program can test its own use of a
 * loop deterministically: an hour of timers passes in microseconds, and a descriptor is
 * ready exactly when the script says so.  Descriptor numbers are names only, 0 to
 * ROUSE_NULL_MAX_FD; the OS is never asked about them.
 *
 * The clock starts at ROUSE_NULL_EPOCH.  By itself it moves only while the loop waits, and then
 * straight to the next thing that is due: the wait's deadline or the next scripted change.
 * A wait without either sleeps for real until another thread wakes or posts.
 * There is no one descriptor to watch: rouse_loop_fd() answers ROUSE_ENOTSUP, but
 * rouse_loop_prepare(), check and dispatch work, so a test can be the host.
 */
#ifndef ROUSE_NULL_H
#define ROUSE_NULL_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where the virtual clock starts: one second, so that 0 stays "at once". */
#define ROUSE_NULL_EPOCH ((rouse_ns)1000000000)
/** The highest descriptor number that a null loop takes. */
#define ROUSE_NULL_MAX_FD 65535

/**
 * Script a descriptor: at time `at` its readiness becomes `events` (ROUSE_READABLE and so
 * on; 0: not ready), and stays so until the next scripted change.  A time that has passed
 * means now.  Changes for one time happen in the order of the calls.  The descriptor need
 * not be watched yet.
 *
 * @return 0; ROUSE_EINVAL (also: not a null loop), ROUSE_ENOMEM, ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_null_script(rouse_loop *loop, rouse_ns at, rouse_fd fd,
                                               unsigned events);

/**
 * Let time pass without a turn, as if the code between two turns had taken that long.
 *
 * @return 0; ROUSE_EINVAL (also: not a null loop), ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_null_advance(rouse_loop *loop, rouse_ns by);

#ifdef __cplusplus
}
#endif
#endif
