/* What runs in GLib between our prepare and the wait: the prepare of every other source. */
#include "display/weston.h"
#include "display/wl_fixture.h"

#include <rouse/glib.h>

#include <glib.h>
#include <poll.h>

static struct weston server;

struct meddler {
	GSource source; /* first */
	struct wl_fixture *f;
	struct wl_event_queue *queue; /* its own; so ours gets what it reads, and no more */
	unsigned in_prepare, in_check;
	bool holding; /* that intent */
};

static gboolean meddle_in_prepare(GSource *source, int *timeout)
{
	struct meddler *m = (struct meddler *)source;

	*timeout = -1;
	assert_true(wl_display_roundtrip_queue(m->f->display, m->queue) >= 0);
	m->in_prepare++;
	return FALSE;
}

static gboolean meddle_in_check(GSource *source)
{
	struct meddler *m = (struct meddler *)source;

	assert_true(wl_display_roundtrip_queue(m->f->display, m->queue) >= 0);
	m->in_check++;
	return FALSE;
}

static gboolean no_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	(void)source, (void)callback, (void)data;
	return G_SOURCE_CONTINUE;
}

static void with_meddler(GSourceFuncs *funcs, int priority)
{
	const rouse_loop_options epoll = {.size = sizeof epoll, .poller = "epoll"};
	unsigned count = fixture_scaled(300);
	struct wl_fixture f;
	rouse_glib *glib;

	wl_fixture_open(&f, NULL, &epoll);
	assert_int_equal(rouse_glib_attach(f.loop, NULL, &glib), 0);
	GSource *source = g_source_new(funcs, sizeof(struct meddler));
	struct meddler *m = (struct meddler *)source;
	m->f = &f;
	m->queue = wl_display_create_queue(f.display);
	g_source_set_priority(source, priority);
	g_source_attach(source, NULL);
	for (unsigned i = 1; i <= count; i++) {
		wl_fixture_ask(&f);
		while (f.events < i)
			g_main_context_iteration(NULL, TRUE);
	}
	assert_true(m->in_prepare + m->in_check >= count);
	wl_event_queue_destroy(m->queue);
	g_source_destroy(source);
	g_source_unref(source);
	assert_int_equal(rouse_glib_detach(glib), 0);
	wl_fixture_close(&f);
}

static void y4_round_trips_in_the_prepare_of_another_source(void **state)
{
	static GSourceFuncs funcs = {.prepare = meddle_in_prepare, .dispatch = no_dispatch};

	(void)state;
	with_meddler(&funcs, G_PRIORITY_DEFAULT);
	with_meddler(&funcs, G_MININT);
}

static void y4_round_trips_in_the_check_of_another_source(void **state)
{
	static GSourceFuncs funcs = {.check = meddle_in_check, .dispatch = no_dispatch};

	(void)state;
	with_meddler(&funcs, G_PRIORITY_DEFAULT);
	with_meddler(&funcs, G_MININT);
}

/* GDK's way with its own display: an intent of this thread's, held over the wait. */
static gboolean hold_in_prepare(GSource *source, int *timeout)
{
	struct meddler *m = (struct meddler *)source;

	*timeout = -1;
	if (m->holding)
		wl_display_cancel_read(m->f->display);
	m->holding = wl_display_prepare_read(m->f->display) == 0;
	wl_display_flush(m->f->display);
	m->in_prepare++;
	return !m->holding;
}

static gboolean read_in_check(GSource *source)
{
	struct meddler *m = (struct meddler *)source;
	struct pollfd fd = {.fd = wl_display_get_fd(m->f->display), .events = POLLIN};

	if (m->holding && poll(&fd, 1, 0) == 1)
		wl_display_read_events(m->f->display);
	else if (m->holding)
		wl_display_cancel_read(m->f->display);
	m->holding = false;
	return TRUE;
}

static gboolean dispatch_pending(GSource *source, GSourceFunc callback, gpointer data)
{
	(void)callback, (void)data;
	wl_display_dispatch_pending(((struct meddler *)source)->f->display);
	return G_SOURCE_CONTINUE;
}

/* The toolkit's display, and in the loop a queue of ours on it: no sole reader. */
static void y2_a_toolkit_that_reads_the_same_display(void **state)
{
	static GSourceFuncs funcs = {
	        .prepare = hold_in_prepare, .check = read_in_check, .dispatch = dispatch_pending};
	const rouse_loop_options epoll = {.size = sizeof epoll, .poller = "epoll"};
	unsigned count = fixture_scaled(1000);
	struct wl_fixture toolkit, own;
	rouse_glib *glib;
	GSource *source;
	GPollFD fd;

	(void)state;
	wl_fixture_open(&toolkit, NULL, &epoll);
	wl_fixture_open_queue(&own, &toolkit);
	wl_fixture_detach(&toolkit);
	assert_int_equal(rouse_glib_attach(own.loop, NULL, &glib), 0);
	source = g_source_new(&funcs, sizeof(struct meddler));
	((struct meddler *)source)->f = &toolkit;
	fd = (GPollFD){.fd = wl_display_get_fd(toolkit.display), .events = G_IO_IN};
	g_source_add_poll(source, &fd);
	g_source_attach(source, NULL);
	for (unsigned i = 1; i <= count; i++) {
		wl_fixture_ask(&own);
		wl_fixture_ask(&toolkit);
		while (own.events < i || toolkit.events < i)
			g_main_context_iteration(NULL, TRUE);
	}
	if (((struct meddler *)source)->holding)
		wl_display_cancel_read(toolkit.display);
	g_source_destroy(source);
	g_source_unref(source);
	assert_int_equal(rouse_glib_detach(glib), 0);
	wl_fixture_close(&own);
	wl_fixture_close(&toolkit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(y4_round_trips_in_the_prepare_of_another_source),
	        cmocka_unit_test(y4_round_trips_in_the_check_of_another_source),
	        cmocka_unit_test(y2_a_toolkit_that_reads_the_same_display),
	};

	weston_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
