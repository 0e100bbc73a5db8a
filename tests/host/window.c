/* A toolkit's window while another thread posts a thousand updates a second: it shows the last
 * one, and answers a click meanwhile.  The picture is left beside the program. */
#include "display/turns.h"
#include "screen.h"
#include "toolkit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { LEAST_UPDATES = 1000 };

struct worker {
	rouse_remote *remote;
	struct screen *screen;
	atomic_uint clicks;
	unsigned updates; /* this thread's */
	unsigned shown;   /* the loop's */
	bool done;        /* the loop's */
};

static void update(rouse_loop *loop, void *data)
{
	struct worker *w = data;

	(void)loop;
	toolkit_show(++w->shown);
}

static void last(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct worker *)data)->done = true;
}

/* Until a click was answered while it goes on, where there is a pointer. */
static void *work(void *data)
{
	struct worker *w = data;

	bool clicks = screen_has_pointer(w->screen);

	while (w->updates < LEAST_UPDATES || (clicks && atomic_load(&w->clicks) == 0)) {
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		if (w->updates++ % 500 == 250 && clicks)
			screen_click(w->screen, TOOLKIT_BUTTON_X, TOOLKIT_BUTTON_Y);
		if (rouse_post(w->remote, update, w, NULL) < 0)
			return w;
	}
	return rouse_post(w->remote, last, w, NULL) < 0 ? w : NULL;
}

static void a_thousand_updates_a_second_and_a_click(void **state)
{
	struct worker w = {.screen = screen_open()};
	struct screen *eye = screen_open();
	rouse_loop *loop;
	pthread_t thread;
	char path[64];
	void *failed;
	int argc = 1;
	char *argv[] = {"window", NULL};

	(void)state;
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	w.remote = rouse_loop_remote(loop);
	toolkit_open(&argc, argv, loop);
	toolkit_show(0x1234);
	toolkit_until_seen(eye, loop, 0x1234);
	assert_int_equal(pthread_create(&thread, NULL, work, &w), 0);
	while (!w.done) {
		toolkit_turn();
		atomic_store(&w.clicks, toolkit_clicks);
	}
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_int_equal(w.shown, w.updates);
	toolkit_until_seen(eye, loop, w.updates);
	snprintf(path, sizeof path, "window_%s_%s.ppm", toolkit_name, screen_server());
	screen_save(eye, TOOLKIT_WIDTH, TOOLKIT_HEIGHT, path);
	printf("%s: %u updates, %u clicks, %s\n", toolkit_name, w.shown, toolkit_clicks, path);
	toolkit_close();
	rouse_remote_unref(w.remote);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	screen_close(eye);
	screen_close(w.screen);
	screen_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_thousand_updates_a_second_and_a_click),
	};

	screen_start(TOOLKIT_WIDTH, TOOLKIT_HEIGHT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
