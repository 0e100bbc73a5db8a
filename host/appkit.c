/*
 * A loop as the guest of an AppKit application.
 *
 * The main thread's run loop watches the loop's descriptor (carrier.h), turns the loop when that is
 * readable, and prepares it before each wait.  What these calls return is noted, and acted on in
 * `on_ready` alone, where anything may be done: the moment before a wait only asks for it.
 *
 * A stop that is to end a run is kept until there is one.  -stop: ends the innermost modal session,
 * if there is one, and takes effect when the session's loop looks, which is after an event: so one
 * of ours follows.  The stop stays asked for until no session is left, and then ends the run in the
 * same way.  A session is stopped once; while something else runs in it, a menu for one, the stop
 * waits with it and does not spin.
 *
 * A reference is one of the attachment's, of callers' on any thread, of each event that is queued,
 * and of each frame that user code may be under.
 */
#include "shared.h"

#include "appkit_native.h"
#include "carrier.h"

#include <rouse/appkit.h>
#include <rouse/pool.h>

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct rouse_appkit {
	struct rouse__attached attached;
	rouse_appkit *next; /* of all that are attached */
	rouse_appkit_options options;
	rouse_allocator allocator;
	rouse_remote *remote;
	rouse_waker *waker;             /* ends a wait */
	struct rouse__carrier *carrier; /* NULL: none, or no more */
	atomic_uint refs;
	atomic_bool gone;
	atomic_bool asked; /* for a stop that is not `done`'s */
	bool running;      /* in rouse_appkit_run() */
	bool ended;        /* that is to return */
	bool stopping;     /* a run is to end */
	bool stopped;      /* `done` is to be told */
	int failed;        /* and so it is of this */
	const void *modal; /* the session that was stopped last */
};

/* The main thread's. */
static rouse_appkit *all;

rouse_appkit *rouse_appkit_ref(rouse_appkit *appkit)
{
	atomic_fetch_add_explicit(&appkit->refs, 1, memory_order_relaxed);
	return appkit;
}

rouse_appkit *rouse_appkit_unref(rouse_appkit *appkit)
{
	if (appkit && atomic_fetch_sub_explicit(&appkit->refs, 1, memory_order_acq_rel) == 1) {
		const rouse_allocator allocator = appkit->allocator;

		rouse_remote_unref(appkit->remote);
		rouse_waker_unref(appkit->waker);
		allocator.free(appkit, sizeof *appkit, allocator.ctx);
	}
	return NULL;
}

static bool is_gone(rouse_appkit *appkit)
{
	return atomic_load_explicit(&appkit->gone, memory_order_acquire);
}

/* ---- Stops and errors ------------------------------------------------------------------- */

/* A call with the loop has returned this.  In a hook's pass it is not to be turned. */
static void note(rouse_appkit *appkit, int result)
{
	if (is_gone(appkit) || result == ROUSE_EBUSY)
		return;
	if (result < 0)
		appkit->failed = result;
	else if (rouse_loop_take_stop(appkit->attached.loop) <= 0)
		return;
	else if (atomic_exchange_explicit(&appkit->asked, false, memory_order_acq_rel) ||
	         appkit->running || !appkit->options.done)
		appkit->stopping = true;
	else
		appkit->stopped = true;
}

static bool may_stop(const rouse_appkit *appkit)
{
	const void *modal = rouse__app_modal();

	if (!appkit->stopping || !(appkit->running || rouse__app_runs()))
		return false;
	return !modal || modal != appkit->modal;
}

static bool is_to_act(const rouse_appkit *appkit)
{
	return appkit->failed || appkit->stopped || may_stop(appkit);
}

static void stop(rouse_appkit *appkit)
{
	appkit->modal = rouse__app_modal();
	if (!appkit->modal)
		appkit->stopping = false;
	if (!appkit->modal && appkit->running)
		appkit->ended = true;
	else
		rouse__app_stop();
	rouse__app_nudge();
}

static void close_carrier(rouse_appkit *appkit)
{
	if (appkit->carrier)
		rouse__carrier_close(appkit->carrier);
	appkit->carrier = NULL;
}

static void tell(rouse_appkit *appkit, int result)
{
	const rouse_appkit_options *options = &appkit->options;

	if (options->done)
		options->done(appkit->attached.loop, result, options->data);
}

static void act(rouse_appkit *appkit)
{
	if (is_gone(appkit))
		return;
	if (appkit->failed) {
		close_carrier(appkit);
		if (appkit->running)
			rouse__app_nudge();
		else
			tell(appkit, appkit->failed);
	} else if (appkit->stopped) {
		appkit->stopped = false;
		tell(appkit, 0);
	} else if (may_stop(appkit)) {
		stop(appkit);
	}
}

/* ---- What the run loop calls --------------------------------------------------------------- */

static void on_ready(void *data)
{
	rouse_appkit *appkit = rouse_appkit_ref(data);

	if (!is_to_act(appkit))
		note(appkit, rouse_loop_turn(appkit->attached.loop, 0));
	act(appkit);
	rouse_appkit_unref(appkit);
}

static int before_wait(void *data)
{
	rouse_appkit *appkit = rouse_appkit_ref(data);
	int wanted;

	note(appkit, rouse_loop_prepare(appkit->attached.loop, 0, NULL));
	wanted = !is_gone(appkit) && is_to_act(appkit);
	if (wanted)
		rouse_wake(appkit->waker);
	rouse_appkit_unref(appkit);
	return wanted;
}

/* ---- Attach and detach ------------------------------------------------------------------------
 */

static void unlink_it(rouse_appkit *appkit)
{
	rouse_appkit **link = &all;

	while (*link && *link != appkit)
		link = &(*link)->next;
	if (*link)
		*link = appkit->next;
}

/* Everything of an attachment ends here: detach, a failed attach, the end of the loop. */
static void release(rouse_loop *loop, void *data)
{
	rouse_appkit *appkit = data;

	(void)loop;
	rouse__host_released(&appkit->attached);
	atomic_store_explicit(&appkit->gone, true, memory_order_release);
	unlink_it(appkit);
	close_carrier(appkit);
	(void)rouse_waker_close(appkit->waker);
	if (appkit->running)
		rouse__app_nudge();
	rouse_appkit_unref(appkit);
}

static const rouse_appkit *listener(short subtype)
{
	const rouse_appkit *appkit = all;

	while (appkit && !(appkit->options.event && appkit->options.subtype == subtype))
		appkit = appkit->next;
	return appkit;
}

/* The struct of 0.1. */
#define LEAST_OPTIONS (offsetof(rouse_appkit_options, data) + sizeof(void *))

static int options_of(const rouse_appkit_options *options, rouse_appkit_options *copy)
{
	int error = rouse__host_options(copy, sizeof *copy, LEAST_OPTIONS, options);

	if (error)
		return error;
	if ((copy->modes && !copy->modes[0]) || copy->subtype == ROUSE__APP_NUDGE)
		return ROUSE_EINVAL;
	if (!copy->subtype)
		copy->subtype = ROUSE_APPKIT_SUBTYPE;
	return copy->event && listener(copy->subtype) ? ROUSE_EEXIST : 0;
}

static int may_attach(const rouse_loop *loop)
{
	int error = rouse__host_may_attach(loop);

	if (error)
		return error;
	if (!rouse__app_is_main_thread())
		return ROUSE_EWRONGTHREAD;
	return rouse__app_begin() ? 0 : ROUSE_ELOST;
}

static int start(rouse_appkit *appkit, rouse_loop *loop)
{
	const struct rouse__carried carried = {on_ready, before_wait, appkit};
	rouse_fd fd;
	int error = rouse_waker_create(loop, NULL, NULL, &appkit->waker);

	if (error) {
		rouse_appkit_unref(appkit);
		return error;
	}
	error = rouse__host_attach(&appkit->attached, loop, release, appkit, &fd);
	if (error)
		return error;
	appkit->next = all;
	all = appkit;
	appkit->carrier = rouse__carrier_open(fd, appkit->options.modes, &carried);
	appkit->options.modes = NULL; /* the caller's */
	if (appkit->carrier)
		return 0;
	(void)rouse_remove(loop, appkit->attached.hook);
	return ROUSE_ENOMEM;
}

int rouse_appkit_attach(rouse_loop *loop, const rouse_appkit_options *options,
                        rouse_appkit **ret_appkit)
{
	const rouse_allocator *allocator;
	rouse_appkit_options copy;
	rouse_appkit *appkit;
	int error = may_attach(loop);

	if (!error)
		error = options_of(options, &copy);
	if (error)
		return error;
	allocator = rouse_loop_allocator(loop);
	appkit = allocator->alloc(sizeof *appkit, allocator->ctx);
	if (!appkit)
		return ROUSE_ENOMEM;
	*appkit = (rouse_appkit){
	        .options = copy, .allocator = *allocator, .remote = rouse_loop_remote(loop)};
	atomic_init(&appkit->refs, 1);
	atomic_init(&appkit->gone, false);
	atomic_init(&appkit->asked, false);
	error = start(appkit, loop);
	if (error)
		return error;
	(void)rouse_pool_bridge_objc();
	if (ret_appkit)
		*ret_appkit = appkit;
	return 0;
}

int rouse_appkit_detach(rouse_appkit *appkit)
{
	return appkit ? rouse__host_detach(&appkit->attached) : 0;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

int rouse_appkit_run(rouse_appkit *appkit)
{
	static bool launched;
	int result;

	if (!appkit)
		return ROUSE_EINVAL;
	if (!rouse__app_is_main_thread())
		return ROUSE_EWRONGTHREAD;
	if (is_gone(appkit))
		return ROUSE_ECLOSED;
	if (appkit->running || rouse__app_runs())
		return ROUSE_EBUSY;
	rouse_appkit_ref(appkit);
	appkit->running = true;
	appkit->ended = false;
	if (!launched && !appkit->failed) {
		launched = true;
		rouse__app_launch();
	}
	while (!appkit->ended && !appkit->failed && !is_gone(appkit))
		rouse__app_next_event();
	appkit->running = false;
	result = is_gone(appkit) ? ROUSE_ECLOSED : appkit->failed;
	rouse_appkit_unref(appkit);
	return result;
}

int rouse_appkit_stop(rouse_appkit *appkit)
{
	if (!appkit)
		return ROUSE_EINVAL;
	if (is_gone(appkit))
		return ROUSE_ECLOSED;
	atomic_store_explicit(&appkit->asked, true, memory_order_release);
	return rouse_remote_stop(appkit->remote);
}

/* ---- Events ------------------------------------------------------------------------------------
 */

int rouse__appkit_deliver(short subtype, int64_t data1, int64_t data2)
{
	rouse_appkit *appkit = all;

	while (appkit && !(appkit->options.event && appkit->options.subtype == subtype))
		appkit = appkit->next;
	if (!appkit)
		return 0;
	rouse_appkit_ref(appkit);
	appkit->options.event(appkit->attached.loop, data1, data2, appkit->options.data);
	rouse_appkit_unref(appkit);
	return 1;
}

/* For the main thread to post. */
struct event {
	rouse_task task; /* first */
	rouse_appkit *appkit;
	int64_t data1, data2;
};

static void free_event(rouse_task *task)
{
	struct event *event = (struct event *)task;
	rouse_appkit *appkit = event->appkit;

	appkit->allocator.free(event, sizeof *event, appkit->allocator.ctx);
	rouse_appkit_unref(appkit);
}

static void post_event(rouse_loop *loop, rouse_task *task)
{
	const struct event *event = (const struct event *)task;

	(void)loop;
	if (!is_gone(event->appkit))
		rouse__app_post(event->appkit->options.subtype, event->data1, event->data2);
	free_event(task);
}

static int queue_event(rouse_appkit *appkit, int64_t data1, int64_t data2)
{
	struct event *event = appkit->allocator.alloc(sizeof *event, appkit->allocator.ctx);
	int error;

	if (!event)
		return ROUSE_ENOMEM;
	*event = (struct event){.task = {.run = post_event, .cancel = free_event},
	                        .appkit = rouse_appkit_ref(appkit),
	                        .data1 = data1,
	                        .data2 = data2};
	error = rouse_post_task(appkit->remote, &event->task);
	if (error < 0)
		free_event(&event->task);
	return error;
}

int rouse_appkit_post(rouse_appkit *appkit, int64_t data1, int64_t data2)
{
	if (!appkit || !appkit->options.event)
		return ROUSE_EINVAL;
	if (is_gone(appkit))
		return ROUSE_ECLOSED;
	if ((intptr_t)data1 != data1 || (intptr_t)data2 != data2)
		return ROUSE_ENOTSUP;
	if (!ROUSE__APP_POST_ANYWHERE)
		return queue_event(appkit, data1, data2);
	return rouse__app_post(appkit->options.subtype, data1, data2) ? 0 : ROUSE_ENOTSUP;
}
