/* The server dies, and the process lives. */
#include "xcb_fixture.h"
#include "xvfb.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct xvfb server;

/* XCB writes through this one: a server that dies after XCB looked, and before it writes. */
static bool kill_before_write;

__attribute__((visibility("default"))) ssize_t writev(int fd, const struct iovec *parts, int count)
{
	if (kill_before_write) {
		kill_before_write = false;
		xvfb_kill(&server);
	}
	return syscall(SYS_writev, fd, parts, count);
}

static void open_on_new_server(struct xcb_fixture *f)
{
	xvfb_start(&server);
	xcb_fixture_open(f, NULL);
}

/* After the loss: told once, nothing spins, the rest works, and all of it ends in time. */
static void close_after_loss(struct xcb_fixture *f)
{
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	unsigned ticks = 0, woken = 0, events = f->events, activity = f->activity;
	rouse_source timer;
	rouse_waker *waker;

	fixture_until(f->loop, &f->lost, 1);
	assert_int_equal(f->reason, XCB_CONN_ERROR);
	assert_int_equal(rouse_loop_stats(f->loop, &before), 0);
	assert_int_equal(rouse_timer_add(f->loop, rouse_now(), 10 * MS, 0, fixture_count_timer,
	                                 &ticks, &timer),
	                 0);
	fixture_until(f->loop, &ticks, 20);
	assert_int_equal(rouse_loop_stats(f->loop, &after), 0);
	assert_true(after.turns - before.turns < 100);
	assert_int_equal(rouse_waker_create(f->loop, fixture_count_wake, &woken, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	fixture_until(f->loop, &woken, 1);
	rouse_waker_unref(waker);
	assert_int_equal(f->lost, 1);
	assert_int_equal(f->events, events);
	assert_int_equal(f->activity, activity);

	rouse_ns start = rouse_now();
	assert_int_equal(rouse_xcb_detach(f->xcb), 0);
	assert_true(rouse_now() - start < 100 * MS);
	f->xcb = NULL;
	start = rouse_now();
	xcb_disconnect(f->connection);
	assert_true(rouse_now() - start < SOON);
	f->connection = NULL;
	xcb_fixture_close(f);
	xvfb_stop(&server);
}

static void x5_server_killed_while_idle(void **state)
{
	struct xcb_fixture f;

	(void)state;
	open_on_new_server(&f);
	xvfb_kill(&server);
	close_after_loss(&f);
}

/* What a callback may be in the middle of. */
static void use_everything(struct xcb_fixture *f)
{
	xcb_connection_t *c = f->connection;

	for (int i = 0; i < 3000; i++)
		xcb_clear_area(c, 0, f->window, 0, 0, 1, 1);
	xcb_flush(c);
	assert_null(xcb_get_input_focus_reply(c, xcb_get_input_focus(c), NULL));
	assert_null(xcb_poll_for_event(c));
	xcb_generate_id(c);
	for (int i = 0; i < 3000; i++)
		xcb_clear_area(c, 0, f->window, 0, 0, 1, 1);
}

static void kill_and_use(struct xcb_fixture *f, xcb_generic_event_t *event)
{
	(void)event;
	if (!server.pid)
		return;
	xvfb_kill(&server);
	use_everything(f);
}

static void x5_server_killed_while_a_callback_draws(void **state)
{
	struct xcb_fixture f;

	(void)state;
	open_on_new_server(&f);
	f.on_event = kill_and_use;
	/* The second one is in XCB's queue when the first one is handled. */
	xcb_fixture_send(&f, 1);
	xcb_fixture_send(&f, 2);
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.events, 1);
	close_after_loss(&f);
}

/* What came before the end is delivered before the loss. */
static void x5_last_events_are_delivered(void **state)
{
	struct xcb_fixture f;

	(void)state;
	open_on_new_server(&f);
	xcb_fixture_send(&f, 1);
	xcb_fixture_send(&f, 2);
	xvfb_kill(&server);
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.events, 2);
	close_after_loss(&f);
}

/* XCB gives a connection up for other reasons, too: here a request that is too long for any
 * server.  The server lives, and goes on sending. */
static void x5_connection_broken_by_a_request(void **state)
{
	static const char much[1 << 24];
	struct xcb_fixture f;

	(void)state;
	open_on_new_server(&f);
	xcb_fixture_send(&f, 1);
	xcb_change_property(f.connection, XCB_PROP_MODE_REPLACE, f.window, XCB_ATOM_CUT_BUFFER0,
	                    XCB_ATOM_STRING, 8, sizeof(much), much);
	assert_int_equal(xcb_connection_has_error(f.connection), XCB_CONN_CLOSED_REQ_LEN_EXCEED);
	fixture_until(f.loop, &f.lost, 1);
	assert_int_equal(f.reason, XCB_CONN_CLOSED_REQ_LEN_EXCEED);
	f.reason = XCB_CONN_ERROR;
	xvfb_kill(&server);
	close_after_loss(&f);
}

static void x5_server_killed_between_look_and_write(void **state)
{
	struct xcb_fixture f;

	(void)state;
	open_on_new_server(&f);
	signal(SIGPIPE, SIG_DFL);
	xcb_clear_area(f.connection, 0, f.window, 0, 0, 1, 1);
	kill_before_write = true;
	fixture_until(f.loop, &f.lost, 1);
	assert_false(kill_before_write);
	close_after_loss(&f);
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
	const struct timespec now = {0};
	struct xcb_fixture f;
	sigset_t set, before, after;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	open_on_new_server(&f);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
	assert_false(sigpipe_pending());
	if (theirs)
		assert_int_equal(raise(SIGPIPE), 0);
	xcb_clear_area(f.connection, 0, f.window, 0, 0, 1, 1);
	kill_before_write = true;
	fixture_until(f.loop, &f.lost, 1);
	assert_false(kill_before_write);
	assert_int_equal(sigpipe_pending(), theirs);
	close_after_loss(&f);
	if (theirs)
		assert_int_equal(sigtimedwait(&set, NULL, &now), SIGPIPE);
	assert_false(sigpipe_pending());
	/* The mask is the caller's all the time. */
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

static void detach_and_close(struct xcb_fixture *f)
{
	assert_int_equal(rouse_xcb_detach(f->xcb), 0);
	f->xcb = NULL;
	xcb_disconnect(f->connection);
	f->connection = NULL;
}

static void x5_detach_and_close_in_lost(void **state)
{
	struct xcb_fixture f;

	(void)state;
	open_on_new_server(&f);
	f.on_lost = detach_and_close;
	xvfb_kill(&server);
	fixture_until(f.loop, &f.lost, 1);
	fixture_settle(f.loop);
	assert_int_equal(f.lost, 1);
	xcb_fixture_close(&f);
	xvfb_stop(&server);
}

static void x5_another_server_goes_on(void **state)
{
	static struct xvfb surviving;
	struct xcb_fixture dying, living;

	(void)state;
	open_on_new_server(&dying);
	xvfb_start(&surviving);
	xcb_fixture_open(&living, NULL);
	/* Both in one loop. */
	assert_int_equal(rouse_xcb_detach(living.xcb), 0);
	assert_int_equal(rouse_loop_destroy(living.loop), 0);
	living.loop = dying.loop;
	rouse_xcb_options options = xcb_fixture_options(&living);
	assert_int_equal(rouse_xcb_attach(living.loop, &options, &living.xcb), 0);
	xvfb_kill(&server);
	fixture_until(dying.loop, &dying.lost, 1);
	xcb_fixture_send(&living, 9);
	fixture_until(dying.loop, &living.events, 1);
	assert_int_equal(living.lost, 0);
	assert_int_equal(rouse_xcb_detach(living.xcb), 0);
	xcb_disconnect(living.connection);
	xcb_disconnect(living.other);
	xvfb_stop(&surviving);
	close_after_loss(&dying);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x5_server_killed_while_idle),
	        cmocka_unit_test(x5_server_killed_while_a_callback_draws),
	        cmocka_unit_test(x5_last_events_are_delivered),
	        cmocka_unit_test(x5_connection_broken_by_a_request),
	        cmocka_unit_test(x5_server_killed_between_look_and_write),
	        cmocka_unit_test(x5_no_sigpipe_is_left_pending),
	        cmocka_unit_test(x5_sigpipe_of_others_stays_pending),
	        cmocka_unit_test(x5_detach_and_close_in_lost),
	        cmocka_unit_test(x5_another_server_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
