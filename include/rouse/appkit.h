/**
 * @file appkit.h
 * A loop as the guest of an AppKit application, Apple's or GNUstep's (library rouse-appkit, built
 * on the public API alone).
 *
 * The application waits, in `[NSApp run]` or in rouse_appkit_run().  Its main thread's run loop
 * watches the loop's descriptor, which is the fastest way into it (docs/appkit.md), in the modes of
 * the program's choice, and turns the loop when that is readable.  Before each of its waits the
 * loop is prepared.  Wakes and posts come from any thread as ever, need no autorelease pool and
 * leave nothing in one; the Objective-C runtime's pools are pushed and drained with the loop's own,
 * once a turn (attaching calls rouse_pool_bridge_objc()).
 *
 * An exception of Objective-C must not leave a callback of the loop's.
 */
#ifndef ROUSE_APPKIT_H
#define ROUSE_APPKIT_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One attachment.  Its functions are the main thread's, but for those that say any thread; those
 * who call them elsewhere hold a reference of their own.
 */
typedef struct rouse_appkit rouse_appkit;

/** The subtype of the events that rouse_appkit_post() posts, unless options say another. */
#define ROUSE_APPKIT_SUBTYPE 29295

/** Zero it, set `size`; zero is the default of each field. */
typedef struct rouse_appkit_options {
	size_t size;
	/** In which modes of the run loop the loop is served: names, the last one NULL.  NULL: in
	 *  the default one, in modal panels, and while menus and windows are tracked: on Apple
	 *  those are the common modes, which programs may add to. */
	const char *const *modes;
	/** What rouse_loop_run() would have returned: 0 for each rouse_loop_stop() and
	 *  rouse_remote_stop() outside rouse_appkit_run(); or an error, after which the run loop
	 *  does not look at the loop any more.  NULL: a stop ends `[NSApp run]`, as
	 *  rouse_appkit_stop() does; of errors nobody is told. */
	void (*done)(rouse_loop *loop, int result, void *data);
	/** An application-defined NSEvent of `subtype` has its turn in the application's stream of
	 *  events.  It goes no further.  On the main thread, outside of the loop's turns. */
	void (*event)(rouse_loop *loop, int64_t data1, int64_t data2, void *data);
	/** Of the events that are for `event`, one attachment's alone; 0: ROUSE_APPKIT_SUBTYPE. */
	short subtype;
	void *data; /**< Handed to `done` and `event`. */
} rouse_appkit_options;

/**
 * Make a loop the guest of the application, before `[NSApp run]` or in it.  There is an NSApp
 * afterwards: a program with a class of its own for it makes that first.  From then on
 * rouse_loop_run() is refused.
 *
 * Where AppKit has no event monitors (GNUstep), the class of NSApp becomes a subclass of what it
 * was, whose sendEvent: takes the events that are ours and hands on all others.
 *
 * @param options    NULL for the defaults.
 * @param ret_appkit NULL: attached as long as the loop lives.  Else release with
 *                   rouse_appkit_detach(); rouse_loop_destroy() does it, too, and the name is then
 *                   gone, but for who holds a reference.
 * @return 0; ROUSE_EINVAL (also: `size` is less than that of the first version; no modes),
 *         ROUSE_EABI, ROUSE_ENOMEM, ROUSE_EEXIST (attached already; or another attachment is for
 *         events of that subtype), ROUSE_ENOTSUP (the loop is on a poller that has no descriptor
 *         to watch: "poll" and "null"), ROUSE_EWRONGTHREAD (not the loop's thread, or not the main
 *         thread), ROUSE_ELOST (no window server answers), or an error of rouse_loop_fd().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_appkit_attach(rouse_loop *loop,
                                                 const rouse_appkit_options *options,
                                                 rouse_appkit **ret_appkit);

/**
 * Take the loop out of the application; allowed in every callback, and NULL is allowed.  The run
 * loop runs nothing of the loop's after it; from inside a callback of the loop's, what that turn
 * had gathered is still run.  What is queued stays queued, for the next attachment or
 * rouse_loop_turn(); events that were posted are nobody's.
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback of the
 *         loop.  Once that has returned, and at once where there is none, the name is gone and
 *         must not be used but by who holds a reference.
 * @since 0.1
 */
ROUSE_API int rouse_appkit_detach(rouse_appkit *appkit);

/**
 * Run the application until a stop: rouse_appkit_stop(), rouse_loop_stop() or rouse_remote_stop(),
 * each of which is used up by exactly one run.  Each event is one pass with an autorelease pool of
 * its own.  The first call finishes launching, so that the application's delegate is told as in
 * `[NSApp run]`.  `[NSApp stop:]` does not end it.
 *
 * @return 0 when stopped; ROUSE_EBUSY inside itself and inside `[NSApp run]`; ROUSE_EINVAL,
 *         ROUSE_EWRONGTHREAD; ROUSE_ECLOSED if it was detached; or the error after which the loop
 *         is not looked at any more.
 * @since 0.1
 */
ROUSE_API int rouse_appkit_run(rouse_appkit *appkit);

/**
 * End the application's run, rouse_appkit_run() or `[NSApp run]`: the one that is under way at
 * once, without any event that it would wait for, or else the next one.  Modal loops inside it are
 * ended first, as by `[NSApp stopModal]`.  Whoever gets no turn while it asks (a callback) finishes
 * first.
 *
 * @return 0; 1 if it is noted but the doorbell failed; ROUSE_EINVAL; ROUSE_ECLOSED: detached.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD int rouse_appkit_stop(rouse_appkit *appkit);

/**
 * Post an application-defined NSEvent of the attachment's subtype, at the end of the application's
 * stream of events: `event` gets both numbers when those before it have had their turn.  On Apple
 * the calling thread posts it.  GNUstep's function is neither safe on another thread, nor does it
 * wake: there the event goes through the loop's queue, and the main thread posts it, in order with
 * that thread's other posts.
 *
 * @return 0; 1 if it is queued but the doorbell failed; ROUSE_EINVAL (also: there is no `event`),
 *         ROUSE_ENOMEM, ROUSE_ENOTSUP (an NSInteger is too small for a number), ROUSE_ECLOSED.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_appkit_post(rouse_appkit *appkit, int64_t data1,
                                                                int64_t data2);

/** @return its argument.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD rouse_appkit *rouse_appkit_ref(rouse_appkit *appkit);
/** Drop a reference of rouse_appkit_ref()'s; NULL is allowed.  @return NULL.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD rouse_appkit *rouse_appkit_unref(rouse_appkit *appkit);

#ifdef __cplusplus
}
#endif
#endif
