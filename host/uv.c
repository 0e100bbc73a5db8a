/*
 * A loop as the guest of a libuv loop.
 *
 * The poll handle watches the loop's descriptor, which carries timers and posts, and turns the
 * loop.  The prepare handle is for what libuv's own callbacks have done with the loop since its
 * last turn: a display that was drawn on is flushed, and one whose events somebody has read makes
 * the descriptor readable.  It keeps nobody awake.
 *
 * uv_close() is not done before the next iteration: so the struct lives until both handles are
 * closed and the last frame of ours has left.
 */
#include "shared.h"

#include <rouse/uv.h>

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct rouse_uv {
	struct rouse__attached attached;
	rouse_uv_options options;
	rouse_allocator allocator;
	uv_poll_t poll;
	uv_prepare_t prepare;
	unsigned handles; /* not closed yet */
	unsigned depth;   /* frames of ours that use this struct and that user code may be under */
	bool gone;        /* detached; freed when there are no frames and no handles */
};

static void free_if_unused(rouse_uv *uv)
{
	if (uv->gone && uv->handles == 0 && uv->depth == 0)
		uv->allocator.free(uv, sizeof *uv, uv->allocator.ctx);
}

static void enter(rouse_uv *uv)
{
	uv->depth++;
}

static void leave(rouse_uv *uv)
{
	assert(uv->depth > 0);
	uv->depth--;
	free_if_unused(uv);
}

/* ---- What libuv calls ------------------------------------------------------------ */

static void quit(rouse_uv *uv)
{
	/* Neither fails. */
	(void)uv_poll_stop(&uv->poll);
	(void)uv_prepare_stop(&uv->prepare);
}

/* A call with the loop has returned this.  In a hook's pass it is not to be turned. */
static void tell(rouse_uv *uv, int result)
{
	const rouse_uv_options *options = &uv->options;

	if (uv->gone || result == ROUSE_EBUSY)
		return;
	if (result < 0)
		quit(uv);
	else if (options->done && rouse_loop_take_stop(uv->attached.loop) > 0)
		result = 0;
	else
		return;
	if (options->done)
		options->done(uv->attached.loop, result, options->data);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	rouse_uv *uv = poll->data;

	/* What there is to know of a descriptor of the loop's, the loop knows. */
	(void)status, (void)events;
	enter(uv);
	tell(uv, rouse_loop_turn(uv->attached.loop, 0));
	leave(uv);
}

static void before_the_wait(uv_prepare_t *prepare)
{
	rouse_uv *uv = prepare->data;

	enter(uv);
	tell(uv, rouse_loop_prepare(uv->attached.loop, 0, NULL));
	leave(uv);
}

/* ---- Attach and detach --------------------------------------------------------------- */

static void on_closed(uv_handle_t *handle)
{
	rouse_uv *uv = handle->data;

	uv->handles--;
	free_if_unused(uv);
}

/* Everything of an attachment ends here: detach, a failed attach, the end of the loop. */
static void release(rouse_loop *loop, void *data)
{
	rouse_uv *uv = data;

	(void)loop;
	rouse__host_released(&uv->attached);
	uv->gone = true;
	if (uv->handles > 0) {
		quit(uv);
		uv_close((uv_handle_t *)&uv->poll, on_closed);
		uv_close((uv_handle_t *)&uv->prepare, on_closed);
	}
	free_if_unused(uv);
}

static int error_of(int uv_error)
{
	if (uv_error == UV_ENOMEM)
		return ROUSE_ENOMEM;
	return uv_error == UV_ENOSPC ? ROUSE_ELIMIT : ROUSE_EOS;
}

static int start(rouse_uv *uv, rouse_fd fd)
{
	int error = uv_poll_init(uv->options.uv, &uv->poll, fd);

	if (error)
		return error;
	/* It does not fail. */
	(void)uv_prepare_init(uv->options.uv, &uv->prepare);
	uv->handles = 2;
	uv->poll.data = uv;
	uv->prepare.data = uv;
	uv_unref((uv_handle_t *)&uv->prepare);
	(void)uv_prepare_start(&uv->prepare, before_the_wait);
	return uv_poll_start(&uv->poll, UV_READABLE, on_readable);
}

/* The struct of 0.1. */
#define LEAST_OPTIONS (offsetof(rouse_uv_options, data) + sizeof(void *))

int rouse_uv_attach(rouse_loop *loop, const rouse_uv_options *options, rouse_uv **ret_uv)
{
	const rouse_allocator *allocator;
	rouse_uv_options copy;
	rouse_fd fd;
	rouse_uv *uv;
	int error = rouse__host_options(&copy, sizeof copy, LEAST_OPTIONS, options);

	if (error)
		return error;
	error = rouse__host_may_attach(loop);
	if (error)
		return error;
	if (!copy.uv)
		return ROUSE_EINVAL;
	allocator = rouse_loop_allocator(loop);
	uv = allocator->alloc(sizeof *uv, allocator->ctx);
	if (!uv)
		return ROUSE_ENOMEM;
	*uv = (rouse_uv){.options = copy, .allocator = *allocator};
	error = rouse__host_attach(&uv->attached, loop, release, uv, &fd);
	if (error)
		return error;
	error = start(uv, fd);
	if (error) {
		error = error_of(error);
		(void)rouse_remove(loop, uv->attached.hook);
		return error;
	}
	if (ret_uv)
		*ret_uv = uv;
	return 0;
}

uv_handle_t *rouse_uv_handle(rouse_uv *uv)
{
	return uv ? (uv_handle_t *)&uv->poll : NULL;
}

int rouse_uv_detach(rouse_uv *uv)
{
	return uv ? rouse__host_detach(&uv->attached) : 0;
}
