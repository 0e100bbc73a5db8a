/*
 * An XCB connection as a hook of a loop.
 *
 * Where an event can be, and how each place is seen before the loop sleeps:
 *   in the socket               the poller watches the descriptor, level triggered
 *   in XCB's queue              somebody read it: a reply was waited for, a full socket was
 *                               written to, more than one budget came.  The bytes that XCB has
 *                               read so far then differ from those when the queue was last found
 *                               empty.  None is ever held here: what a detach leaves is in
 *                               XCB's queue still
 *   in XCB's special queues     belongs, as replies do, to whoever asked for it: `activity` tells
 *                               that bytes came
 *   beside an unsent request    the answer to a request that nobody has written never comes:
 *                               the requests are written out first
 * All of these looks are in memory; the only system calls are those that move bytes.  A ready
 * descriptor is read once a turn, at most 4 KiB: XCB's buffer bounds what a flood can do.
 *
 * Writing.  XCB does not say whether a request is unwritten, and xcb_flush() leaves alone what
 * Xlib has in a buffer of its own.  But whoever has taken the write side of the connection
 * (xcb_take_socket(), which Xlib uses, too) is asked to give it back before the next request can
 * be made by anybody.  So before it sleeps the loop takes it: that writes out everything, Xlib's
 * buffer included.  As long as it has not been asked to give it back there is nothing to write,
 * which one look at a flag tells.
 *
 * User code runs under event, activity, error and lost, and any of them may detach and close the
 * connection: what comes after such a call looks at `gone` first, and the struct lives until the
 * last frame that uses it has left.
 */
#include "x_shared.h"

#include <rouse/xcb.h>

#include <xcb/xcbext.h>
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct rouse_xcb {
	rouse_xcb *next; /* in the process's list, under its mutex */
	rouse_loop *loop;
	xcb_connection_t *connection;
	rouse_allocator allocator;
	rouse_xcb_options options;
	rouse_source hook;
	uint64_t seen; /* bytes XCB had read when its queue was last found empty */
	uint64_t told; /* bytes XCB had read when `activity` last ran */
	struct rouse__x_sleep sleep;
	atomic_bool unwritten; /* the write side is not ours: there may be requests to write */
	unsigned depth; /* frames of ours that use this struct and that user code may be under */
	bool readable;  /* the descriptor, in this wait, and nobody has read it yet */
	bool gone;      /* detached; freed when depth is 0 */
	bool enlisted;
	bool paused; /* the descriptor of a broken connection is not watched */
	bool lost_told;
};

static rouse_xcb *attached;

static void enter(rouse_xcb *xcb)
{
	xcb->depth++;
}

static void leave(rouse_xcb *xcb)
{
	assert(xcb->depth > 0);
	if (--xcb->depth == 0 && xcb->gone)
		xcb->allocator.free(xcb, sizeof(*xcb), xcb->allocator.ctx);
}

static bool is_lost(const rouse_xcb *xcb)
{
	return xcb_connection_has_error(xcb->connection) != 0;
}

/* ---- Writing --------------------------------------------------------------- */

/* Somebody is about to make a request.  On any thread, and none of XCB's locks is held. */
static void give_back(void *closure)
{
	rouse_xcb *xcb = closure;

	atomic_store_explicit(&xcb->unwritten, true, memory_order_release);
}

static void write_out(rouse_xcb *xcb)
{
	struct rouse__x_hushed hushed;
	uint64_t sent;

	if (!atomic_load_explicit(&xcb->unwritten, memory_order_acquire))
		return;
	/* Before the write side is taken: it may be given back at once. */
	atomic_store_explicit(&xcb->unwritten, false, memory_order_relaxed);
	rouse__x_hush(&hushed);
	xcb_take_socket(xcb->connection, give_back, xcb, 0, &sent);
	rouse__x_unhush(&hushed, is_lost(xcb));
}

/* XCB forgets us, for which somebody else takes the write side: free(NULL), which does nothing and
 * is always there.  There is nothing to write, or the write side would not be ours. */
static void let_go(rouse_xcb *xcb)
{
	uint64_t sent;

	if (!atomic_load_explicit(&xcb->unwritten, memory_order_acquire))
		xcb_take_socket(xcb->connection, free, NULL, 0, &sent);
}

/* ---- The hook ---------------------------------------------------------------- */

static bool unseen(const rouse_xcb *xcb)
{
	return xcb_total_read(xcb->connection) != xcb->seen;
}

static bool untold(const rouse_xcb *xcb)
{
	return xcb->options.activity && xcb_total_read(xcb->connection) != xcb->told;
}

static bool has_work(const rouse_xcb *xcb)
{
	if (is_lost(xcb))
		return !xcb->lost_told;
	return unseen(xcb) || untold(xcb);
}

static rouse_ns prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	rouse_xcb *xcb = data;
	bool work = false;

	enter(xcb);
	/* Xlib's part of it may run Xlib's error handlers. */
	write_out(xcb);
	if (!xcb->gone) {
		if (is_lost(xcb) && !xcb->paused)
			xcb->paused = rouse_fd_set_events(loop, self, 0) == 0;
		work = has_work(xcb);
		rouse__x_sleeps(&xcb->sleep, xcb->connection, flags);
	}
	leave(xcb);
	return work ? 0 : ROUSE_NEVER;
}

static int check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	rouse_xcb *xcb = data;

	(void)loop, (void)self;
	rouse__x_wakes(&xcb->sleep, xcb->connection);
	xcb->readable = ready != 0 && !is_lost(xcb);
	return xcb->readable || has_work(xcb);
}

/* The next event, or NULL when the queue is empty and what was in the socket is in it. */
static xcb_generic_event_t *next_event(rouse_xcb *xcb)
{
	xcb_generic_event_t *event;

	for (;;) {
		/* Before the look: what comes after it is not seen. */
		uint64_t read = xcb_total_read(xcb->connection);

		event = xcb_poll_for_queued_event(xcb->connection);
		if (event)
			return event;
		xcb->seen = read;
		if (!xcb->readable)
			return NULL;
		xcb->readable = false;
		event = xcb_poll_for_event(xcb->connection);
		if (event)
			return event;
	}
}

static void deliver(rouse_xcb *xcb, xcb_generic_event_t *event)
{
	const rouse_xcb_options *to = &xcb->options;

	if (event->response_type == 0 && to->error)
		to->error(xcb->loop, xcb, event, to->data);
	else if (to->event)
		to->event(xcb->loop, xcb, event, to->data);
	free(event);
}

/* One callback, or none if there is no reason for one. */
static bool tell(rouse_xcb *xcb, bool *active)
{
	const rouse_xcb_options *to = &xcb->options;
	int reason = xcb_connection_has_error(xcb->connection);

	if (reason) {
		if (xcb->lost_told)
			return false;
		xcb->lost_told = true;
		if (to->lost)
			to->lost(xcb->loop, xcb, reason, to->data);
		return true;
	}
	/* Once a turn: it may read, too. */
	if (!*active && untold(xcb)) {
		*active = true;
		xcb->told = xcb_total_read(xcb->connection);
		to->activity(xcb->loop, xcb, to->data);
		return true;
	}
	xcb_generic_event_t *event = next_event(xcb);
	if (event)
		deliver(xcb, event);
	return event != NULL;
}

static int dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	rouse_xcb *xcb = data;
	unsigned handled = 0;
	bool active = false;

	(void)loop, (void)self;
	enter(xcb);
	while (handled < budget && !xcb->gone && tell(xcb, &active))
		handled++;
	leave(xcb);
	return (int)handled;
}

/* ---- Attach and detach --------------------------------------------------------- */

static int enlist(rouse_xcb *xcb)
{
	rouse__display_lock();
	rouse_xcb *other = attached;
	while (other && other->connection != xcb->connection)
		other = other->next;
	if (!other) {
		xcb->next = attached;
		attached = xcb;
		xcb->enlisted = true;
	}
	rouse__display_unlock();
	return other ? ROUSE_EEXIST : 0;
}

static void delist(rouse_xcb *xcb)
{
	rouse__display_lock();
	rouse_xcb **link = &attached;
	while (*link != xcb)
		link = &(*link)->next;
	*link = xcb->next;
	rouse__display_unlock();
}

/* Everything of an attachment ends here: detach, a failed attach, the end of the loop. */
static void release(rouse_loop *loop, void *data)
{
	rouse_xcb *xcb = data;

	(void)loop;
	enter(xcb);
	xcb->gone = true;
	let_go(xcb);
	if (xcb->enlisted)
		delist(xcb);
	leave(xcb);
}

/* The struct of 0.1. */
#define LEAST_OPTIONS (offsetof(rouse_xcb_options, lost) + sizeof(((rouse_xcb_options *)0)->lost))

int rouse_xcb_attach(rouse_loop *loop, const rouse_xcb_options *options, rouse_xcb **ret_xcb)
{
	rouse_xcb_options copy;

	if (!loop || !options || !ret_xcb)
		return ROUSE_EINVAL;
	int result =
	        rouse__display_options(&copy, sizeof(copy), LEAST_OPTIONS, options, options->size);
	if (result == 0 && !copy.connection)
		result = ROUSE_EINVAL;
	if (result == 0)
		result = rouse__display_thread(loop);
	if (result < 0)
		return result;
	if (rouse__x_gone(copy.connection))
		return ROUSE_ELOST;

	const rouse_allocator *allocator = rouse_loop_allocator(loop);
	rouse_xcb *xcb = allocator->alloc(sizeof(*xcb), allocator->ctx);
	if (!xcb)
		return ROUSE_ENOMEM;
	*xcb = (rouse_xcb){.loop = loop,
	                   .connection = copy.connection,
	                   .allocator = *allocator,
	                   .options = copy,
	                   .seen = UINT64_MAX, /* whatever was read before: look */
	                   .told = UINT64_MAX};
	atomic_init(&xcb->unwritten, true);

	const rouse_hook hook = {.size = sizeof(hook),
	                         .fd = xcb_get_file_descriptor(copy.connection),
	                         .events = ROUSE_READABLE,
	                         .prepare = prepare,
	                         .check = check,
	                         .dispatch = dispatch,
	                         .release = release};
	result = rouse_hook_add(loop, &hook, xcb, &xcb->hook);
	if (result < 0) {
		xcb->allocator.free(xcb, sizeof(*xcb), xcb->allocator.ctx);
		return result;
	}
	result = enlist(xcb);
	if (result < 0) {
		rouse_remove(loop, xcb->hook);
		return result;
	}
	*ret_xcb = xcb;
	return 0;
}

int rouse_xcb_detach(rouse_xcb *xcb)
{
	return xcb ? rouse_remove(xcb->loop, xcb->hook) : 0;
}

int rouse_xcb_foreign_reads(const rouse_xcb *xcb, uint64_t *ret_count)
{
	if (!xcb || !ret_count)
		return ROUSE_EINVAL;
	int result = rouse__display_thread(xcb->loop);
	if (result < 0)
		return result;
	*ret_count = xcb->sleep.broken;
	return 0;
}
