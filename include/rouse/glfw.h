/**
 * @file glfw.h
 * GLFW windows in a loop (library rouse-glfw, built on the public API alone).
 *
 * GLFW's connection to the X server or the Wayland compositor joins the loop, and
 * glfwPollEvents() is called when there is something to poll for, and never otherwise: the
 * program's GLFW callbacks then run, on the loop's thread.  rouse_loop_run() takes the place of
 * the program's own loop around glfwWaitEvents().
 *
 * The loop's thread is GLFW's main thread.  To wake it there are rouse_wake() and rouse_post();
 * glfwPostEmptyEvent() ends GLFW's own waits, and on X11 nothing else: no descriptor shows it.
 * GLFW's own waits (glfwWaitEvents(), glfwWaitEventsTimeout()) still work while attached, and run
 * nothing of the loop's while they last.
 *
 * GLFW's callbacks may do what GLFW allows in callbacks, so neither destroy windows nor poll nor
 * terminate: that is done from posted work (rouse_post()), a waker, a timer, or `after`.
 */
#ifndef ROUSE_GLFW_H
#define ROUSE_GLFW_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/** GLFW, attached.  A process has one GLFW, and so at most one of these. */
typedef struct rouse_glfw rouse_glfw;

/**
 * What to do, and whom to tell.  Zero it and set `size`; every callback may be NULL and runs on
 * the loop's thread, from the loop.  They may do everything but call glfwTerminate() while
 * attached, and may detach.
 */
typedef struct rouse_glfw_options {
	size_t size;
	void *data; /**< Handed to each callback. */
	/** glfwPollEvents() is called at least so often, for what it looks at and no descriptor
	 *  shows: joysticks that come and go, and on Wayland key repeat and animated cursors.
	 *  0: only when something comes, so that an idle loop sleeps. */
	rouse_ns period;
	/** After each glfwPollEvents() of the loop's, and the callbacks in it: what a program's own
	 *  loop does after glfwWaitEvents(). */
	void (*after)(rouse_loop *loop, rouse_glfw *glfw, void *data);
	/** The display server is gone.  Runs once; glfwPollEvents() is not called any more.  On
	 *  X11, Xlib ends the process before that unless the program has set an I/O error handler
	 *  and an exit handler that both return.  A glfwTerminate() while attached, against
	 *  the rules, is told so, too. */
	void (*lost)(rouse_loop *loop, rouse_glfw *glfw, void *data);
} rouse_glfw_options;

/**
 * Attach GLFW to a loop, between glfwInit() and glfwTerminate(), on the thread that called
 * glfwInit().  Windows may be created before and after.
 *
 * @param ret_glfw Written on success.  Release with rouse_glfw_detach() before glfwTerminate().
 *                 rouse_loop_destroy() releases it, too; the name is then gone.
 * @return 0; ROUSE_EINVAL (also: GLFW is not initialised, which GLFW's error callback hears of;
 *         `size` is less than that of the first version), ROUSE_EABI, ROUSE_ENOMEM, ROUSE_EEXIST
 *         (attached already, to any loop; or its connection to this one, through rouse-x11 or
 *         rouse-wayland), ROUSE_ENOTSUP (GLFW is on a platform that has no connection),
 *         ROUSE_ELOST (the server is gone), ROUSE_EWRONGTHREAD, or an error of rouse_hook_add().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_glfw_attach(rouse_loop *loop, const rouse_glfw_options *options,
                                               rouse_glfw **ret_glfw);

/**
 * Take GLFW out of the loop; allowed in every callback, GLFW's own included.  NULL is allowed.
 * Neither `after` nor a glfwPollEvents() of the loop's begins after this returns; one that is
 * under way finishes.  Reads and writes nothing.
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback.  Once
 *         that callback has returned, and at once where there is none, the name is gone and must
 *         not be used.
 * @since 0.1
 */
ROUSE_API int rouse_glfw_detach(rouse_glfw *glfw);

#ifdef __cplusplus
}
#endif
#endif
