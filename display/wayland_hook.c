/* What is done around the wait; wayland_private.h has the protocol. */
#include "wayland_private.h"

#include <errno.h>

/* Until the next try of what has failed for want of memory, threads or descriptors. */
#define AGAIN_AFTER UINT64_C(10000000)

/* ---- The intent to read -------------------------------------------------------- */

static bool claim_for(struct rouse__wl *wl, const rouse_wayland *queue)
{
	if (queue->options.queue)
		return wl_display_prepare_read_queue(wl->display, queue->options.queue) == 0;
	return wl_display_prepare_read(wl->display) == 0;
}

bool rouse__wl_claim(struct rouse__wl *wl)
{
	bool held = false;

	for (const rouse_wayland *queue = wl->queues; queue; queue = queue->next) {
		if (queue->gone)
			continue;
		bool empty = claim_for(wl, queue);

		if (held)
			wl_display_cancel_read(wl->display);
		if (!empty)
			return false;
		held = true;
	}
	return held;
}

void rouse__wl_let_go(struct rouse__wl *wl)
{
	if (wl->holding)
		wl_display_cancel_read(wl->display);
	wl->holding = false;
}

/* ---- What there is to tell -------------------------------------------------------- */

static bool is_lost(const struct rouse__wl *wl)
{
	return wl_display_get_error(wl->display) != 0;
}

static bool untold(const struct rouse__wl *wl, const rouse_wayland *queue, bool lost)
{
	if (queue->gone || queue->told_lost)
		return false;
	return lost || queue->told_blocked != wl->blocked;
}

static bool any_untold(const struct rouse__wl *wl, bool lost)
{
	const rouse_wayland *queue = wl->queues;

	while (queue && !untold(wl, queue, lost))
		queue = queue->next;
	return queue != NULL;
}

static void tell_lost(struct rouse__wl *wl, rouse_wayland *queue)
{
	rouse_wayland_loss how = {.error = wl_display_get_error(wl->display)};

	how.code = wl_display_get_protocol_error(wl->display, &how.interface, &how.object);
	queue->told_lost = true;
	if (queue->options.lost)
		queue->options.lost(wl->loop, queue, &how, queue->options.data);
}

static void tell_blocked(struct rouse__wl *wl, rouse_wayland *queue)
{
	queue->told_blocked = wl->blocked;
	if (queue->options.pressure)
		queue->options.pressure(wl->loop, queue, wl->blocked, queue->options.data);
}

/* ---- Before the wait ------------------------------------------------------------- */

void rouse__wl_write_out(struct rouse__wl *wl)
{
	/* EPIPE: what the compositor had to say before it hung up is still to be read. */
	wl->blocked = wl_display_flush(wl->display) < 0 && errno == EAGAIN;
}

static bool watch(struct rouse__wl *wl, unsigned events)
{
	if (wl->watched == events)
		return true;
	if (rouse_fd_set_events(wl->loop, wl->hook, events) < 0)
		return false;
	wl->watched = events;
	return true;
}

static bool all_sole(const struct rouse__wl *wl)
{
	const rouse_wayland *queue = wl->queues;

	while (queue && (queue->gone || queue->options.sole_reader))
		queue = queue->next;
	return !queue;
}

/* Somebody waits for what comes, from here on.  False: nobody may do so all the time. */
static bool read_on(struct rouse__wl *wl, unsigned flags)
{
	bool empty = rouse__wl_claim(wl), hold = (flags & ROUSE_PREPARE_HOLD) != 0, on = true;

	wl->holding = empty;
	if (!hold || wl->reader.running)
		rouse__wl_let_go(wl);
	if (!empty)
		wl->work = true;
	if (!hold && !all_sole(wl))
		on = rouse__wl_reader_start(wl);
	if (empty && wl->reader.running)
		rouse__wl_reader_resume(wl);
	return on;
}

static rouse_ns prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	struct rouse__wl *wl = data;
	unsigned events = 0;
	bool done = true;

	(void)self;
	rouse__wl_let_go(wl);
	rouse__wl_write_out(wl);
	/* Suspended: what comes now cannot be dispatched, and the rest of it is not asked for. */
	if (wl->depth > 0)
		return ROUSE_NEVER;
	bool lost = is_lost(wl);
	wl->work = any_untold(wl, lost);
	if (!lost) {
		done = read_on(wl, flags);
		events |= wl->reader.running ? 0 : ROUSE_READABLE;
		events |= wl->blocked ? ROUSE_WRITABLE : 0;
	}
	done = watch(wl, events) && done;
	if (wl->work)
		return 0;
	return done ? ROUSE_NEVER : rouse_loop_now(loop) + AGAIN_AFTER;
}

/* ---- After it ---------------------------------------------------------------------- */

static int check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	struct rouse__wl *wl = data;
	bool readable = (ready & ~(unsigned)ROUSE_WRITABLE) != 0;

	(void)loop, (void)self;
	if (readable && !wl->holding && !wl->reader.running)
		wl->holding = rouse__wl_claim(wl);
	if (readable && wl->holding) {
		wl->holding = false;
		(void)wl_display_read_events(wl->display);
		return 1;
	}
	rouse__wl_let_go(wl);
	return wl->work || atomic_load_explicit(&wl->reader.paused, memory_order_acquire);
}

static int dispatch_queue(const struct rouse__wl *wl, const rouse_wayland *queue)
{
	int events;

	if (queue->options.queue)
		events = wl_display_dispatch_queue_pending(wl->display, queue->options.queue);
	else
		events = wl_display_dispatch_pending(wl->display);
	return events > 0 ? events : 0;
}

/* One queue's turn.  How many callbacks and listeners it called. */
static int serve(struct rouse__wl *wl, rouse_wayland *queue)
{
	int handled = 0;

	queue->round = wl->round;
	if (untold(wl, queue, false) && !is_lost(wl)) {
		tell_blocked(wl, queue);
		handled++;
	}
	/* Gone, its display may be, too. */
	if (!queue->gone)
		handled += dispatch_queue(wl, queue);
	if (!queue->gone && is_lost(wl) && untold(wl, queue, true)) {
		tell_lost(wl, queue);
		handled++;
	}
	return handled;
}

static rouse_wayland *next_in_round(const struct rouse__wl *wl)
{
	rouse_wayland *queue = wl->queues;

	while (queue && (queue->gone || queue->round == wl->round))
		queue = queue->next;
	return queue;
}

static int dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	struct rouse__wl *wl = data;
	rouse_wayland *queue;
	int handled = 0;

	(void)loop, (void)self;
	rouse__wl_enter(wl);
	wl->work = false;
	if (!next_in_round(wl))
		wl->round++;
	while (handled < (int)budget && (queue = next_in_round(wl)))
		handled += serve(wl, queue);
	rouse__wl_leave(wl);
	return handled;
}

int rouse__wl_hook_add(struct rouse__wl *wl)
{
	const rouse_hook hook = {.size = sizeof(hook),
	                         .fd = wl_display_get_fd(wl->display),
	                         .events = ROUSE_READABLE,
	                         .prepare = prepare,
	                         .check = check,
	                         .dispatch = dispatch,
	                         .release = rouse__wl_release};

	wl->watched = hook.events;
	return rouse_hook_add(wl->loop, &hook, wl, &wl->hook);
}
