/**
 * @file win32.h
 * A loop as the guest of its thread's message queue (Windows; in the library itself).
 *
 * The loop has a message-only window.  Whatever there is for it to do arrives there as one posted
 * message, never more than one at a time, and the window's procedure turns the loop.  So whoever
 * takes messages out of the queue serves the loop: rouse_win32_run(), a GetMessage() loop of the
 * program's own, MessageBox(), a dialog, a menu, a window that is being moved or sized, and any of
 * them inside a callback of the loop.  The thread needs no window of its own.
 *
 * Fairness.  Posted messages come before input, WM_PAINT and WM_TIMER.  While any of those wait,
 * the loop is turned once in 10 ms at most, however much it has to do, and they are served between.
 *
 * Not used are thread messages (PostThreadMessage()): they belong to no window, so modal loops take
 * them out of the queue and throw them away.  Other processes may post to the window whatever they
 * like: nothing that comes in a message is believed, least of all as a pointer.
 *
 * A program with a GetMessage() loop of its own needs to call nothing here but
 * rouse_win32_attach(); IsDialogMessage() and TranslateAccelerator() stay its own business.  One
 * that waits with MsgWaitForMultipleObjectsEx() asks for QS_ALLPOSTMESSAGE at least, passes
 * MWMO_INPUTAVAILABLE, and takes all messages out after each wait.
 */
#ifndef ROUSE_WIN32_H
#define ROUSE_WIN32_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One attachment. */
typedef struct rouse_win32 rouse_win32;

/** Zero it, set `size`; zero is the default of each field. */
typedef struct rouse_win32_options {
	size_t size;
	/** What rouse_loop_run() would have returned: 0 for each rouse_loop_stop() and
	 *  rouse_remote_stop(), which is where a program calls PostQuitMessage(); or an error of a
	 *  turn, after which the loop goes on.  Not called while rouse_win32_run() runs, which
	 *  returns it instead.  NULL: stops wait for rouse_win32_run(), of errors nobody is told.
	 */
	void (*done)(rouse_loop *loop, int result, void *data);
	void *data; /**< Handed to `done`. */
} rouse_win32_options;

/**
 * Make a loop the guest of the calling thread's message queue, which is created where there is none
 * yet.  From then on rouse_loop_run() is refused, also after a detach, and rouse_loop_turn() does
 * not wait while it is attached.  Another attachment is possible after a detach.
 *
 * @param options   NULL for the defaults.
 * @param ret_win32 NULL: attached as long as the loop lives.  Else release with
 *                  rouse_win32_detach(); rouse_loop_destroy() does it, too, and the name is then
 *                  gone.
 * @return 0; ROUSE_EINVAL (also: `size` is less than that of the first version), ROUSE_EABI,
 *         ROUSE_ENOMEM, ROUSE_EEXIST (attached already), ROUSE_ENOTSUP (the loop is not on the
 *         poller "win32"), ROUSE_EWRONGTHREAD, ROUSE_EOS (no window or thread to be had),
 *         ROUSE_ECLOSED (the loop is being destroyed).
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_win32_attach(rouse_loop *loop,
                                                const rouse_win32_options *options,
                                                rouse_win32 **ret_win32);

/**
 * Take messages and dispatch them until the loop is stopped, or the queue says WM_QUIT.  It may be
 * called from a callback: then it is a loop inside a loop.
 *
 * A WM_QUIT that a loop inside of this one has taken out of the queue, and not put back, counts
 * here as well: a nested rouse_win32_run(), a modal loop of the system's, or one of the program's
 * own. Called from a callback it leaves the WM_QUIT in the queue, for whoever is outside.
 *
 * A stop is used up by the innermost run; one that was asked for before makes it return at once.
 *
 * @param ret_code What PostQuitMessage() was given, written where the result is 1; may be NULL.
 * @return 0 when stopped; 1 on WM_QUIT; ROUSE_ESTALE once a callback or window procedure has
 *         detached it; ROUSE_EINVAL, ROUSE_EWRONGTHREAD; ROUSE_EBUSY from inside a hook's prepare,
 *         check or release; ROUSE_ENOMEM, ROUSE_EOS, also those of a turn.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_win32_run(rouse_win32 *win32, int *ret_code);

/**
 * Take the loop out of the queue; allowed in every callback and window procedure, and NULL is
 * allowed.  No message runs anything of the loop's after it; from inside a callback of the loop's,
 * what that turn had gathered is still run.  What is queued stays queued, for the next attachment
 * or rouse_loop_turn(), which waits again.
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback of the
 *         loop, or the same rouse_win32_run().  Once that has returned, and at once where there is
 *         none, the name is gone and must not be used.
 * @since 0.1
 */
ROUSE_API int rouse_win32_detach(rouse_win32 *win32);

#ifdef __cplusplus
}
#endif
#endif
