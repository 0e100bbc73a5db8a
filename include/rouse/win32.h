/**
 * @file win32.h
 * What there is on Windows besides: pipes as sources, and a loop as the guest of its thread's
 * message queue (in the library itself).
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

/**
 * Watch the reading end of a pipe, anonymous or named: `fn` runs with ROUSE_READABLE while there is
 * something to read, once a turn, and with ROUSE_READABLE | ROUSE_HANGUP once all is read and the
 * other end is gone: then it runs again and again until it is removed.  Nothing is taken out.
 *
 * The loop waits by reads of no bytes.  An overlapped pipe (FILE_FLAG_OVERLAPPED) costs an event
 * and a wait of the system's, and a completion port that the program has for it hears nothing of
 * these reads.  Any other, as CreatePipe() makes them, costs a thread, which is there until the
 * source is removed.  The system lets one thread or process at a time do anything with such a pipe,
 * be it PeekNamedPipe() or GetFileType(): everything but CloseHandle() waits until there is
 * something to read, unless it is called in `fn`, which reads no more than is there.  Where another
 * process reads from the same end, or this one does on another thread, this function and the loop
 * may wait for that.
 *
 * Not told are messages of no bytes in a pipe of messages, and when there is room to write.
 *
 * @param pipe       Borrowed: it must stay open until removed.  The loop reads from a duplicate:
 *                   if it is closed all the same the other end learns of it when the source is
 *                   removed, and `fn` runs with ROUSE_FDERROR, once, when there is something to
 *                   read.
 * @param ret_source May be NULL: the source lives as long as the loop.  rouse_remove() ends the
 *                   read that is under way, and its thread, before it returns.
 * @return 0; ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_ENOTSUP (no pipe, one in the mode PIPE_NOWAIT, or
 *         the poller is not "win32"), ROUSE_EWRONGTHREAD, ROUSE_EOS (a handle that is closed, may
 *         not be read from, or is not connected yet; no thread); ROUSE_ECLOSED while the loop is
 *         being destroyed.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_win32_pipe_add(rouse_loop *loop, void *pipe, rouse_handle_fn fn,
                                                  void *data, rouse_source *ret_source);

#ifdef __cplusplus
}
#endif
#endif
