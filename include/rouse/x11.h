/**
 * @file x11.h
 * Join an Xlib connection to a loop (library rouse-x11, built on the public API alone).
 *
 * The caller owns the Display and opens and closes it; while it is attached only the loop's
 * thread may use it: a reply that another thread waits for takes events away from under a loop
 * that is already asleep, and nothing can tell it; rouse_x11_foreign_reads() tells afterwards.
 * Which wake when:
 *
 *   rouse_wake(), rouse_post()   always first: one system call, no X request, works before
 *                                the display is open and after its server is gone.  Not
 *                                ordered against X events.  From a signal handler:
 *                                rouse_wake(), rouse_post_task(), rouse_remote_stop(); not
 *                                rouse_post(), which may allocate.
 *   rouse_x11_injector_send()    when the message must be ordered within the X event stream, or
 *                                seen by other clients: it travels through the server and
 *                                costs several times as much; the server's load delays it.
 *
 * A display that an application uses outside a turn is looked at by the next one; the guest of a
 * host calls rouse_loop_prepare() before the host sleeps.
 *
 * In a nested loop of the host's, opened in an X event's callback (a modal dialog), no X event of
 * that display is delivered until the callback returns: a suspended source is not called.  Open
 * the dialog from posted work (rouse_post()) instead, where they are delivered.
 */
#ifndef ROUSE_X11_H
#define ROUSE_X11_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Xlib's own names, declared here so that including this header does not include Xlib's. */
struct _XDisplay;
union _XEvent;

/** One attached Display. */
typedef struct rouse_x11 rouse_x11;
/** One connection of its own that sends messages into an X event stream. */
typedef struct rouse_x11_injector rouse_x11_injector;

/**
 * What to join, and whom to tell.  Zero it, set `size` and `display`; every callback may be
 * NULL and runs on the loop's thread.  They may attach and detach, this display included.
 * While event, message, activity or lost runs, a nested loop calls none of that display's but
 * `error`.
 */
typedef struct rouse_x11_options {
	size_t size;
	struct _XDisplay *display; /**< Stays the caller's; outlives the attachment. */
	void *data;                /**< Handed to each callback. */
	/** Each XEvent, as XNextEvent() returned it: XFilterEvent() and XGetEventData() are the
	 *  callback's.  NULL: events are thrown away. */
	void (*event)(rouse_loop *loop, rouse_x11 *x11, union _XEvent *event, void *data);
	/** A message of this process's injectors.  NULL: messages are thrown away. */
	void (*message)(rouse_loop *loop, rouse_x11 *x11, uint64_t payload, void *data);
	/** Bytes were read from the connection: look now, without blocking, into the queues of
	 *  XCB that the caller owns (xcb_poll_for_special_event, xcb_poll_for_reply). */
	void (*activity)(rouse_loop *loop, rouse_x11 *x11, void *data);
	/** An X error reply on this display, from inside whatever Xlib function read it.  NULL:
	 *  the handler that was installed before ours decides; Xlib's own ends the process.  No
	 *  X request may be made in it. */
	void (*error)(rouse_loop *loop, rouse_x11 *x11, unsigned char error_code,
	              unsigned char request_code, unsigned char minor_code, unsigned long serial,
	              unsigned long resource, void *data);
	/** The server is gone.  Runs once, from the loop, never inside an Xlib function; nothing
	 *  else of this display runs after it, and events still queued are dropped.  Requests do
	 *  no harm and nothing; what is left to do is rouse_x11_detach() and then
	 *  XCloseDisplay(), here or later. */
	void (*lost)(rouse_loop *loop, rouse_x11 *x11, void *data);
} rouse_x11_options;

/**
 * Attach a Display to a loop: its connection, its internal connections (input methods), its
 * output buffer (flushed before each wait) and its event queues.  Also installs, once a
 * process, Xlib's error handlers, which pass on whatever is not of an attached display.
 *
 * The display's exit handler (XSetIOErrorExitHandler) is ours until it is detached.
 *
 * @param ret_x11 Written on success.  Release with rouse_x11_detach() before the Display is
 *                closed.  rouse_loop_destroy() releases it, too; the name is then gone.
 * @return 0; ROUSE_EINVAL (also: `size` is less than that of the first version), ROUSE_EABI,
 *         ROUSE_ENOMEM, ROUSE_EEXIST (attached already, to any loop), ROUSE_ELOST (its server
 *         is gone; the Display stays as deadly as it was), ROUSE_EWRONGTHREAD, an error of
 *         rouse_hook_add(), or of rouse_fd_add() for an internal connection.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_x11_attach(rouse_loop *loop, const rouse_x11_options *options,
                                              rouse_x11 **ret_x11);

/**
 * Take the Display out of the loop; allowed in every callback.  No callback of it begins after
 * this returns.  NULL is allowed.  With the last one Xlib's error handlers are given back, if
 * they are still ours.  A Display whose server is gone can still be closed; one whose server
 * dies unnoticed between this and XCloseDisplay() is Xlib's again, which ends the process.
 * Makes no request.  A forked child, whose connection is its parent's, does this right after
 * rouse_loop_after_fork(), and then leaves the Display alone but for a close() of its
 * ConnectionNumber().
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback of
 *         this display.  Once that callback has returned, and at once where there is none, the
 *         name is gone and must not be used.
 * @since 0.1
 */
ROUSE_API int rouse_x11_detach(rouse_x11 *x11);

/**
 * Open a connection of its own to the server of an attached display, to send messages to
 * one of its windows.  Costs some round trips, one of them on the display (XSync).
 *
 * @param window   The XID of a window that was created on the attached display: the server
 *                 hands a message without an event mask to the client that created its window.
 * @param ret_injector Written on success, with one reference.
 * @return 0; ROUSE_EINVAL (also: a window of another client), ROUSE_ENOMEM, ROUSE_ELIMIT (no
 *         descriptors left), ROUSE_ELOST (the server is gone or refuses the connection, or
 *         there is no such window), ROUSE_EWRONGTHREAD, or an error of rouse_fd_add().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_x11_injector_create(rouse_x11 *x11, unsigned long window,
                                                       rouse_x11_injector **ret_injector);

/**
 * Send a ClientMessage with a 64-bit payload to the window; the attached display hands it to
 * `message`, in order within its X events.  Any client of the server can send such a message
 * too, so the payload is data, never a pointer.  May block while the server's socket is full:
 * not for signal handlers.
 *
 * @return 0 when it was handed to the server; ROUSE_EINVAL; ROUSE_ELOST once the window or
 *         the server is known to be gone.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_x11_injector_send(rouse_x11_injector *injector,
                                                                      uint64_t payload);

/**
 * Ask the server whether everything sent so far reached the window: one round trip.
 *
 * @return 0; ROUSE_EINVAL; ROUSE_ELOST.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_x11_injector_sync(rouse_x11_injector *injector);

/** Take a reference.  @return its argument; NULL for NULL.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD rouse_x11_injector *rouse_x11_injector_ref(rouse_x11_injector *injector);
/** Drop a reference; NULL is allowed.  After the last one the connection is closed, by the
 *  loop's next turn.  An injector may outlive the attachment and the loop: it then answers
 *  ROUSE_ELOST.  @return NULL.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD rouse_x11_injector *rouse_x11_injector_unref(
        rouse_x11_injector *injector);

/**
 * How many of the loop's sleeps somebody else has read from the connection in: another thread
 * that uses the Display, against the rules.  Each of them may have hidden an event from a
 * sleeping loop.  0 is the only good answer.  As a guest of another loop only the sleeps between
 * a rouse_loop_prepare() with ROUSE_PREPARE_HOLD and its check are looked at, and those of
 * rouse_loop_turn() with a deadline.
 *
 * @param ret_count Written on success.
 * @return 0; ROUSE_EINVAL, ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_x11_foreign_reads(const rouse_x11 *x11, uint64_t *ret_count);

#ifdef __cplusplus
}
#endif
#endif
