#include "window.h"

#include "x11_output.h"

#include <X11/Xlib-xcb.h>
#include <wayland-client-core.h>
#include <xcb/xcbext.h>
#include <errno.h>
#include <poll.h>

/* ---- X11 ---------------------------------------------------------------------- */

static bool x11_unread(const struct rouse__window *window)
{
	return xcb_total_read(window->xcb) != window->seen;
}

/* Fills Xlib's queue from XCB's and the socket.  The library's own look at it is next. */
static void x11_read_in(struct rouse__window *window)
{
	XEventsQueued(window->x11, QueuedAfterReading);
	window->seen = xcb_total_read(window->xcb);
}

static bool x11_prepare(struct rouse__window *window)
{
	/* Writing may read. */
	while (!xcb_connection_has_error(window->xcb)) {
		if (rouse__x11_unwritten(window->x11))
			rouse__x11_flush(window->x11);
		else if (XQLength(window->x11) == 0 && x11_unread(window))
			x11_read_in(window);
		else
			break;
	}
	/* Only where the program's own error handlers return, and the process lives. */
	window->lost = xcb_connection_has_error(window->xcb) != 0;
	return !window->lost && XQLength(window->x11) > 0;
}

/* ---- Wayland ------------------------------------------------------------------ */

/* What the compositor said before it went, and that it went.  GLFW's pump reads nothing once it
 * cannot write: it asks its windows to close, and would be called for ever. */
static void wayland_read_last(struct rouse__window *window)
{
	if (wl_display_prepare_read(window->wayland) == 0)
		wl_display_read_events(window->wayland);
}

static bool wayland_prepare(struct rouse__window *window, unsigned flags, bool *ret_blocked)
{
	int unwritten = wl_display_flush(window->wayland) < 0 ? errno : 0;

	*ret_blocked = unwritten == EAGAIN;
	if (unwritten == EPIPE && window->refused)
		wayland_read_last(window);
	window->lost = wl_display_get_error(window->wayland) != 0;
	if (unwritten == EPIPE && !window->lost && !window->refused) {
		window->refused = true;
		return true;
	}
	if (window->lost)
		return false;
	/* No intent is given for a queue that is not empty. */
	window->holding = wl_display_prepare_read(window->wayland) == 0;
	bool empty = window->holding;
	if (!(flags & ROUSE_PREPARE_HOLD))
		rouse__window_let_go(window);
	return !empty;
}

/* ---- Either ------------------------------------------------------------------- */

static bool is_gone(rouse_fd fd)
{
	struct pollfd pollfd = {.fd = fd};

	return poll(&pollfd, 1, 0) == 1 && (pollfd.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int rouse__window_init(struct rouse__window *window)
{
	bool broken;

	if (window->x11) {
		window->xcb = XGetXCBConnection(window->x11);
		broken = xcb_connection_has_error(window->xcb) != 0;
	} else {
		broken = wl_display_get_error(window->wayland) != 0;
	}
	if (broken || is_gone(rouse__window_fd(window)))
		return ROUSE_ELOST;
	window->seen = UINT64_MAX; /* whatever was read before: look */
	window->due = 0;           /* and once anyway, at what no descriptor shows */
	window->watched = ROUSE_READABLE;
	return 0;
}

rouse_fd rouse__window_fd(const struct rouse__window *window)
{
	return window->x11 ? ConnectionNumber(window->x11) : wl_display_get_fd(window->wayland);
}

static void watch(struct rouse__window *window, rouse_loop *loop, rouse_source hook,
                  unsigned events)
{
	if (window->watched != events && rouse_fd_set_events(loop, hook, events) == 0)
		window->watched = events;
}

bool rouse__window_prepare(struct rouse__window *window, rouse_loop *loop, rouse_source hook,
                           unsigned flags)
{
	bool blocked = false;

	rouse__window_let_go(window);
	if (!window->lost && window->x11)
		window->work = x11_prepare(window);
	else if (!window->lost)
		window->work = wayland_prepare(window, flags, &blocked);
	if (window->lost) {
		watch(window, loop, hook, 0);
		window->watched = 0; /* a closed descriptor's number is not asked about again */
		return !window->lost_told;
	}
	watch(window, loop, hook, ROUSE_READABLE | (blocked ? ROUSE_WRITABLE : 0u));
	return window->work;
}

bool rouse__window_check(struct rouse__window *window, const rouse_loop *loop, unsigned ready)
{
	rouse__window_let_go(window);
	if (window->lost)
		return !window->lost_told;
	bool came = window->work || (ready & ~(unsigned)ROUSE_WRITABLE) != 0 ||
	            (window->x11 && (XQLength(window->x11) > 0 || x11_unread(window)));
	if (came || window->due == ROUSE_NEVER)
		return came;
	return rouse_loop_now(loop) >= window->due;
}

void rouse__window_pumps(struct rouse__window *window, const rouse_loop *loop)
{
	rouse_ns now = rouse_loop_now(loop);
	bool ticks = window->period > 0 && window->period < ROUSE_NEVER - now;

	window->due = ticks ? now + window->period : ROUSE_NEVER;
}

void rouse__window_let_go(struct rouse__window *window)
{
	if (window->holding)
		wl_display_cancel_read(window->wayland);
	window->holding = false;
}

int rouse__window_enlist(const void **attached, const void *self)
{
	int result = ROUSE_EEXIST;

	rouse__display_lock();
	if (!*attached) {
		*attached = self;
		result = 0;
	}
	rouse__display_unlock();
	return result;
}

void rouse__window_delist(const void **attached, const void *self)
{
	rouse__display_lock();
	if (*attached == self)
		*attached = NULL;
	rouse__display_unlock();
}
