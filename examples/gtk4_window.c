/* A GTK 4 window that a worker thread posts to 20 times: a label and a bar say how far it is. */
#include <rouse/glib.h>

#include <gtk/gtk.h>

enum { STEPS = 20 };

struct app {
	rouse_loop *loop;
	GThread *worker;
	GtkWidget *label, *bar;
	unsigned steps; /* the main thread's: a post is never merged with another */
};

static void step(rouse_loop *loop, void *data)
{
	struct app *app = data;
	char *text = g_strdup_printf("step %u of %d", ++app->steps, STEPS);

	(void)loop;
	gtk_label_set_text(GTK_LABEL(app->label), text);
	gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(app->bar), app->steps / (double)STEPS);
	g_free(text);
}

static gpointer work(gpointer data)
{
	struct app *app = data;
	rouse_remote *remote = rouse_loop_remote(app->loop);

	for (int i = 0; i < STEPS && rouse_post(remote, step, app, NULL) >= 0; i++)
		g_usleep(20000);
	rouse_remote_stop(remote);
	return rouse_remote_unref(remote);
}

/* The worker has stopped the loop; or something is wrong with it. */
static void done(rouse_loop *loop, int result, void *gtk)
{
	(void)loop;
	if (result < 0)
		g_warning("%s", rouse_strerror(result));
	g_application_quit(gtk);
}

static void activate(GtkApplication *gtk, gpointer data)
{
	const rouse_glib_options options = {.size = sizeof options, .done = done, .data = gtk};
	struct app *app = data;
	GtkWidget *window = gtk_application_window_new(gtk);
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);

	app->label = gtk_label_new("not begun");
	app->bar = gtk_progress_bar_new();
	gtk_box_append(GTK_BOX(box), app->label);
	gtk_box_append(GTK_BOX(box), app->bar);
	gtk_window_set_child(GTK_WINDOW(window), box);
	gtk_window_present(GTK_WINDOW(window));
	if (rouse_glib_attach(app->loop, &options, NULL) < 0)
		g_error("the loop does not join the main context");
	app->worker = g_thread_new("worker", work, app);
}

int main(int argc, char **argv)
{
	struct app app = {.loop = NULL};
	GtkApplication *gtk = gtk_application_new("org.example.rouse", G_APPLICATION_NON_UNIQUE);

	if (rouse_loop_create(NULL, &app.loop) < 0)
		return 1;
	g_signal_connect(gtk, "activate", G_CALLBACK(activate), &app);
	int status = g_application_run(G_APPLICATION(gtk), argc, argv);
	if (app.worker)
		g_thread_join(app.worker);
	g_print("%u steps\n", app.steps);
	g_object_unref(gtk);
	return rouse_loop_destroy(app.loop) < 0 ? 1 : status;
}
