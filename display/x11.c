/*
 * An Xlib connection as a hook of a loop.
 *
 * Where an event can be, and how each place is seen before the loop sleeps:
 *   in the socket               the poller watches the descriptor, level triggered
 *   in XCB's queues             somebody read it: a reply was waited for, a full socket was
 *                               written to.  The bytes that XCB has read so far then differ from
 *                               those at our last look, and XEventsQueued() moves what is for
 *                               Xlib into Xlib's queue.  XCB's special-event queues and replies
 *                               belong to whoever asked for them: `activity` tells that bytes came
 *   in Xlib's queue             its length
 *   beside an unsent request    the answer to a request that nobody has written never comes:
 *                               the buffer is written out first
 * All of these looks are in memory; the only system calls are those that move bytes.  An answer
 * of XEventsQueued() is complete only when Xlib's queue was empty (else it looks no further), so
 * the bytes count as seen only then; until then there is work anyway.
 *
 * A dead server is noticed inside whatever Xlib function meets it (x11_errors.c), which only sets
 * `lost`.  From there on no function here gives the display to Xlib again: the descriptor, which
 * hangs up for ever, is not watched any more, and the next dispatch tells the user.
 *
 * User code runs under event, message, activity, error and lost, and any of them may detach: what
 * comes after such a call looks at `gone` first, and the struct lives until the last frame that
 * uses it has left.
 */
#include "x11_private.h"

#include <X11/Xlib-xcb.h>
#include <assert.h>

void rouse__x11_enter(rouse_x11 *x11)
{
	x11->depth++;
}

void rouse__x11_leave(rouse_x11 *x11)
{
	assert(x11->depth > 0);
	if (--x11->depth == 0 && x11->gone)
		x11->allocator.free(x11, sizeof(*x11), x11->allocator.ctx);
}

/* ---- Internal connections ---------------------------------------------- */

static void internal_ready(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                           void *data)
{
	rouse_x11 *x11 = ((struct rouse__x11_internal *)data)->x11;

	(void)loop, (void)self, (void)events;
	/* May close this connection, and run an input method's callbacks. */
	rouse__x11_enter(x11);
	if (!x11->lost)
		XProcessInternalConnection(x11->display, fd);
	rouse__x11_leave(x11);
}

static void internal_drop(struct rouse__x11_internal *internal)
{
	rouse_x11 *x11 = internal->x11;
	struct rouse__x11_internal **link = &x11->internals;

	while (*link != internal)
		link = &(*link)->next;
	*link = internal->next;
	rouse_remove(x11->loop, internal->source);
	x11->allocator.free(internal, sizeof(*internal), x11->allocator.ctx);
}

/* Xlib opens or closes an internal connection.  Called with the display locked. */
static void internal_changed(Display *display, XPointer data, int fd, Bool opening,
                             XPointer *watch_data)
{
	rouse_x11 *x11 = (rouse_x11 *)(void *)data;
	struct rouse__x11_internal *internal = (void *)*watch_data;

	(void)display;
	if (!opening) {
		if (internal)
			internal_drop(internal);
		*watch_data = NULL;
		return;
	}
	internal = x11->allocator.alloc(sizeof(*internal), x11->allocator.ctx);
	if (!internal) {
		x11->unjoined = ROUSE_ENOMEM;
		return;
	}
	*internal = (struct rouse__x11_internal){.next = x11->internals, .x11 = x11};
	int result = rouse_fd_add(x11->loop, fd, ROUSE_READABLE, internal_ready, internal,
	                          &internal->source);
	if (result < 0) {
		x11->unjoined = result;
		x11->allocator.free(internal, sizeof(*internal), x11->allocator.ctx);
		return;
	}
	x11->internals = internal;
	*watch_data = (XPointer)internal;
}

static void unwatch(rouse_x11 *x11)
{
	if (x11->watching)
		XRemoveConnectionWatch(x11->display, internal_changed, (XPointer)x11);
	x11->watching = false;
	while (x11->internals)
		internal_drop(x11->internals);
}

/* Xlib's internal connections, all that there are, join the loop; or why one of them did not. */
static int watch(rouse_x11 *x11)
{
	x11->unjoined = 0;
	x11->watching = XAddConnectionWatch(x11->display, internal_changed, (XPointer)x11) != 0;
	if (!x11->watching)
		x11->unjoined = ROUSE_ENOMEM;
	return x11->unjoined;
}

/* ---- The hook ---------------------------------------------------------- */

/* Without reading: what comes is read when Xlib's queue is empty, and so never piles up. */
static void write_out(rouse_x11 *x11)
{
	struct rouse__x_hushed hushed;

	rouse__x_hush(&hushed);
	rouse__x11_flush(x11->display);
	rouse__x_unhush(&hushed, xcb_connection_has_error(x11->connection));
}

static void read_in(rouse_x11 *x11)
{
	if (rouse__x11_unwritten(x11->display))
		write_out(x11); /* else XEventsQueued() may do so, if XCB has the socket */
	XEventsQueued(x11->display, QueuedAfterReading);
	x11->seen = xcb_total_read(x11->connection);
}

static bool unread(const rouse_x11 *x11)
{
	return XQLength(x11->display) == 0 && xcb_total_read(x11->connection) != x11->seen;
}

static bool untold(const rouse_x11 *x11)
{
	return x11->options.activity && xcb_total_read(x11->connection) != x11->told;
}

static bool has_work(const rouse_x11 *x11)
{
	if (x11->gone)
		return false;
	if (x11->lost)
		return !x11->lost_told;
	return XQLength(x11->display) > 0 || untold(x11);
}

static rouse_ns prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	rouse_x11 *x11 = data;

	rouse__x11_enter(x11);
	x11->spoke = false;
	if (x11->unjoined && !x11->lost) {
		unwatch(x11);
		(void)watch(x11);
	}
	/* Reading may make requests (an input method), and writing may read. */
	while (!x11->gone && !x11->lost) {
		if (rouse__x11_unwritten(x11->display))
			write_out(x11);
		else if (unread(x11))
			read_in(x11);
		else
			break;
	}
	if (x11->lost && !x11->gone && !x11->paused)
		x11->paused = rouse_fd_set_events(loop, self, 0) == 0;
	/* After a callback of the user's the loop looks around before it sleeps. */
	bool work = has_work(x11) || x11->spoke;
	if (!x11->gone)
		rouse__x_sleeps(&x11->sleep, x11->connection, flags);
	rouse__x11_leave(x11);
	return work ? 0 : ROUSE_NEVER;
}

static int check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	rouse_x11 *x11 = data;

	(void)loop, (void)self;
	rouse__x11_enter(x11);
	rouse__x_wakes(&x11->sleep, x11->connection);
	if (!x11->lost && (unread(x11) || (ready && XQLength(x11->display) == 0)))
		read_in(x11);
	bool work = has_work(x11);
	rouse__x11_leave(x11);
	return work;
}

static void deliver(rouse_x11 *x11)
{
	const rouse_x11_options *to = &x11->options;
	XEvent event;
	uint64_t payload;

	XNextEvent(x11->display, &event);
	if (event.type == ClientMessage && rouse__x11_is_ours(x11, &event.xclient, &payload)) {
		if (to->message)
			to->message(x11->loop, x11, payload, to->data);
	} else if (to->event) {
		to->event(x11->loop, x11, &event, to->data);
	}
}

static int dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	rouse_x11 *x11 = data;
	const rouse_x11_options *to = &x11->options;
	unsigned handled = 0;

	(void)self;
	rouse__x11_enter(x11);
	if (x11->lost) {
		if (!x11->lost_told) {
			x11->lost_told = true;
			handled = 1;
			unwatch(x11);
			if (to->lost)
				to->lost(loop, x11, to->data);
		}
	} else if (untold(x11)) {
		x11->told = xcb_total_read(x11->connection);
		handled = 1;
		to->activity(loop, x11, to->data);
	}
	/* XNextEvent() on an empty queue waits, and on a husk takes what is not there. */
	while (handled < budget && !x11->gone && !x11->lost && XQLength(x11->display) > 0) {
		deliver(x11);
		handled++;
	}
	rouse__x11_leave(x11);
	return (int)handled;
}

/* Everything of an attachment ends here: detach, a failed attach, the end of the loop. */
static void release(rouse_loop *loop, void *data)
{
	rouse_x11 *x11 = data;

	(void)loop;
	rouse__x11_enter(x11);
	x11->gone = true;
	rouse__x11_part_injectors(x11);
	unwatch(x11);
	if (x11->enlisted)
		rouse__x11_delist(x11);
	rouse__x11_leave(x11);
}

/* ---- Attach and detach ------------------------------------------------- */

/* The struct of 0.1. */
#define LEAST_OPTIONS (offsetof(rouse_x11_options, lost) + sizeof(((rouse_x11_options *)0)->lost))

int rouse_x11_attach(rouse_loop *loop, const rouse_x11_options *options, rouse_x11 **ret_x11)
{
	rouse_x11_options copy;

	if (!loop || !options || !ret_x11)
		return ROUSE_EINVAL;
	int result =
	        rouse__display_options(&copy, sizeof(copy), LEAST_OPTIONS, options, options->size);
	if (result == 0 && !copy.display)
		result = ROUSE_EINVAL;
	if (result == 0)
		result = rouse__display_thread(loop);
	if (result < 0)
		return result;
	if (rouse__x_gone(XGetXCBConnection(copy.display)))
		return ROUSE_ELOST;

	const rouse_allocator *allocator = rouse_loop_allocator(loop);
	rouse_x11 *x11 = allocator->alloc(sizeof(*x11), allocator->ctx);
	if (!x11)
		return ROUSE_ENOMEM;
	*x11 = (rouse_x11){.loop = loop,
	                   .display = copy.display,
	                   .connection = XGetXCBConnection(copy.display),
	                   .allocator = *allocator,
	                   .options = copy,
	                   .seen = UINT64_MAX, /* whatever was read before: look */
	                   .told = UINT64_MAX};

	const rouse_hook hook = {.size = sizeof(hook),
	                         .fd = ConnectionNumber(copy.display),
	                         .events = ROUSE_READABLE,
	                         .prepare = prepare,
	                         .check = check,
	                         .dispatch = dispatch,
	                         .release = release};
	result = rouse_hook_add(loop, &hook, x11, &x11->hook);
	if (result < 0) {
		x11->allocator.free(x11, sizeof(*x11), x11->allocator.ctx);
		return result;
	}
	result = rouse__x11_enlist(x11);
	if (result == 0)
		result = watch(x11);
	if (result < 0) {
		rouse_remove(loop, x11->hook);
		return result;
	}
	*ret_x11 = x11;
	return 0;
}

int rouse_x11_detach(rouse_x11 *x11)
{
	return x11 ? rouse_remove(x11->loop, x11->hook) : 0;
}

int rouse_x11_foreign_reads(const rouse_x11 *x11, uint64_t *ret_count)
{
	if (!x11 || !ret_count)
		return ROUSE_EINVAL;
	int result = rouse__display_thread(x11->loop);
	if (result < 0)
		return result;
	*ret_count = x11->sleep.broken;
	return 0;
}
