/* A window in a loop that is the guest of another one: a host that watches one descriptor. */
#include "subject.h"

#include <poll.h>

static rouse_fd host_fd;

static bool host_sees(rouse_ns longest)
{
	struct pollfd pollfd = {.fd = host_fd, .events = POLLIN};

	return poll(&pollfd, 1, (int)(longest / MS)) == 1;
}

static void host_turn(struct subject *s)
{
	assert_true(host_sees(SOON));
	assert_true(rouse_loop_turn(s->loop, 0) >= 0);
}

static void host_until(struct subject *s, const unsigned *what, unsigned least)
{
	rouse_ns end = rouse_now() + SOON;

	while (*what < least) {
		assert_true(rouse_now() < end);
		host_turn(s);
	}
}

/* Until the descriptor says that nothing is left to do. */
static void host_rests(struct subject *s)
{
	rouse_ns end = rouse_now() + SOON;

	while (host_sees(20 * MS)) {
		assert_true(rouse_now() < end);
		assert_true(rouse_loop_turn(s->loop, 0) >= 0);
	}
}

static void open_guest(struct subject *s)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};

	subject_open(s, &epoll);
	assert_int_equal(rouse_loop_fd(s->loop, &host_fd), 0);
	host_rests(s);
}

static void count_post(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(unsigned *)data;
}

static void g1_readable_while_there_is_work_and_no_longer(void **state)
{
	struct subject s = {0};
	unsigned posts = 0, timers = 0;

	(void)state;
	open_guest(&s);
	rouse_remote *remote = rouse_loop_remote(s.loop);
	for (unsigned i = 1; i <= 20; i++) {
		subject_send(&s, 1);
		assert_true(host_sees(0));
		host_until(&s, &s.events, i);
		host_rests(&s);
		assert_int_equal(rouse_post(remote, count_post, &posts, NULL), 0);
		assert_true(host_sees(0));
		host_until(&s, &posts, i);
		/* Added by the host's own code while it sleeps. */
		assert_int_equal(rouse_timer_add(s.loop, rouse_now() + MS, 0, 0,
		                                 fixture_count_timer, &timers, NULL),
		                 0);
		host_until(&s, &timers, i);
		host_rests(&s);
	}
	rouse_remote_unref(remote);
	subject_close(&s);
}

/* Outside of a turn, and told by the one call that there is for it. */
static void g1_what_the_hosts_own_code_has_read_or_asked_for(void **state)
{
	struct subject s = {0};

	(void)state;
	open_guest(&s);
	for (unsigned i = 1; i <= 20; i++) {
		subject_queue(&s, 1);
		assert_int_equal(rouse_loop_prepare(s.loop, 0, NULL), 0);
		host_until(&s, &s.events, 2 * i - 1);
		/* Nobody has flushed it. */
		subject_ask(&s, 1);
		assert_int_equal(rouse_loop_prepare(s.loop, 0, NULL), 0);
		host_until(&s, &s.events, 2 * i);
	}
	host_rests(&s);
	subject_close(&s);
}

static void change_timers(rouse_loop *loop, void *data)
{
	rouse_ns far = rouse_now() + 360 * LONG;
	rouse_source passing;

	++*(unsigned *)data;
	assert_int_equal(rouse_timer_add(loop, far, 0, 0, fixture_count_timer, data, NULL), 0);
	assert_int_equal(rouse_timer_add(loop, far / 2, 0, 0, fixture_count_timer, data, &passing),
	                 0);
	assert_int_equal(rouse_remove(loop, passing), 0);
}

static void g2_changes_inside_a_turn_do_not_wake_the_host(void **state)
{
	rouse_stats before = {.size = sizeof(before)}, after = before;
	struct subject s = {0};
	unsigned posts = 0;

	(void)state;
	open_guest(&s);
	rouse_remote *remote = rouse_loop_remote(s.loop);
	for (unsigned i = 1; i <= 20; i++) {
		assert_int_equal(rouse_loop_stats(s.loop, &before), 0);
		assert_int_equal(rouse_post(remote, change_timers, &posts, NULL), 0);
		host_until(&s, &posts, i);
		host_rests(&s);
		assert_int_equal(rouse_loop_stats(s.loop, &after), 0);
		assert_int_equal(after.turns, before.turns + 1);
	}
	rouse_remote_unref(remote);
	subject_close(&s);
}

/* ---- The host's loop, nested in a callback --------------------------------------- */

struct nested {
	struct subject *subject;
	rouse_remote *remote;
	unsigned posts, timers, dialogs;
	bool pumped; /* whether the library is to be, meanwhile */
};

static void dialog(struct nested *n)
{
	struct subject *s = n->subject;
	unsigned events = s->events;

	s->on_event = NULL;
	n->dialogs++;
	for (unsigned i = 1; i <= 20; i++) {
		assert_int_equal(rouse_post(n->remote, count_post, &n->posts, NULL), 0);
		host_until(s, &n->posts, i);
		assert_int_equal(rouse_timer_add(s->loop, rouse_now() + MS, 0, 0,
		                                 fixture_count_timer, &n->timers, NULL),
		                 0);
		host_until(s, &n->timers, i);
		if (n->pumped) {
			subject_send(s, 1);
			host_until(s, &s->events, events + i);
		}
	}
	if (!n->pumped) {
		subject_send(s, 1);
		assert_int_equal(rouse_post(n->remote, count_post, &n->posts, NULL), 0);
		host_until(s, &n->posts, 21);
		assert_int_equal(s->events, events);
	}
}

static void dialog_in_a_post(rouse_loop *loop, void *data)
{
	(void)loop;
	dialog(data);
}

static void g3_nested_loop_in_a_post_serves_the_window_too(void **state)
{
	struct subject s = {0};
	struct nested n = {.subject = &s, .pumped = true};

	(void)state;
	open_guest(&s);
	n.remote = rouse_loop_remote(s.loop);
	assert_int_equal(rouse_post(n.remote, dialog_in_a_post, &n, NULL), 0);
	host_until(&s, &n.dialogs, 1);
	host_rests(&s);
	rouse_remote_unref(n.remote);
	subject_close(&s);
}

static void dialog_in_an_event(struct subject *s)
{
	dialog(s->data);
}

/* There the library waits until the callback returns; posts and timers do not. */
static void g3_nested_loop_in_the_librarys_callback(void **state)
{
	struct subject s = {0};
	struct nested n = {.subject = &s};

	(void)state;
	open_guest(&s);
	n.remote = rouse_loop_remote(s.loop);
	s.data = &n;
	s.on_event = dialog_in_an_event;
	subject_send(&s, 1);
	host_until(&s, &n.dialogs, 1);
	host_until(&s, &s.events, 2);
	host_rests(&s);
	rouse_remote_unref(n.remote);
	subject_close(&s);
}

/* ---- Who may wait for the server --------------------------------------------------- */

static void y4_round_trips_of_the_hosts_own_code(void **state)
{
	struct subject s = {0};

	(void)state;
	open_guest(&s);
	for (unsigned i = 1; i <= 100; i++) {
		subject_ask(&s, 1);
		server_round_trip(&s);
		assert_int_equal(rouse_loop_prepare(s.loop, 0, NULL), 0);
		host_until(&s, &s.events, i);
		server_round_trip(&s);
	}
	subject_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(g1_readable_while_there_is_work_and_no_longer),
	        cmocka_unit_test(g1_what_the_hosts_own_code_has_read_or_asked_for),
	        cmocka_unit_test(g2_changes_inside_a_turn_do_not_wake_the_host),
	        cmocka_unit_test(g3_nested_loop_in_a_post_serves_the_window_too),
	        cmocka_unit_test(g3_nested_loop_in_the_librarys_callback),
	        cmocka_unit_test(y4_round_trips_of_the_hosts_own_code),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
