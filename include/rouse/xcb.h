/**
 * @file xcb.h
 * Join an XCB connection to a loop (library rouse-xcb, built on the public API alone).
 *
 * The connection is one of xcb_connect(), or Xlib's (XGetXCBConnection()) after
 * XSetEventQueueOwner(display, XCBOwnsEventQueue).  While Xlib owns the queue of its connection,
 * each event goes to whichever of the two is first: that cannot be seen from here, and rouse-x11
 * is what to use.
 *
 * The caller owns the connection and opens and closes it; while it is attached only the loop's
 * thread may use it: a reply that another thread waits for, and even another thread's
 * xcb_flush(), takes events away from under a loop that is already asleep, and nothing can tell
 * it; rouse_xcb_foreign_reads() tells afterwards.  To wake the loop: rouse_wake(), rouse_post().
 *
 * A connection that an application uses outside a turn is looked at by the next one; the guest of
 * a host calls rouse_loop_prepare() before the host sleeps.  In a nested loop of the host's,
 * opened in a callback of a connection, none of that connection's runs: a suspended source is not
 * called.
 */
#ifndef ROUSE_XCB_H
#define ROUSE_XCB_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* XCB's own name, declared here so that including this header does not include XCB's. */
struct xcb_connection_t;

/** One attached connection. */
typedef struct rouse_xcb rouse_xcb;

/**
 * What to join, and whom to tell.  Zero it, set `size` and `connection`; every callback may be
 * NULL and runs on the loop's thread, from the loop, never inside a function of XCB's.  They may
 * do everything with the connection but close it, and attach and detach, this one included.
 *
 * An event is void * because XCB's type for it has no name that could be declared here.  It is
 * freed when the callback returns: what is to stay is copied.
 */
typedef struct rouse_xcb_options {
	size_t size;
	struct xcb_connection_t *connection; /**< Stays the caller's; outlives the attachment. */
	void *data;                          /**< Handed to each callback. */
	/** Each event, a xcb_generic_event_t *, as xcb_poll_for_event() returns it.  NULL: events
	 *  are thrown away. */
	void (*event)(rouse_loop *loop, rouse_xcb *xcb, void *event, void *data);
	/** Bytes were read from the connection: look now, without blocking, for what the caller
	 *  waits for (xcb_poll_for_special_event, xcb_poll_for_reply). */
	void (*activity)(rouse_loop *loop, rouse_xcb *xcb, void *data);
	/** The error, a xcb_generic_error_t *, of a request that nobody checks.  NULL: it goes to
	 *  `event`, with response_type 0, as XCB has it. */
	void (*error)(rouse_loop *loop, rouse_xcb *xcb, void *error, void *data);
	/** The connection is broken, its server gone for one; `reason` is a XCB_CONN_* of
	 *  xcb_connection_has_error().  Runs once; nothing else of this connection runs after it,
	 *  and events still queued are dropped: XCB does not hand them out any more.  Requests do
	 *  no harm and nothing; what is left to do is rouse_xcb_detach() and then
	 *  xcb_disconnect(), here or later. */
	void (*lost)(rouse_loop *loop, rouse_xcb *xcb, int reason, void *data);
} rouse_xcb_options;

/**
 * Attach a connection to a loop: its descriptor, its output (written before each wait, Xlib's on
 * Xlib's connection, too) and its event queue.
 *
 * @param ret_xcb Written on success.  Release with rouse_xcb_detach() before the connection is
 *                closed.  rouse_loop_destroy() releases it, too; the name is then gone.
 * @return 0; ROUSE_EINVAL (also: `size` is less than that of the first version), ROUSE_EABI,
 *         ROUSE_ENOMEM, ROUSE_EEXIST (attached already, to any loop; or to this one as the
 *         Display of rouse-x11), ROUSE_ELOST (xcb_connect() failed, or the server is gone),
 *         ROUSE_EWRONGTHREAD, or an error of rouse_hook_add().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_xcb_attach(rouse_loop *loop, const rouse_xcb_options *options,
                                              rouse_xcb **ret_xcb);

/**
 * Take the connection out of the loop; allowed in every callback.  No callback of it begins after
 * this returns.  NULL is allowed.  Makes no request and reads and writes nothing: what is in
 * XCB's queues stays there for whoever looks next, what is not written yet waits for
 * xcb_flush().  A forked child, whose connection is its parent's, does this right after
 * rouse_loop_after_fork(), and then leaves the connection alone but for a close() of its
 * descriptor.
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback of
 *         this connection.  Once that callback has returned, and at once where there is none,
 *         the name is gone and must not be used.
 * @since 0.1
 */
ROUSE_API int rouse_xcb_detach(rouse_xcb *xcb);

/**
 * How many of the loop's sleeps somebody else has read from the connection in: another thread
 * that uses it, against the rules.  Each of them may have hidden an event from a sleeping loop.
 * 0 is the only good answer.  As a guest of another loop only the sleeps between a
 * rouse_loop_prepare() with ROUSE_PREPARE_HOLD and its check are looked at, and those of
 * rouse_loop_turn() with a deadline.
 *
 * @param ret_count Written on success.
 * @return 0; ROUSE_EINVAL, ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_xcb_foreign_reads(const rouse_xcb *xcb, uint64_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif
