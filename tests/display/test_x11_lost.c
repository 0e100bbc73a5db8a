/* The server dies, and the process lives. */
#include "fixture.h"
#include "xvfb.h"

#include <X11/Xlib-xcb.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct xvfb server;

/* XCB writes through this one: a server that dies after XCB looked, and before it writes, this
 * many writes from now.  0: it does not. */
static unsigned kill_before_write;

__attribute__((visibility("default"))) ssize_t writev(int fd, const struct iovec *parts, int count)
{
	if (kill_before_write && --kill_before_write == 0)
		xvfb_kill(&server);
	return syscall(SYS_writev, fd, parts, count);
}

static int their_error(Display *display, XErrorEvent *error)
{
	(void)display, (void)error;
	return 0;
}

static int their_io_error(Display *display)
{
	(void)display;
	return 0;
}

static void open_on_new_server(struct fixture *f)
{
	xvfb_start(&server);
	XSetErrorHandler(their_error);
	XSetIOErrorHandler(their_io_error);
	fixture_open(f, NULL);
	/* Not attached: it would not outlive the server. */
	XCloseDisplay(f->other);
	f->other = NULL;
}

static void count(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(unsigned *)data;
}

static void tick(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	++*(unsigned *)data;
}

/* After the loss: told once, nothing spins, the rest works, and all of it ends in time. */
static void close_after_loss(struct fixture *f)
{
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	unsigned ticks = 0, woken = 0, events = f->events, activity = f->activity;
	rouse_source timer;
	rouse_waker *waker;

	fixture_until(f->loop, &f->lost, 1);
	assert_int_equal(rouse_loop_stats(f->loop, &before), 0);
	assert_int_equal(rouse_timer_add(f->loop, rouse_now(), 10 * MS, 0, tick, &ticks, &timer),
	                 0);
	fixture_until(f->loop, &ticks, 20);
	assert_int_equal(rouse_loop_stats(f->loop, &after), 0);
	assert_true(after.turns - before.turns < 100);
	assert_int_equal(rouse_waker_create(f->loop, count, &woken, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	fixture_until(f->loop, &woken, 1);
	rouse_waker_unref(waker);
	assert_int_equal(f->lost, 1);
	assert_int_equal(f->events, events);
	assert_int_equal(f->activity, activity);

	rouse_ns start = rouse_now();
	assert_int_equal(rouse_x11_detach(f->x11), 0);
	assert_true(rouse_now() - start < 100 * MS);
	f->x11 = NULL;
	assert_ptr_equal(XSetErrorHandler(NULL), their_error);
	assert_ptr_equal(XSetIOErrorHandler(NULL), their_io_error);
	/* With Xlib's own handlers, which exit. */
	start = rouse_now();
	XCloseDisplay(f->display);
	assert_true(rouse_now() - start < SOON);
	f->display = NULL;
	fixture_close(f);
	xvfb_stop(&server);
}

static void x5_server_killed_while_idle(void **state)
{
	struct fixture f;

	(void)state;
	open_on_new_server(&f);
	xvfb_kill(&server);
	close_after_loss(&f);
}

/* What a callback may be in the middle of. */
static void draw_much(Display *display, Window window)
{
	GC gc = DefaultGC(display, DefaultScreen(display));
	XPoint points[300] = {{0}};

	for (int i = 0; i < 3000; i++) {
		XFillRectangle(display, window, gc, 0, 0, 10, 10);
		XDrawString(display, window, gc, 5, 5, "a string of some length", 23);
		XDrawPoint(display, window, gc, 1, 1);
		XDrawLines(display, window, gc, points, 300, CoordModeOrigin);
	}
	XSetForeground(display, gc, 1);
}

static void use_everything(struct fixture *f)
{
	XWindowAttributes attributes;
	XEvent event;

	draw_much(f->display, f->window);
	XFlush(f->display);
	XSync(f->display, False);
	assert_int_equal(XGetWindowAttributes(f->display, f->window, &attributes), 0);
	XInternAtom(f->display, "NOT_BEFORE", False);
	XCheckTypedEvent(f->display, Expose, &event);
	XPending(f->display);
	xcb_connection_t *c = XGetXCBConnection(f->display);
	assert_null(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL));
	draw_much(f->display, f->window);
}

static void kill_and_use(struct fixture *f, XEvent *event)
{
	if (event->type != ClientMessage || !server.pid)
		return;
	xvfb_kill(&server);
	use_everything(f);
}

/* The event that starts it, without a second client. */
static void send_to_self(struct fixture *f)
{
	XEvent event = {.xclient = {.type = ClientMessage, .window = f->window, .format = 32}};

	event.xclient.message_type = XInternAtom(f->display, "FOREIGN", False);
	XSendEvent(f->display, f->window, False, NoEventMask, &event);
}

static void x5_server_killed_while_a_callback_draws(void **state)
{
	struct fixture f;

	(void)state;
	open_on_new_server(&f);
	f.on_event = kill_and_use;
	/* The second one is in Xlib's queue when the first one is handled. */
	send_to_self(&f);
	send_to_self(&f);
	XSync(f.display, False);
	assert_int_equal(XQLength(f.display), 2);
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.events, 1);
	close_after_loss(&f);
}

static void x5_server_killed_while_xcb_has_the_socket(void **state)
{
	struct fixture f;

	(void)state;
	open_on_new_server(&f);
	xcb_connection_t *c = XGetXCBConnection(f.display);
	xcb_clear_area(c, 0, (xcb_window_t)f.window, 0, 0, 1, 1);
	xcb_flush(c);
	xvfb_kill(&server);
	xcb_clear_area(c, 0, (xcb_window_t)f.window, 0, 0, 1, 1);
	xcb_flush(c);
	assert_int_not_equal(xcb_connection_has_error(c), 0);
	use_everything(&f);
	close_after_loss(&f);
}

static void x5_server_killed_between_look_and_write(void **state)
{
	struct fixture f;

	(void)state;
	open_on_new_server(&f);
	signal(SIGPIPE, SIG_DFL);
	XClearWindow(f.display, f.window);
	kill_before_write = 1;
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(kill_before_write, 0);
	close_after_loss(&f);
}

static void x5_server_killed_under_an_injector(void **state)
{
	struct fixture f;
	rouse_x11_injector *injector;

	(void)state;
	open_on_new_server(&f);
	assert_int_equal(rouse_x11_injector_create(f.x11, f.window, &injector), 0);
	signal(SIGPIPE, SIG_DFL);
	kill_before_write = 1;
	assert_int_equal(rouse_x11_injector_send(injector, 1), ROUSE_ELOST);
	assert_int_equal(kill_before_write, 0);
	assert_int_equal(rouse_x11_injector_sync(injector), ROUSE_ELOST);
	rouse_x11_injector *another;
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(rouse_x11_injector_create(f.x11, f.window, &another), ROUSE_ELOST);
	close_after_loss(&f);
	assert_int_equal(rouse_x11_injector_send(injector, 1), ROUSE_ELOST);
	rouse_x11_injector_unref(injector);
}

/* Everywhere where the opening of an injector writes, on its connection and on the display. */
static void x5_server_killed_while_an_injector_opens(void **state)
{
	rouse_x11_injector *injector = NULL;
	struct fixture f;
	unsigned at = 1;

	(void)state;
	signal(SIGPIPE, SIG_DFL);
	for (;; at++) {
		open_on_new_server(&f);
		kill_before_write = at;
		int result = rouse_x11_injector_create(f.x11, f.window, &injector);
		if (kill_before_write)
			break;
		assert_int_equal(result, ROUSE_ELOST);
		assert_null(injector);
		close_after_loss(&f);
	}
	/* XSync(), the set-up of the connection, and the injector's questions. */
	assert_true(at > 3);
	kill_before_write = 0;
	assert_non_null(injector);
	rouse_x11_injector_unref(injector);
	xvfb_kill(&server);
	close_after_loss(&f);
}

/* ---- Who has SIGPIPE blocked ------------------------------------------------- */

static sigset_t only_sigpipe(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	return set;
}

static bool sigpipe_pending(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, SIGPIPE);
}

/* Ours is taken away, and would kill later; a SIGPIPE that was pending before is theirs. */
static void blocked_sigpipe(bool theirs)
{
	const sigset_t set = only_sigpipe();
	const struct timespec now = {0};
	struct fixture f;
	rouse_x11_injector *injector;
	sigset_t before;

	open_on_new_server(&f);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(rouse_x11_injector_create(f.x11, f.window, &injector), 0);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
	assert_false(sigpipe_pending());
	if (theirs)
		assert_int_equal(raise(SIGPIPE), 0);
	/* The injector's connection, and then the display's, of another server. */
	kill_before_write = 1;
	assert_int_equal(rouse_x11_injector_send(injector, 1), ROUSE_ELOST);
	assert_int_equal(kill_before_write, 0);
	assert_int_equal(sigpipe_pending(), theirs);
	close_after_loss(&f);
	rouse_x11_injector_unref(injector);
	open_on_new_server(&f);
	XClearWindow(f.display, f.window);
	kill_before_write = 1;
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(kill_before_write, 0);
	assert_int_equal(sigpipe_pending(), theirs);
	close_after_loss(&f);
	if (theirs)
		assert_int_equal(sigtimedwait(&set, NULL, &now), SIGPIPE);
	assert_false(sigpipe_pending());
	/* The mask is the caller's all the time. */
	sigset_t after;
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &before, &after), 0);
	assert_true(sigismember(&after, SIGPIPE));
}

static void x5_no_sigpipe_is_left_pending(void **state)
{
	(void)state;
	blocked_sigpipe(false);
}

static void x5_sigpipe_of_others_stays_pending(void **state)
{
	(void)state;
	blocked_sigpipe(true);
}

static void detach_and_close(struct fixture *f)
{
	assert_int_equal(rouse_x11_detach(f->x11), 0);
	f->x11 = NULL;
	XCloseDisplay(f->display);
	f->display = NULL;
}

static void x5_detach_and_close_in_lost(void **state)
{
	struct fixture f;

	(void)state;
	open_on_new_server(&f);
	f.on_lost = detach_and_close;
	xvfb_kill(&server);
	fixture_until(f.loop, &f.lost, 1);
	fixture_settle(f.loop);
	assert_int_equal(f.lost, 1);
	fixture_close(&f);
	xvfb_stop(&server);
}

static void x5_another_server_goes_on(void **state)
{
	static struct xvfb surviving;
	struct fixture dying, living;
	rouse_x11 *second;

	(void)state;
	open_on_new_server(&dying);
	xvfb_start(&surviving);
	fixture_open(&living, NULL);
	/* Both in one loop. */
	assert_int_equal(rouse_x11_detach(living.x11), 0);
	assert_int_equal(rouse_loop_destroy(living.loop), 0);
	living.loop = dying.loop;
	rouse_x11_options options = fixture_options(&living);
	assert_int_equal(rouse_x11_attach(living.loop, &options, &second), 0);
	living.x11 = second;
	xvfb_kill(&server);
	fixture_until(dying.loop, &dying.lost, 1);
	fixture_send(&living, 9);
	fixture_until(dying.loop, &living.events, 1);
	assert_int_equal(living.lost, 0);
	assert_int_equal(rouse_x11_detach(living.x11), 0);
	XCloseDisplay(living.display);
	XCloseDisplay(living.other);
	xvfb_stop(&surviving);
	close_after_loss(&dying);
}

static void x9_wake_before_display_and_after_server(void **state)
{
	rouse_loop *loop;
	rouse_waker *waker;
	unsigned woken = 0;
	rouse_x11 *x11;

	(void)state;
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	assert_int_equal(rouse_waker_create(loop, count, &woken, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	fixture_until(loop, &woken, 1);

	xvfb_start(&server);
	Display *display = XOpenDisplay(NULL);
	assert_non_null(display);
	rouse_x11_options options = {.size = sizeof(options), .display = display};
	assert_int_equal(rouse_x11_attach(loop, &options, &x11), 0);
	assert_true(rouse_wake(waker) >= 0);
	fixture_until(loop, &woken, 2);

	xvfb_kill(&server);
	assert_true(rouse_wake(waker) >= 0);
	fixture_until(loop, &woken, 3);
	fixture_settle(loop);
	assert_true(rouse_wake(waker) >= 0);
	fixture_until(loop, &woken, 4);
	rouse_waker_unref(waker);
	assert_int_equal(rouse_x11_detach(x11), 0);
	XCloseDisplay(display);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	xvfb_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x5_server_killed_while_idle),
	        cmocka_unit_test(x5_server_killed_while_a_callback_draws),
	        cmocka_unit_test(x5_server_killed_while_xcb_has_the_socket),
	        cmocka_unit_test(x5_server_killed_between_look_and_write),
	        cmocka_unit_test(x5_server_killed_under_an_injector),
	        cmocka_unit_test(x5_server_killed_while_an_injector_opens),
	        cmocka_unit_test(x5_no_sigpipe_is_left_pending),
	        cmocka_unit_test(x5_sigpipe_of_others_stays_pending),
	        cmocka_unit_test(x5_detach_and_close_in_lost),
	        cmocka_unit_test(x5_another_server_goes_on),
	        cmocka_unit_test(x9_wake_before_display_and_after_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
