/* A window that a worker thread posts to 20 times; Expose draws how far the worker is. */
#include <rouse/xcb.h>

#include <xcb/xcb.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { STEPS = 20 };

struct app {
	xcb_connection_t *connection;
	xcb_window_t window;
	xcb_gcontext_t gc;
	rouse_remote *remote;
	unsigned steps; /* the loop's: a post is never merged with another */
};

static void step(rouse_loop *loop, void *data)
{
	struct app *app = data;

	xcb_clear_area(app->connection, 1, app->window, 0, 0, 0, 0); /* asks for an Expose */
	if (++app->steps == STEPS)
		rouse_loop_stop(loop);
}

static void *work(void *data)
{
	struct app *app = data;

	for (int i = 0; i < STEPS; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		if (rouse_post(app->remote, step, app, NULL) < 0)
			break;
	}
	return NULL;
}

static void on_event(rouse_loop *loop, rouse_xcb *xcb, void *event, void *data)
{
	(void)loop, (void)xcb;
	struct app *app = data;
	xcb_expose_event_t *expose = event;
	xcb_rectangle_t bar = {10, 10, (uint16_t)(10 * app->steps + 1), 80};

	if ((expose->response_type & 0x7f) == XCB_EXPOSE && expose->count == 0)
		xcb_poly_fill_rectangle(app->connection, app->window, app->gc, 1, &bar);
}

int main(void)
{
	struct app app = {.connection = xcb_connect(NULL, NULL)};
	rouse_xcb_options options = {sizeof(options), app.connection, &app, .event = on_event};
	pthread_t worker;
	rouse_loop *loop;
	rouse_xcb *xcb;
	if (xcb_connection_has_error(app.connection))
		return puts("SKIP: no X11 display"), 77;
	xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(app.connection)).data;
	const uint32_t values[] = {screen->white_pixel, XCB_EVENT_MASK_EXPOSURE};
	app.window = xcb_generate_id(app.connection);
	app.gc = xcb_generate_id(app.connection);
	xcb_create_window(app.connection, XCB_COPY_FROM_PARENT, app.window, screen->root, 0, 0, 220,
	                  100, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT, screen->root_visual,
	                  XCB_CW_BACK_PIXEL | XCB_CW_EVENT_MASK, values);
	xcb_create_gc(app.connection, app.gc, app.window, 0, NULL);
	xcb_map_window(app.connection, app.window); /* nobody flushes: the loop does */
	if (rouse_loop_create(NULL, &loop) || rouse_xcb_attach(loop, &options, &xcb) ||
	    !(app.remote = rouse_loop_remote(loop)) || pthread_create(&worker, NULL, work, &app))
		return 1;
	rouse_loop_run(loop);
	pthread_join(worker, NULL);
	printf("%u steps\n", app.steps);
	rouse_remote_unref(app.remote);
	rouse_xcb_detach(xcb);
	xcb_disconnect(app.connection);
	return rouse_loop_destroy(loop);
}
