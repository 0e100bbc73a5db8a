/* Xlib's error handlers are the process's: chained, given back, and shared by threads. */
#include "fixture.h"
#include "xvfb.h"

#include <pthread.h>

static struct xvfb server;

/* ---- Xlib's handlers --------------------------------------------------------- */

static unsigned their_errors, above_errors;
static XErrorHandler below;

static int their_error(Display *display, XErrorEvent *error)
{
	(void)display, (void)error;
	their_errors++;
	return 0;
}

static int above_error(Display *display, XErrorEvent *error)
{
	above_errors++;
	return below(display, error);
}

static void cause_error(Display *display)
{
	XMapWindow(display, 1);
	XSync(display, False);
}

static void x6_error_handlers_are_chained_and_given_back(void **state)
{
	struct fixture f;
	rouse_x11 *x11;

	(void)state;
	XSetErrorHandler(their_error);
	their_errors = above_errors = 0;
	fixture_open(&f, NULL);
	rouse_x11_options options = fixture_options(&f);

	/* Of the attached display, and of another. */
	cause_error(f.display);
	assert_int_equal(f.errors, 1);
	assert_int_equal(their_errors, 0);
	cause_error(f.other);
	assert_int_equal(f.errors, 1);
	assert_int_equal(their_errors, 1);

	/* Nobody is told: whoever was there decides. */
	rouse_x11_options silent = {.size = sizeof(silent), .display = f.other};
	assert_int_equal(rouse_x11_attach(f.loop, &silent, &x11), 0);
	cause_error(f.other);
	assert_int_equal(their_errors, 2);
	assert_int_equal(rouse_x11_detach(x11), 0);

	/* Somebody above us stays above us. */
	below = XSetErrorHandler(above_error);
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	f.x11 = NULL;
	cause_error(f.other);
	assert_int_equal(above_errors, 1);
	assert_int_equal(their_errors, 3);

	/* Attached again, above somebody who calls us: the chain ends. */
	assert_int_equal(rouse_x11_attach(f.loop, &options, &f.x11), 0);
	cause_error(f.other);
	assert_int_equal(above_errors, 2);
	assert_int_equal(their_errors, 4);
	cause_error(f.display);
	assert_int_equal(f.errors, 2);
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	f.x11 = NULL;
	assert_ptr_equal(XSetErrorHandler(below), above_error);
	/* They have given back to us what they found, and we are gone: still passed on. */
	cause_error(f.other);
	assert_int_equal(their_errors, 5);

	assert_int_equal(rouse_x11_attach(f.loop, &options, &f.x11), 0);
	cause_error(f.display);
	assert_int_equal(f.errors, 3);
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	f.x11 = NULL;
	cause_error(f.other);
	assert_int_equal(their_errors, 6);
	XSetErrorHandler(NULL);
	fixture_close(&f);
}

/* ---- Threads ------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 50 };

struct pinger {
	rouse_loop *loop;
	Display *display;
	Window window;
	unsigned got, errors;
	bool failed;
};

static void pinger_event(rouse_loop *loop, rouse_x11 *x11, XEvent *event, void *data)
{
	struct pinger *p = data;

	(void)x11;
	if (event->type != ClientMessage)
		return;
	if (++p->got % 10)
		XSendEvent(p->display, p->window, False, NoEventMask, event);
	else
		rouse_loop_stop(loop);
}

static void pinger_error(rouse_loop *loop, rouse_x11 *x11, unsigned char error_code,
                         unsigned char request_code, unsigned char minor_code, unsigned long serial,
                         unsigned long resource, void *data)
{
	(void)loop, (void)x11, (void)error_code, (void)request_code, (void)minor_code;
	(void)serial, (void)resource;
	((struct pinger *)data)->errors++;
}

static void *ping(void *data)
{
	struct pinger *p = data;

	p->display = XOpenDisplay(NULL);
	p->failed = !p->display || rouse_loop_create(NULL, &p->loop) != 0;
	if (p->failed)
		return NULL;
	p->window =
	        XCreateSimpleWindow(p->display, DefaultRootWindow(p->display), 0, 0, 9, 9, 0, 0, 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		rouse_x11_options options = {.size = sizeof(options),
		                             .display = p->display,
		                             .data = p,
		                             .event = pinger_event,
		                             .error = pinger_error};
		XEvent event = {
		        .xclient = {.type = ClientMessage, .window = p->window, .format = 32}};
		rouse_x11 *x11;

		p->failed |= rouse_x11_attach(p->loop, &options, &x11) != 0;
		XMapWindow(p->display, 1);
		XSendEvent(p->display, p->window, False, NoEventMask, &event);
		p->failed |= rouse_loop_run(p->loop) != 0;
		p->failed |= rouse_x11_detach(x11) != 0;
	}
	p->failed |= p->got != ROUNDS * 10 || p->errors != ROUNDS;
	XCloseDisplay(p->display);
	p->failed |= rouse_loop_destroy(p->loop) != 0;
	return NULL;
}

static void x6_loops_on_several_threads(void **state)
{
	struct pinger pingers[THREADS] = {{0}};
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ping, &pingers[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_false(pingers[i].failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x6_error_handlers_are_chained_and_given_back),
	        cmocka_unit_test(x6_loops_on_several_threads),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
