/**
 * @file sdl.h
 * SDL 2 windows and events in a loop (library rouse-sdl, built on the public API alone).
 *
 * SDL's connection to the X server or the Wayland compositor joins the loop; SDL_PumpEvents() is
 * called when there is something to pump, and never otherwise, and each event of SDL's queue is
 * handed to `event`, on the loop's thread.  rouse_loop_run() takes the place of the program's own
 * loop around SDL_WaitEvent() or SDL_PollEvent().
 *
 * The loop's thread is SDL's video thread.  To wake it there are rouse_wake() and rouse_post().
 * Events that other threads push (SDL_PushEvent(), from the callback of an SDL timer for one) are
 * delivered, too: an event watch of ours wakes the loop.  SDL calls it before the event is in its
 * queue, so the loop looks again if it was too fast, for a second at most; a thread that may stand
 * still for longer than that in the middle of SDL_PushEvent() calls rouse_wake() after it.  So does
 * one that adds events with SDL_PeepEvents(), of which SDL tells nobody.
 *
 * SDL's own waits (SDL_WaitEvent(), SDL_WaitEventTimeout()) still work while attached, and run
 * nothing of the loop's while they last.  A SIGINT or SIGTERM becomes a SDL_QUIT when SDL is pumped
 * next, which no descriptor shows: use rouse_signal_add() instead, and
 * SDL_HINT_NO_SIGNAL_HANDLERS.
 */
#ifndef ROUSE_SDL_H
#define ROUSE_SDL_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* SDL's own names, declared here so that including this header does not include SDL's. */
struct SDL_Window;
union SDL_Event;

/** SDL's events, attached.  A process has one queue of them, and so at most one of these. */
typedef struct rouse_sdl rouse_sdl;

/**
 * What to join, and whom to tell.  Zero it, set `size` and `window`; every callback may be NULL
 * and runs on the loop's thread, from the loop.  They may do everything but quit SDL's video
 * while attached, and may detach.
 */
typedef struct rouse_sdl_options {
	size_t size;
	struct SDL_Window *window; /**< Any one: all have the same connection, which SDL tells by a
	                                window only.  Not used after rouse_sdl_attach(). */
	void *data;                /**< Handed to each callback. */
	/** SDL_PumpEvents() is called at least so often, for what it looks at and no descriptor
	 *  shows: joysticks, sensors, input methods (D-Bus), the screen saver, and on Wayland key
	 *  repeat.  0: only when something comes, so that an idle loop sleeps. */
	rouse_ns period;
	/** Each event, as SDL_PollEvent() would return it.  NULL: events are thrown away. */
	void (*event)(rouse_loop *loop, rouse_sdl *sdl, const union SDL_Event *event, void *data);
	/** After events, or a pump, that left SDL's queue empty: what a program's own loop does
	 * after SDL_PollEvent() has returned 0. */
	void (*after)(rouse_loop *loop, rouse_sdl *sdl, void *data);
	/** The display server is gone.  Runs once; SDL_PumpEvents() is not called any more, and
	 * what other threads push is still delivered.  On X11, Xlib ends the process before that
	 * unless the program has set an I/O error handler and an exit handler that both return.
	 * An end of SDL's video while attached, against the rules, is told so, too. */
	void (*lost)(rouse_loop *loop, rouse_sdl *sdl, void *data);
} rouse_sdl_options;

/**
 * Attach SDL's events to a loop, on the thread that initialised SDL's video, and before SDL_Quit().
 *
 * @param ret_sdl Written on success.  Release with rouse_sdl_detach() before SDL_Quit() or
 *                SDL_QuitSubSystem(SDL_INIT_VIDEO).  rouse_loop_destroy() releases it, too; the
 *                name is then gone.
 * @return 0; ROUSE_EINVAL (also: no such window, or SDL's video is not initialised; `size` is less
 *         than that of the first version), ROUSE_EABI, ROUSE_ENOMEM, ROUSE_EEXIST (attached
 *         already, to any loop; or its connection to this one, through rouse-x11 or
 *         rouse-wayland), ROUSE_ENOTSUP (SDL is on a video driver that has no connection, "dummy"
 *         for one), ROUSE_ELOST (the server is gone), ROUSE_EWRONGTHREAD, or an error of
 *         rouse_hook_add().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_sdl_attach(rouse_loop *loop, const rouse_sdl_options *options,
                                              rouse_sdl **ret_sdl);

/**
 * Take SDL out of the loop; allowed in every callback.  NULL is allowed.  No callback of it begins
 * after this returns, nor does a SDL_PumpEvents() of the loop's.  Reads and writes nothing: events
 * still queued are SDL_PollEvent()'s.
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback.  Once
 *         that callback has returned, and at once where there is none, the name is gone and must
 *         not be used.
 * @since 0.1
 */
ROUSE_API int rouse_sdl_detach(rouse_sdl *sdl);

#ifdef __cplusplus
}
#endif
#endif
