/*
 * A loop as the guest of a GMainContext, which calls its sources in order of priority:
 *
 *   prepare   all of them, lowest number first, until one is ready: then none of a higher number
 *   poll      for the least of their timeouts, and for all of their descriptors
 *   check     in the same order, none of a higher number than one that is ready
 *   dispatch  all of the lowest number that is ready
 *
 * The bracket is a source of the lowest number, so that it is prepared before each wait and checked
 * after it, whatever else is ready.  It is never ready itself: nothing of a higher number would
 * run beside it.  The loop's deadline is the timeout of its prepare and not a ready time, and its
 * descriptor is one of g_source_add_poll(), whose answer is left to check: the other ways make a
 * source ready.  The work source runs what the bracket's check has gathered, at the caller's
 * priority.  It may recurse, because any callback may run the context from inside.
 *
 * Where GLib skips the check (the set of descriptors changed during the wait) the next prepare
 * comes without one, as the loop allows.  Where a source of a lower number keeps the work source
 * waiting, what was gathered stays so; prepare then says that there is no time to sleep.
 *
 * Neither source is freed before GLib has left its functions, so that any callback may detach.
 */
#include "shared.h"

#include <rouse/glib.h>

#include <glib.h>
#include <limits.h>
#include <stddef.h>

/* The work source. */
struct rouse_glib {
	GSource source; /* first */
	struct rouse__attached attached;
	rouse_glib_options options;
	GSource *bracket;
	gboolean gathered;
	gboolean stopped; /* to be told */
	int failed;       /* an error to be told */
};

struct bracket {
	GSource source; /* first */
	GPollFD fd;
	rouse_glib *glib; /* a reference */
};

static gboolean to_tell(const rouse_glib *glib)
{
	return glib->stopped || glib->failed;
}

/* A call with the loop has returned this.  In a hook's pass it is not to be turned. */
static void note(rouse_glib *glib, int result)
{
	if (result < 0 && result != ROUSE_EBUSY)
		glib->failed = result;
	else if (glib->options.done && rouse_loop_take_stop(glib->attached.loop) > 0)
		glib->stopped = TRUE;
}

/* ---- The bracket --------------------------------------------------------------- */

/* Rounded up: a wait that ends before the deadline does nothing. */
static int milliseconds_until(rouse_ns deadline)
{
	rouse_ns now = rouse_now(), ms;

	if (deadline == ROUSE_NEVER)
		return -1;
	if (deadline <= now)
		return 0;
	ms = (deadline - now - 1) / 1000000 + 1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static gboolean bracket_prepare(GSource *source, int *timeout)
{
	rouse_glib *glib = ((struct bracket *)source)->glib;
	rouse_ns deadline = ROUSE_NEVER;
	int error = rouse_loop_prepare(glib->attached.loop, 0, &deadline);

	/* Hooks of displays run under it, and may have detached. */
	if (g_source_is_destroyed(source))
		return FALSE;
	note(glib, error);
	*timeout = to_tell(glib) ? 0 : milliseconds_until(deadline);
	return FALSE;
}

static gboolean bracket_check(GSource *source)
{
	struct bracket *bracket = (struct bracket *)source;
	rouse_glib *glib = bracket->glib;
	int work = rouse_loop_check(glib->attached.loop, bracket->fd.revents != 0);

	if (g_source_is_destroyed(source))
		return FALSE;
	glib->gathered = work > 0;
	note(glib, work);
	return FALSE;
}

static gboolean bracket_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	(void)source, (void)callback, (void)data;
	return G_SOURCE_CONTINUE;
}

static void bracket_finalize(GSource *source)
{
	g_source_unref(&((struct bracket *)source)->glib->source);
}

static GSourceFuncs bracket_funcs = {
        .prepare = bracket_prepare,
        .check = bracket_check,
        .dispatch = bracket_dispatch,
        .finalize = bracket_finalize,
};

/* ---- The work -------------------------------------------------------------------- */

static gboolean work_check(GSource *source)
{
	const rouse_glib *glib = (rouse_glib *)source;

	return glib->gathered || to_tell(glib);
}

static void quit(rouse_glib *glib)
{
	g_source_destroy(glib->bracket);
	g_source_destroy(&glib->source);
}

static void tell(rouse_glib *glib)
{
	rouse_glib_options *options = &glib->options;
	int result = glib->failed;

	glib->failed = 0;
	glib->stopped = FALSE;
	if (result)
		quit(glib);
	if (options->done)
		options->done(glib->attached.loop, result, options->data);
	else
		g_critical("rouse_loop: %s", rouse_strerror(result));
}

static gboolean work_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	rouse_glib *glib = (rouse_glib *)source;

	(void)callback, (void)data;
	if (glib->gathered) {
		int ran;

		glib->gathered = FALSE;
		ran = rouse_loop_dispatch(glib->attached.loop);
		if (g_source_is_destroyed(source))
			return G_SOURCE_REMOVE;
		note(glib, ran);
	}
	if (to_tell(glib))
		tell(glib);
	return G_SOURCE_CONTINUE;
}

static GSourceFuncs work_funcs = {.check = work_check, .dispatch = work_dispatch};

/* ---- Attach and detach --------------------------------------------------------------- */

/* Everything of an attachment ends here: detach, and the end of the loop. */
static void release(rouse_loop *loop, void *data)
{
	rouse_glib *glib = data;

	(void)loop;
	rouse__host_released(&glib->attached);
	quit(glib);
	g_source_unref(glib->bracket);
	g_source_unref(&glib->source);
}

static GSource *bracket_of(rouse_glib *glib)
{
	GSource *source = g_source_new(&bracket_funcs, sizeof(struct bracket));
	struct bracket *bracket = (struct bracket *)source;

	bracket->glib = glib;
	g_source_ref(&glib->source);
	g_source_set_priority(source, G_MININT);
	g_source_set_name(source, "rouse: around the wait");
	return source;
}

static rouse_glib *glib_of(const rouse_glib_options *options)
{
	GSource *source = g_source_new(&work_funcs, sizeof(rouse_glib));
	rouse_glib *glib = (rouse_glib *)source;

	glib->options = *options;
	g_source_set_priority(source, options->priority);
	g_source_set_can_recurse(source, TRUE);
	g_source_set_name(source, "rouse: callbacks");
	glib->bracket = bracket_of(glib);
	return glib;
}

/* Whose thread iterates it now, if any. */
static int is_of_another_thread(GMainContext *context)
{
	if (!g_main_context_acquire(context))
		return 1;
	g_main_context_release(context);
	return 0;
}

/* The struct of 0.1. */
#define LEAST_OPTIONS (offsetof(rouse_glib_options, data) + sizeof(void *))

int rouse_glib_attach(rouse_loop *loop, const rouse_glib_options *options, rouse_glib **ret_glib)
{
	rouse_glib_options copy;
	struct bracket *bracket;
	rouse_glib *glib;
	int error = rouse__host_options(&copy, sizeof copy, LEAST_OPTIONS, options);

	if (error)
		return error;
	error = rouse__host_may_attach(loop);
	if (error)
		return error;
	if (!copy.context)
		copy.context = g_main_context_get_thread_default();
	if (is_of_another_thread(copy.context))
		return ROUSE_EWRONGTHREAD;
	glib = glib_of(&copy);
	bracket = (struct bracket *)glib->bracket;
	bracket->fd.events = G_IO_IN;
	error = rouse__host_attach(&glib->attached, loop, release, glib, &bracket->fd.fd);
	if (error)
		return error;
	g_source_add_poll(glib->bracket, &bracket->fd);
	g_source_attach(glib->bracket, copy.context);
	g_source_attach(&glib->source, copy.context);
	if (ret_glib)
		*ret_glib = glib;
	return 0;
}

int rouse_glib_detach(rouse_glib *glib)
{
	return glib ? rouse__host_detach(&glib->attached) : 0;
}
