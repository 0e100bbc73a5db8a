/* A GMainLoop that a worker thread posts lines to, and a timer of GLib's beside it. */
#include <rouse/glib.h>

#include <glib.h>

static void print_line(rouse_loop *loop, void *line)
{
	(void)loop;
	g_print("%s\n", (char *)line);
	g_free(line);
}

static gpointer work(gpointer remote)
{
	for (int i = 1; i <= 5; i++) {
		char *line = g_strdup_printf("line %d", i);

		if (rouse_post(remote, print_line, line, g_free) < 0)
			g_free(line); /* it is still ours */
		g_usleep(10000);
	}
	rouse_remote_stop(remote);
	return NULL;
}

static gboolean tick(gpointer ticks)
{
	++*(unsigned *)ticks;
	return G_SOURCE_CONTINUE;
}

static void done(rouse_loop *loop, int result, void *main_loop)
{
	(void)loop;
	if (result < 0)
		g_warning("%s", rouse_strerror(result));
	g_main_loop_quit(main_loop);
}

int main(void)
{
	GMainLoop *main_loop = g_main_loop_new(NULL, FALSE);
	const rouse_glib_options options = {
	        .size = sizeof options, .done = done, .data = main_loop};
	unsigned ticks = 0;
	rouse_loop *loop;

	if (rouse_loop_create(NULL, &loop) < 0 || rouse_glib_attach(loop, &options, NULL) < 0)
		return 1;
	rouse_remote *remote = rouse_loop_remote(loop);
	GThread *worker = g_thread_new("worker", work, remote);
	g_timeout_add(5, tick, &ticks);
	g_main_loop_run(main_loop);
	g_thread_join(worker);
	g_print("and %u ticks\n", ticks);
	rouse_remote_unref(remote);
	g_main_loop_unref(main_loop);
	return rouse_loop_destroy(loop);
}
