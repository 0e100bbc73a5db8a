/**
 * @file glib.h
 * A loop as the guest of a GMainContext: GLib, GTK, and all that waits in one (library rouse-glib,
 * built on the public API alone).
 *
 * The context waits; what the loop has to do is done in one of its sources, at a priority of the
 * caller's choice.  A second source, of the lowest number there is and so before all others,
 * prepares the loop before each of the context's waits and looks at it after.  Nothing has to be
 * called by hand: what the program draws on an attached display from a callback of GLib's is
 * flushed, a timer that it adds counts, before the context sleeps.
 *
 * The context is to be iterated on the loop's thread: g_main_loop_run(), gtk_main(),
 * g_application_run(), g_main_context_iteration(), and any of them nested in a callback, the
 * loop's own callbacks included: posts, timers and descriptors are served in there.
 *
 * GLib's waits count in milliseconds, so a timer may fire up to one late.  No intent to read a
 * Wayland display is held while the context sleeps: other sources' functions run between this
 * one's and the wait, and GLib does not call it after each wait (docs/embedding.md).
 */
#ifndef ROUSE_GLIB_H
#define ROUSE_GLIB_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* GLib's own name, declared here so that including this header does not include GLib's. */
struct _GMainContext;

/** One attachment. */
typedef struct rouse_glib rouse_glib;

/** Zero it, set `size`; zero is the default of each field. */
typedef struct rouse_glib_options {
	size_t size;
	/** A GMainContext; NULL: the thread's default one (g_main_context_push_thread_default()),
	 *  which is the global one where there is no other.  A reference is taken. */
	struct _GMainContext *context;
	/** At which the loop's callbacks run: 0 is G_PRIORITY_DEFAULT.  A flood of posts at this
	 *  one keeps sources of higher numbers from running, as any busy source of GLib's does:
	 *  GTK draws at GDK_PRIORITY_REDRAW, and what shall take turns with that says so here. */
	int priority;
	/** What rouse_loop_run() would have returned: 0 for each rouse_loop_stop() and
	 *  rouse_remote_stop(), which is where a program quits its main loop; or an error, after
	 *  which the context does not look at the loop any more.  NULL: stops are not looked at,
	 *  errors go to g_critical(). */
	void (*done)(rouse_loop *loop, int result, void *data);
	void *data; /**< Handed to `done`. */
} rouse_glib_options;

/**
 * Make a loop the guest of a context.  From then on rouse_loop_run() is refused; an attachment to
 * another context is possible after a detach.  Memory is GLib's, which ends the process where
 * there is none.
 *
 * @param options  NULL for the defaults.
 * @param ret_glib NULL: attached as long as the loop lives.  Else release with
 *                 rouse_glib_detach(); rouse_loop_destroy() does it, too, and the name is then
 *                 gone.
 * @return 0; ROUSE_EINVAL (also: `size` is less than that of the first version), ROUSE_EABI,
 *         ROUSE_EEXIST (attached already, to any context), ROUSE_ENOTSUP (the loop is on a poller
 *         that has no descriptor to watch: "poll" and "null"), ROUSE_EWRONGTHREAD (not the
 *         loop's thread, or another one iterates the context), or an error of rouse_loop_fd().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_glib_attach(rouse_loop *loop, const rouse_glib_options *options,
                                               rouse_glib **ret_glib);

/**
 * Take the loop out of its context; allowed in every callback, of the loop's and of GLib's, and
 * NULL is allowed.  The context runs nothing of the loop's after it; from inside a callback of the
 * loop's, what that turn had gathered is still run.  What is queued stays queued, for the next
 * attachment or rouse_loop_turn().
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback of the
 *         loop.  Once that has returned, and at once where there is none, the name is gone and
 *         must not be used.
 * @since 0.1
 */
ROUSE_API int rouse_glib_detach(rouse_glib *glib);

#ifdef __cplusplus
}
#endif
#endif
