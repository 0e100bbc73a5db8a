/**
 * @file uv.h
 * A loop as the guest of a libuv loop (library rouse-uv, built on the public API alone).
 *
 * libuv watches the loop's descriptor with a uv_poll_t, and turns the loop when it is readable. A
 * uv_prepare_t looks at the loop before each of libuv's waits: what the program draws on an
 * attached display from a callback of libuv's is flushed, a timer that it adds counts.  Both are
 * the library's.
 *
 * uv_run() is to be called on the loop's thread.  It goes on while the loop is attached, as it
 * does for any other active handle, whether or not the loop has sources; see rouse_uv_handle().
 *
 * uv_run() must not be called from a callback: that is libuv's rule, and a callback of the loop's
 * is one.  No intent to read a Wayland display is held while libuv sleeps: other handles' callbacks
 * run between this one's and the wait, and between the wait and its check (docs/embedding.md).
 */
#ifndef ROUSE_UV_H
#define ROUSE_UV_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* libuv's own names, declared here so that including this header does not include libuv's. */
struct uv_loop_s;
struct uv_handle_s;

/** One attachment. */
typedef struct rouse_uv rouse_uv;

/** Zero it, set `size` and `uv`. */
typedef struct rouse_uv_options {
	size_t size;
	struct uv_loop_s *uv; /**< A uv_loop_t; stays the caller's, outlives the attachment. */
	/** What rouse_loop_run() would have returned: 0 for each rouse_loop_stop() and
	 *  rouse_remote_stop(), which is where a program calls uv_stop() or detaches; or an error,
	 *  after which libuv does not watch the loop any more, nor goes on for it.  NULL: stops
	 *  are not looked at, and of errors nobody is told. */
	void (*done)(rouse_loop *loop, int result, void *data);
	void *data; /**< Handed to `done`. */
} rouse_uv_options;

/**
 * Make a loop the guest of a libuv loop.  From then on rouse_loop_run() is refused; an attachment
 * to another uv_loop_t is possible after a detach.
 *
 * @param ret_uv NULL: attached as long as the loop lives.  Else release with rouse_uv_detach();
 *               rouse_loop_destroy() does it, too, and the name is then gone.
 * @return 0; ROUSE_EINVAL (also: `size` is less than that of the first version), ROUSE_EABI,
 *         ROUSE_ENOMEM, ROUSE_EEXIST (attached already, to any libuv loop), ROUSE_ENOTSUP (the
 *         loop is on a poller that has no descriptor to watch: "poll" and "null"),
 *         ROUSE_EWRONGTHREAD; ROUSE_ELIMIT, ROUSE_EOS (libuv cannot watch it); or an error of
 *         rouse_loop_fd().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_uv_attach(rouse_loop *loop, const rouse_uv_options *options,
                                             rouse_uv **ret_uv);

/**
 * The handle that keeps uv_run() going, for uv_ref(), uv_unref() and uv_has_ref(): unreferenced,
 * the loop is served while there is something else to wait for.  Nothing else is to be done with
 * it.
 *
 * @return a uv_handle_t, which lives as long as the attachment; NULL for NULL.  On the thread that
 *         runs the uv_loop_t.
 * @since 0.1
 */
ROUSE_API struct uv_handle_s *rouse_uv_handle(rouse_uv *uv);

/**
 * Take the loop out of libuv's; allowed in every callback, of the loop's and of libuv's, and NULL
 * is allowed.  libuv runs nothing of the loop's after it; from inside a callback of the loop's,
 * what that turn had gathered is still run.  What is queued stays queued, for the next attachment
 * or rouse_loop_turn().
 *
 * libuv closes handles in its next iteration, and memory is freed then: before uv_loop_close(),
 * run the uv_loop_t once more, as for handles of your own.
 *
 * @return 0; ROUSE_EWRONGTHREAD; ROUSE_ESTALE for a second detach inside the same callback of the
 *         loop.  Once that has returned, and at once where there is none, the name is gone and
 *         must not be used.
 * @since 0.1
 */
ROUSE_API int rouse_uv_detach(rouse_uv *uv);

#ifdef __cplusplus
}
#endif
#endif
