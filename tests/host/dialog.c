/* A callback of the loop's opens a toolkit's modal dialog, on a real server: while it is open the
 * loop's posts, timers and descriptors are served, and the window behind it is drawn; and the
 * dialog is one, and answers.  The picture is left beside the program. */
#include "display/turns.h"
#include "screen.h"
#include "toolkit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { UPDATES = 500, NEVER_SHOWN = 0x4321 };

struct dialog {
	rouse_remote *remote;
	struct screen *screen; /* the worker's */
	int pipe[2];
	atomic_bool open;
	/* While it is open. */
	atomic_uint shown, ticks, reads, refused;
	bool done; /* the loop's */
};

static void update(rouse_loop *loop, void *data)
{
	struct dialog *d = data;

	(void)loop;
	if (atomic_load(&d->open))
		toolkit_show(atomic_fetch_add(&d->shown, 1) + 1);
}

static void tick(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct dialog *d = data;

	(void)loop, (void)self, (void)deadline;
	if (atomic_load(&d->open))
		atomic_fetch_add(&d->ticks, 1);
}

static void readable(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct dialog *d = data;
	char byte;

	(void)loop, (void)self, (void)events;
	assert_int_equal(read(fd, &byte, 1), 1);
	if (atomic_load(&d->open))
		atomic_fetch_add(&d->reads, 1);
}

static void open_dialog(rouse_loop *loop, void *data)
{
	struct dialog *d = data;

	(void)loop;
	atomic_store(&d->open, true);
	toolkit_dialog();
	atomic_store(&d->open, false);
}

static void last(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct dialog *)data)->done = true;
}

static void rest(long milliseconds)
{
	nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static void until_seen(struct screen *screen, int x, int y, unsigned colour, bool is)
{
	while ((screen_pixel(screen, x, y) == colour) != is)
		rest(10);
}

/* In front of the screen, while the other thread is in the dialog.  What never comes is a hang. */
static void *person(void *data)
{
	struct dialog *d = data;
	char path[64];

	/* The dialog is what covers the window. */
	until_seen(d->screen, TOOLKIT_CLOSE_X, TOOLKIT_CLOSE_Y, toolkit_colour(NEVER_SHOWN), false);
	for (unsigned i = 0; i < UPDATES; i++) {
		rest(1);
		if (rouse_post(d->remote, update, d, NULL) < 0 || write(d->pipe[1], "x", 1) != 1)
			return d;
	}
	until_seen(d->screen, TOOLKIT_AREA_X, TOOLKIT_AREA_Y, toolkit_colour(UPDATES), true);
	while (atomic_load(&d->reads) < UPDATES || atomic_load(&d->ticks) < UPDATES / 5)
		rest(10);
	screen_click(d->screen, TOOLKIT_BUTTON_X, TOOLKIT_BUTTON_Y);
	rest(200);
	atomic_store(&d->refused, toolkit_clicks == 0);
	snprintf(path, sizeof path, "dialog_%s_%s.ppm", toolkit_name, screen_server());
	screen_save(d->screen, TOOLKIT_WIDTH, TOOLKIT_HEIGHT, path);
	while (atomic_load(&d->open)) {
		screen_click(d->screen, TOOLKIT_CLOSE_X, TOOLKIT_CLOSE_Y);
		rest(100);
	}
	/* It is gone from the screen; and the window behind it answers again. */
	until_seen(d->screen, TOOLKIT_CLOSE_X, TOOLKIT_CLOSE_Y, toolkit_colour(UPDATES), true);
	screen_click(d->screen, TOOLKIT_BUTTON_X, TOOLKIT_BUTTON_Y);
	return rouse_post(d->remote, last, d, NULL) < 0 ? d : NULL;
}

static void g3_a_modal_dialog_in_a_callback_of_the_loops(void **state)
{
	struct dialog d = {.screen = screen_open()};
	struct screen *eye = screen_open();
	unsigned drawn = 0;
	rouse_loop *loop;
	pthread_t thread;
	void *failed;
	int argc = 1;
	char *argv[] = {"dialog", NULL};

	(void)state;
	assert_int_equal(pipe(d.pipe), 0);
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	d.remote = rouse_loop_remote(loop);
	assert_int_equal(rouse_timer_add(loop, 0, 5 * MS, 0, tick, &d, NULL), 0);
	assert_int_equal(rouse_fd_add(loop, d.pipe[0], ROUSE_READABLE, readable, &d, NULL), 0);
	toolkit_open(&argc, argv, loop);
	toolkit_show(NEVER_SHOWN);
	toolkit_until_seen(eye, loop, NEVER_SHOWN);
	assert_true(rouse_post(d.remote, open_dialog, &d, NULL) >= 0);
	assert_int_equal(pthread_create(&thread, NULL, person, &d), 0);
	while (!d.done || toolkit_clicks == 0)
		toolkit_turn();
	pthread_join(thread, &failed);
	assert_null(failed);
	drawn = atomic_load(&d.shown);
	assert_int_equal(drawn, UPDATES);
	assert_true(atomic_load(&d.refused));
	assert_int_equal(toolkit_clicks, 1);
	toolkit_close();
	rouse_remote_unref(d.remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	close(d.pipe[0]);
	close(d.pipe[1]);
	screen_close(eye);
	screen_close(d.screen);
	screen_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(g3_a_modal_dialog_in_a_callback_of_the_loops),
	};

	screen_start(TOOLKIT_WIDTH, TOOLKIT_HEIGHT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
