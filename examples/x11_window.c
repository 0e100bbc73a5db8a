/* A window that a worker thread wakes 20 times; Expose draws how far the worker is. */
#include <rouse/x11.h>

#include <X11/Xlib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { STEPS = 20 };

struct app {
	Display *display;
	Window window;
	Atom delete_window;
	rouse_waker *waker;
	atomic_uint steps; /* beside the wakes: several wakes may be one callback */
};

static void *work(void *data)
{
	struct app *app = data;

	for (int i = 0; i < STEPS; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		app->steps++;
		rouse_wake(app->waker);
	}
	return NULL;
}

static void on_wake(rouse_loop *loop, void *data)
{
	struct app *app = data;

	XClearArea(app->display, app->window, 0, 0, 0, 0, True); /* asks for an Expose */
	if (app->steps == STEPS)
		rouse_loop_stop(loop);
}

static void on_event(rouse_loop *loop, rouse_x11 *x11, XEvent *event, void *data)
{
	(void)x11;
	struct app *app = data;

	if (event->type == Expose && event->xexpose.count == 0)
		XFillRectangle(app->display, app->window, DefaultGC(app->display, 0), 10, 10,
		               10 * app->steps + 1, 80);
	if (event->type == ClientMessage && (Atom)event->xclient.data.l[0] == app->delete_window)
		rouse_loop_stop(loop);
}

int main(void)
{
	struct app app = {.display = XOpenDisplay(NULL)};
	rouse_x11_options options = {sizeof(options), app.display, &app, .event = on_event};
	pthread_t worker;
	rouse_loop *loop;
	rouse_x11 *x11;
	if (!app.display)
		return puts("SKIP: no X11 display"), 77;
	app.window = XCreateSimpleWindow(app.display, DefaultRootWindow(app.display), 0, 0, 220,
	                                 100, 0, 0, WhitePixel(app.display, 0));
	app.delete_window = XInternAtom(app.display, "WM_DELETE_WINDOW", False);
	XSetWMProtocols(app.display, app.window, &app.delete_window, 1);
	XSelectInput(app.display, app.window, ExposureMask);
	XMapWindow(app.display, app.window);
	if (rouse_loop_create(NULL, &loop) || rouse_x11_attach(loop, &options, &x11) ||
	    rouse_waker_create(loop, on_wake, &app, &app.waker) ||
	    pthread_create(&worker, NULL, work, &app))
		return 1;
	rouse_loop_run(loop);
	pthread_join(worker, NULL);
	printf("%u steps\n", app.steps);
	rouse_waker_unref(app.waker);
	rouse_x11_detach(x11);
	XCloseDisplay(app.display);
	return rouse_loop_destroy(loop);
}
