/**
 * @file wayland.h
 * Join a Wayland display to a loop (library rouse-wayland, built on the public API alone).
 *
 * A client cannot post to itself through the compositor: to wake the loop there are rouse_wake()
 * and rouse_post().  What is left to do is libwayland's sequence around the wait (dispatch, prepare
 * to read, flush, wait, read or cancel), and that is done here.  The caller owns the wl_display and
 * its queues; listeners are called by libwayland, on the loop's thread, from the loop.
 *
 * Other threads may read the same display, each on queues of its own, by libwayland's rules: an
 * intent to read (wl_display_prepare_read_queue()) is held across a poll() of the display and
 * nothing else.  While one is held every other reader of the display waits, this loop included.
 *
 * While the loop sleeps it holds an intent itself, where nothing but the wait can run in between:
 * in a loop of its own, and in a host that says ROUSE_PREPARE_HOLD.  There no prepare or check of
 * another hook of this loop may wait for an answer on that display, nor may anything else on this
 * thread hold an intent of it meanwhile: a second loop of the host's that is promised the same, or
 * a toolkit.  Each would wait for the other.  As the guest of any other
 * host the display is read by a thread of the library's, which starts with the first sleep of that
 * kind and ends with the last detach; or, with `sole_reader`, by the loop when it wakes.
 *
 * A display that an application uses outside a turn is looked at by the next one; the guest of a
 * host calls rouse_loop_prepare() before the host sleeps.  In a nested loop of the host's, opened
 * in a listener or callback of a display, none of that display's run: a suspended source is not
 * called.  Open it from posted work (rouse_post()) instead.
 */
#ifndef ROUSE_WAYLAND_H
#define ROUSE_WAYLAND_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libwayland's own names, declared here so that including this header does not include its. */
struct wl_display;
struct wl_event_queue;
struct wl_interface;

/** One attached event queue of a display. */
typedef struct rouse_wayland rouse_wayland;

/** How a display was lost. */
typedef struct rouse_wayland_loss {
	int error; /**< Of wl_display_get_error(): EPIPE or ECONNRESET where the compositor is gone,
	                EPROTO for a protocol error, and what else libwayland makes fatal. */
	/** The object of a protocol error, its interface, and the error's number in that
	 *  interface.  NULL: no protocol error, or one about an object that is gone. */
	const struct wl_interface *interface;
	uint32_t code;   /**< 0 where there was no protocol error. */
	uint32_t object; /**< 0 where there was no protocol error. */
} rouse_wayland_loss;

/**
 * What to join, and whom to tell.  Zero it, set `size` and `display`; every callback may be
 * NULL and runs on the loop's thread, from the loop.  They may do everything with the display but
 * disconnect it, and attach and detach, this queue included.
 */
typedef struct rouse_wayland_options {
	size_t size;
	struct wl_display *display; /**< Stays the caller's; outlives the attachment. */
	struct wl_event_queue
	        *queue; /**< Of that display, the caller's; NULL: the default queue. */
	void *data;     /**< Handed to each callback. */
	/** 1: a promise that only the loop's thread reads this display: no thread of the caller's,
	 *  of a driver's or of a toolkit's.  Then, as a guest, the loop reads when it wakes, and
	 *  needs no thread to do so.  Where the promise is broken events wait for the next turn,
	 * and the loop for the other reader.  Holds while all attached queues of the display say
	 * so. */
	unsigned sole_reader;
	/** The compositor does not take what is sent (`blocked` 1), or takes it again, and all is
	 *  sent (0).  Meanwhile the loop waits for it, and libwayland has room for less than
	 *  4096 bytes of requests: one that does not fit ends the connection. */
	void (*pressure)(rouse_loop *loop, rouse_wayland *wayland, int blocked, void *data);
	/** The display is lost.  Runs once; nothing else of this queue runs after it, and events
	 *  still queued are dropped by libwayland.  Requests do no harm and nothing; what is left
	 * to do is rouse_wayland_detach() and then, from outside of a listener,
	 *  wl_display_disconnect(). */
	void (*lost)(rouse_loop *loop, rouse_wayland *wayland, const rouse_wayland_loss *how,
	             void *data);
} rouse_wayland_options;

/**
 * Attach an event queue of a display to a loop: the display's descriptor, its output (flushed
 * before each wait) and the events of that queue.  Each queue is attached by itself, to one loop;
 * several queues of one display may be attached to one loop, or to several.
 *
 * @param ret_wayland Written on success.  Release with rouse_wayland_detach() before the queue is
 *                    destroyed and the display is disconnected.  rouse_loop_destroy() releases it,
 *                    too; the name is then gone.
 * @return 0; ROUSE_EINVAL (also: `size` is less than that of the first version), ROUSE_EABI,
 *         ROUSE_ENOMEM, ROUSE_EEXIST (that queue is attached already, to any loop),
 *         ROUSE_ELOST (the display has an error, or its compositor is gone), ROUSE_EWRONGTHREAD,
 *         or an error of rouse_hook_add().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_wayland_attach(rouse_loop *loop,
                                                  const rouse_wayland_options *options,
                                                  rouse_wayland **ret_wayland);

/**
 * Take the queue out of the loop; allowed in every callback and listener.  NULL is allowed.  An
 * intent to read that the loop holds is released, and with the last queue of the display its
 * reading thread ends: the calling thread must hold no intent of its own, and other threads none
 * without polling.  Neither callbacks nor a dispatch of the queue begin after this returns; from
 * inside a listener of this queue, libwayland first finishes the events that it had at hand.
 *
 * Makes no request and writes nothing: what is queued stays in its queue.  A forked child, whose
 * connection is its parent's, does this right after rouse_loop_after_fork(), and then leaves the
 * display alone but for a close() of its descriptor.
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback or
 *         listener of this display.  Once that has returned, and at once where there is none, the
 *         name is gone and must not be used.
 * @since 0.1
 */
ROUSE_API int rouse_wayland_detach(rouse_wayland *wayland);

/**
 * Send what is buffered now, without waiting, and tell whether that went: in the middle of a
 * callback that makes many requests.
 *
 * @return 0: all is sent; 1: the compositor does not take it, as in `pressure`; ROUSE_ELOST;
 *         ROUSE_ESTALE after a detach inside the same callback; ROUSE_EINVAL,
 *         ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_wayland_flush(rouse_wayland *wayland);

#ifdef __cplusplus
}
#endif
#endif
