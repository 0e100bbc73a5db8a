/*
 * The loop as a guest of AppKit, here GNUstep's, with a window of the application's on X11, and
 * the application's own ways to be woken: an event, a call on the main thread, a descriptor in its
 * run loop.
 *
 * There is one application in a process, and its window's library is its loop's: the window is
 * opened first, and the host is what has been attached for it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <rouse/appkit.h>

#include "bench/display.h"
#include "bench/display/x11_server.h"
#include "bench/host.h"
#include "bench/host/appkit_app.h"
#include "bench/host/stamps.h"
#include "interrupt.h"
#include "tool.h"

struct application {
	struct window window;
	struct host host;
	rouse_appkit *appkit;
	struct app_window *shown;
	unsigned draws;
};

static struct application *application;

static bool is_gone(struct application *a)
{
	if (!a->window.lost && x11_found_dead())
		window_lost(&a->window);
	return a->window.lost;
}

static void on_drawn(void *data)
{
	struct application *a = data;

	a->draws++;
	events_add(a->window.events, EVENT_EXPOSE, NULL, NULL, 0);
}

static void on_event(rouse_loop *loop, int64_t data1, int64_t data2, void *data)
{
	struct stamp *stamp = (struct stamp *)(intptr_t)data1;
	rouse_ns now = rouse_loop_now(loop);

	(void)data2;
	(void)data;
	stamps_answer(stamp, now);
}

/* After a server that is gone, or does not answer, AppKit would wait for it. */
static void close_window(struct window *window)
{
	struct application *a = (struct application *)window;

	rouse_appkit_detach(a->appkit);
	if (a->shown && !a->window.lost && x11_answers(app_display()))
		app_window_close(a->shown);
	x11_set_variable(NULL);
	application = NULL;
	free(a);
}

static bool wait_until_drawn(struct application *a)
{
	rouse_ns give_up = rouse_now() + 5 * TOOL_NS_PER_SEC;

	while (a->draws == 0 && !interrupt_caught() && !is_gone(a) && rouse_now() < give_up)
		app_turn(rouse_now() + TOOL_NS_PER_SEC / 10);
	if (a->draws == 0 && a->window.lost)
		tool_complain("the X server went away");
	else if (a->draws == 0 && !interrupt_caught())
		tool_complain("the window was not shown within 5 s");
	return a->draws > 0;
}

/*
 * GNUstep starts a daemon with an application, which has our output open for as long: whoever reads
 * that to its end would wait for the daemon.  And it takes two signals, which are to end the run.
 */
static int attach(struct application *a)
{
	const rouse_appkit_options options = {.size = sizeof options, .event = on_event};
	static const int signals[] = {SIGINT, SIGTERM};
	struct sigaction before[2];
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int rc;

	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	for (int i = 0; i < 2; i++)
		sigaction(signals[i], NULL, &before[i]);
	rc = rouse_appkit_attach(a->window.loop, &options, &a->appkit);
	for (int i = 0; i < 2; i++)
		sigaction(signals[i], &before[i], NULL);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(null);
	return rc;
}

static int open_application(struct application *a, const char *display)
{
	int rc;

	app_begin();
	x11_set_variable(display);
	rc = attach(a);
	if (rc == ROUSE_ELOST)
		tool_complain("AppKit has no window on the X display '%s'", display);
	else if (rc < 0)
		tool_complain("cannot attach the loop to AppKit: %s", rouse_strerror(rc));
	if (rc < 0)
		return rc;
	x11_stay_early();
	x11_stay(app_display());
	a->shown = app_window_open(on_drawn, a);
	events_add(a->window.events, EVENT_WINDOW, NULL, NULL, 0);
	if (!wait_until_drawn(a))
		return ROUSE_ELOST;
	x11_server_name(app_display(), &a->window);
	return 0;
}

static int open_window(rouse_loop *loop, const char *display, struct events *events,
                       struct window **ret_window)
{
	struct application *a = calloc(1, sizeof *a);
	int rc;

	if (!a) {
		tool_complain("no memory for the window");
		return ROUSE_ENOMEM;
	}
	a->window.loop = loop;
	a->window.events = events;
	rc = open_application(a, display);
	if (rc < 0) {
		close_window(&a->window);
		return rc;
	}
	application = a;
	*ret_window = &a->window;
	return 0;
}

/* The run loop looks at a dead connection again and again, and tells nobody. */
static void refresh(struct window *window)
{
	struct application *a = (struct application *)window;

	if (!is_gone(a))
		app_window_dirty(a->shown);
}

const struct display_ops display_appkit = {
        .loop = "appkit",
        .name = "X11 display for AppKit",
        .server = "the X server",
        .variable = "DISPLAY",
        .x11 = true,
        .program = "Xvfb",
        .package = "xvfb",
        .start = x11_server_start,
        .stop = x11_server_stop,
        .open = open_window,
        .close = close_window,
        .tick = refresh,
        .load = &load_x11,
};

/* ---- The host -------------------------------------------------------------------------- */

static int appkit_open(rouse_loop *loop, struct host **ret_host)
{
	application->host.loop = loop;
	app_version(application->host.library, sizeof application->host.library);
	*ret_host = &application->host;
	return 0;
}

static int appkit_run(struct host *host)
{
	(void)host;
	return rouse_appkit_run(application->appkit);
}

static void appkit_turn(struct host *host, rouse_ns until)
{
	(void)host;
	app_turn(until);
}

/* The window's to do. */
static void appkit_close(struct host *host)
{
	(void)host;
}

const struct host_ops host_appkit = {
        .open = appkit_open, .run = appkit_run, .turn = appkit_turn, .close = appkit_close};

/* ---- postevent ------------------------------------------------------------------------- */

static int postevent_fire(struct mech *m, rouse_ns stamp)
{
	intptr_t sent = (intptr_t)stamps_take(m, stamp);

	return rouse_appkit_post(application->appkit, sent, 0);
}

/* What is queued still goes to an attachment that is no more, and is nobody's. */
static void postevent_close(struct mech *m)
{
	free(m->handle);
}

const struct mech_ops mech_postevent = {
        .name = "postevent",
        .summary = "an application-defined NSEvent, by rouse_appkit_post()",
        .host = &host_appkit,
        .open = stamps_open,
        .fire = postevent_fire,
        .close = postevent_close,
};

/* ---- performselector ------------------------------------------------------------------- */

static struct app_target *target;

static void on_performed(void *data)
{
	struct stamp *stamp = data;
	rouse_ns now = rouse_loop_now(stamp->m->loop);

	stamps_answer(stamp, now);
}

static int performselector_open(struct mech *m)
{
	int rc = stamps_open(m);

	if (rc == 0)
		target = app_target_open(on_performed);
	return rc;
}

static int performselector_fire(struct mech *m, rouse_ns stamp)
{
	app_target_perform(target, stamps_take(m, stamp));
	return 0;
}

static void performselector_close(struct mech *m)
{
	app_target_close(target);
	free(m->handle);
}

const struct mech_ops mech_performselector = {
        .name = "performselector",
        .summary = "performSelectorOnMainThread:, with a pool for its objects",
        .host = &host_appkit,
        .open = performselector_open,
        .fire = performselector_fire,
        .close = performselector_close,
};

/* ---- descriptor ------------------------------------------------------------------------ */

static void on_readable(void *data)
{
	struct mech *m = data;
	rouse_ns now = rouse_loop_now(m->loop);
	eventfd_t count;

	if (eventfd_read(m->fd[0], &count) == 0)
		meter_answer_all(&m->meter, now, 0);
}

static int descriptor_open(struct mech *m)
{
	m->fd[0] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (m->fd[0] < 0)
		return ROUSE_EOS;
	m->handle = app_watch_open(m->fd[0], on_readable, m);
	return 0;
}

static int descriptor_fire(struct mech *m, rouse_ns stamp)
{
	(void)stamp;
	return eventfd_write(m->fd[0], 1) < 0 ? ROUSE_EOS : 0;
}

static void descriptor_close(struct mech *m)
{
	app_watch_close(m->handle);
	close(m->fd[0]);
}

const struct mech_ops mech_descriptor = {
        .name = "descriptor",
        .summary = "an eventfd that the application's run loop watches itself",
        .host = &host_appkit,
        .open = descriptor_open,
        .fire = descriptor_fire,
        .close = descriptor_close,
};
