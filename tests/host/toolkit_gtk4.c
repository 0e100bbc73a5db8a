#include "toolkit.h"

#include "screen.h"

#include <rouse/glib.h>

/* GtkDialog is, from GTK 4.10 on. */
#define GDK_DISABLE_DEPRECATION_WARNINGS
#include <gtk/gtk.h>
#include <stdlib.h>
#include <string.h>

const char *const toolkit_name = "gtk4";
unsigned toolkit_clicks;

static GtkWidget *window, *area, *label;
static unsigned shown;

static void draw(GtkDrawingArea *self, cairo_t *cairo, int width, int height, gpointer data)
{
	unsigned colour = toolkit_colour(shown);

	(void)self, (void)width, (void)height, (void)data;
	cairo_set_source_rgb(cairo, (colour >> 16) / 255.0, (colour >> 8 & 255) / 255.0,
	                     (colour & 255) / 255.0);
	cairo_paint(cairo);
}

static void clicked(GtkButton *button, gpointer data)
{
	(void)button, (void)data;
	toolkit_clicks++;
}

void toolkit_open(int *argc, char **argv, rouse_loop *loop)
{
	(void)argc, (void)argv;
	setenv("GDK_BACKEND", screen_system, 1);
	setenv("GSK_RENDERER", "cairo", 1);
	setenv("GTK_A11Y", "none", 1);
	if (!gtk_init_check() || rouse_glib_attach(loop, NULL, NULL))
		abort();
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
	GtkWidget *button = gtk_button_new();

	window = gtk_window_new();
	area = gtk_drawing_area_new();
	label = gtk_label_new("0");
	gtk_button_set_child(GTK_BUTTON(button), label);
	gtk_widget_set_size_request(area, TOOLKIT_WIDTH / 2, TOOLKIT_HEIGHT);
	gtk_widget_set_size_request(button, TOOLKIT_WIDTH / 2, TOOLKIT_HEIGHT);
	gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw, NULL, NULL);
	g_signal_connect(button, "clicked", G_CALLBACK(clicked), NULL);
	gtk_box_append(GTK_BOX(box), area);
	gtk_box_append(GTK_BOX(box), button);
	gtk_window_set_child(GTK_WINDOW(window), box);
	gtk_window_set_decorated(GTK_WINDOW(window), FALSE);
	if (strcmp(screen_system, "x11"))
		gtk_window_fullscreen(GTK_WINDOW(window));
	gtk_window_present(GTK_WINDOW(window));
}

void toolkit_turn(void)
{
	g_main_context_iteration(NULL, TRUE);
}

void toolkit_show(unsigned number)
{
	char text[16];

	shown = number;
	g_snprintf(text, sizeof text, "%u", number);
	gtk_label_set_text(GTK_LABEL(label), text);
	gtk_widget_queue_draw(area);
}

static void answered(GtkDialog *dialog, int response, gpointer nested)
{
	(void)dialog, (void)response;
	g_main_loop_quit(nested);
}

void toolkit_dialog(void)
{
	GMainLoop *nested = g_main_loop_new(NULL, FALSE);
	GtkWidget *dialog =
	        gtk_dialog_new_with_buttons(NULL, GTK_WINDOW(window), GTK_DIALOG_MODAL, NULL, NULL);
	GtkWidget *close = gtk_dialog_add_button(GTK_DIALOG(dialog), "Close", GTK_RESPONSE_CLOSE);

	gtk_widget_set_size_request(close, TOOLKIT_CLOSE_X * 2, TOOLKIT_CLOSE_Y);
	gtk_window_set_decorated(GTK_WINDOW(dialog), FALSE);
	g_signal_connect(dialog, "response", G_CALLBACK(answered), nested);
	gtk_window_present(GTK_WINDOW(dialog));
	g_main_loop_run(nested);
	gtk_window_destroy(GTK_WINDOW(dialog));
	g_main_loop_unref(nested);
}

void toolkit_close(void)
{
	gtk_window_destroy(GTK_WINDOW(window));
	while (g_main_context_iteration(NULL, FALSE))
		;
}
