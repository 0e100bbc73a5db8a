/* Attach and detach, and the one message. */
#include "hosted.h"

#include <string.h>

/* ---- Attach and detach ----------------------------------------------------------------- */

static void bad_input_changes_nothing(void **state)
{
	struct {
		rouse_win32_options options;
		int unknown;
	} newer = {.options.size = sizeof newer, .unknown = 1};
	rouse_win32_options options = {.size = sizeof options - 1};
	rouse_loop *loop = loop_on("win32", NULL), *null = loop_on("null", NULL);
	rouse_win32 *win32 = NULL;

	(void)state;
	assert_int_equal(rouse_win32_attach(NULL, NULL, &win32), ROUSE_EINVAL);
	assert_int_equal(rouse_win32_attach(loop, &options, &win32), ROUSE_EINVAL);
	assert_int_equal(rouse_win32_attach(loop, &newer.options, &win32), ROUSE_EABI);
	assert_int_equal(rouse_win32_attach(null, NULL, &win32), ROUSE_ENOTSUP);
	assert_int_equal(rouse_win32_run(NULL, NULL), ROUSE_EINVAL);
	assert_int_equal(rouse_win32_detach(NULL), 0);
	assert_null(win32);
	assert_int_equal(rouse_loop_stop(loop), 0);
	assert_int_equal(rouse_loop_run(loop), 0);

	assert_int_equal(rouse_win32_attach(loop, NULL, &win32), 0);
	assert_int_equal(rouse_win32_attach(loop, NULL, &win32), ROUSE_EEXIST);
	assert_int_equal(rouse_loop_run(loop), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	assert_int_equal(rouse_loop_destroy(null), 0);
}

static void call_all(void *data)
{
	struct hosted *h = data;
	rouse_win32 *win32;

	if (rouse_win32_attach(h->loop, NULL, &win32) == ROUSE_EWRONGTHREAD &&
	    rouse_win32_run(h->win32, NULL) == ROUSE_EWRONGTHREAD &&
	    rouse_win32_detach(h->win32) == ROUSE_EWRONGTHREAD)
		h->data = h;
}

static void from_another_thread_it_is_refused(void **state)
{
	struct hosted h;

	(void)state;
	hosted_open(&h);
	on_another_thread(call_all, &h);
	assert_ptr_equal(h.data, &h);
	hosted_close(&h);
}

static void a_failed_attach_changes_nothing(void **state)
{
	static const enum rouse__call calls[] = {ROUSE__WINDOW, ROUSE__WATCHER, ROUSE__TIMER};
	rouse_win32 *win32 = NULL;

	(void)state;
	for (unsigned i = 0; i < COUNT(calls); i++) {
		rouse_loop *loop = loop_on("win32", NULL);

		rouse__fault_fail(calls[i], 0, 1, ERROR_GEN_FAILURE);
		assert_int_equal(rouse_win32_attach(loop, NULL, &win32), ROUSE_EOS);
		assert_int_equal(rouse_os_error(), ERROR_GEN_FAILURE);
		assert_null(win32);
		assert_int_equal(rouse_loop_stop(loop), 0);
		assert_int_equal(rouse_loop_run(loop), 0);
		assert_int_equal(rouse_win32_attach(loop, NULL, NULL), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
	rouse__fault_reset();
}

static void without_memory_nothing_is_attached(void **state)
{
	struct counting c;
	int error = ROUSE_ENOMEM;

	(void)state;
	for (unsigned n = 1; error; n++) {
		rouse_loop *loop;

		counting_init(&c);
		loop = loop_on("win32", &c);
		counting_fail(&c, n);
		error = rouse_win32_attach(loop, NULL, NULL);
		assert_true(error == 0 || error == ROUSE_ENOMEM);
		assert_true(n < 10);
		if (error) {
			assert_int_equal(rouse_loop_stop(loop), 0);
			assert_int_equal(rouse_loop_run(loop), 0);
		}
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&c);
	}
}

static unsigned __stdcall post_one(void *data)
{
	struct hosted *h = data;

	Sleep(20);
	return rouse_post(h->remote, count_call, h->data, NULL) < 0;
}

static void post_from_elsewhere(struct hosted *h, int *count, HANDLE *ret_thread)
{
	h->data = count;
	*ret_thread = start_thread(post_one, h);
}

static void detached_it_waits_again_and_attached_again_it_does_not(void **state)
{
	struct hosted h;
	HANDLE thread;
	int count = 0;

	(void)state;
	hosted_open(&h);
	pump();
	for (int i = 1; i <= 20; i += 2) {
		assert_int_equal(rouse_win32_detach(h.win32), 0);
		post_from_elsewhere(&h, &count, &thread);
		while (count < i)
			assert_true(rouse_loop_turn(h.loop, ROUSE_NEVER) >= 0);
		join_thread(thread);
		assert_int_equal(rouse_win32_attach(h.loop, NULL, &h.win32), 0);
		post_from_elsewhere(&h, &count, &thread);
		PUMP_UNTIL(count == i + 1);
		join_thread(thread);
	}
	hosted_close(&h);
}

static void detach_twice(rouse_loop *loop, void *data)
{
	struct hosted *h = data;

	(void)loop;
	assert_int_equal(rouse_win32_detach(h->win32), 0);
	assert_int_equal(rouse_win32_detach(h->win32), ROUSE_ESTALE);
	h->data = h;
}

static void a_callback_may_detach(void **state)
{
	struct hosted h;
	int count = 0;

	(void)state;
	hosted_open(&h);
	assert_true(rouse_post(h.remote, detach_twice, &h, NULL) >= 0);
	assert_int_equal(rouse_win32_run(h.win32, NULL), ROUSE_ESTALE);
	assert_ptr_equal(h.data, &h);
	/* No message runs anything of it. */
	assert_true(rouse_post(h.remote, count_call, &count, NULL) >= 0);
	for (int i = 0; i < 20; i++) {
		Sleep(1);
		pump();
	}
	assert_int_equal(count, 0);
	UNTIL(h.loop, count);
	hosted_close(&h);
}

struct told {
	int times, result;
};

static void note_done(rouse_loop *loop, int result, void *data)
{
	struct told *told = data;

	(void)loop;
	told->times++;
	told->result = result;
}

static void stops_and_errors_are_told(void **state)
{
	struct told told = {0};
	const rouse_win32_options options = {.size = sizeof options, .done = note_done, &told};
	struct hosted h = {.loop = loop_on("win32", NULL)};

	(void)state;
	assert_int_equal(rouse_win32_attach(h.loop, &options, &h.win32), 0);
	h.remote = rouse_loop_remote(h.loop);
	pump();
	assert_int_equal(rouse_loop_stop(h.loop), 0);
	PUMP_UNTIL(told.times == 1);
	assert_int_equal(told.result, 0);
	assert_true(rouse_remote_stop(h.remote) >= 0);
	PUMP_UNTIL(told.times == 2);
	rouse__fault_fail(ROUSE__PORT_WAIT, 0, 1, ERROR_GEN_FAILURE);
	assert_true(rouse_post(h.remote, count_call, &told.result, NULL) >= 0);
	PUMP_UNTIL(told.times == 3);
	assert_int_equal(told.result, ROUSE_EOS);
	/* Of a run's it is not told. */
	assert_int_equal(rouse_loop_stop(h.loop), 0);
	assert_int_equal(rouse_win32_run(h.win32, NULL), 0);
	assert_int_equal(told.times, 3);
	hosted_close(&h);
}

/* ---- N4 ---------------------------------------------------------------------------------- */

/* The thread's own messages, of which there is never more than one. @return how many. */
static unsigned take_rings(MSG *ret_one)
{
	const UINT ring = RegisterWindowMessageW(L"rouse: ring");
	MSG message;
	unsigned count = 0;

	while (PeekMessageW(&message, NULL, ring, ring, PM_REMOVE)) {
		*ret_one = message;
		count++;
	}
	return count;
}

struct wakes {
	struct hosted h;
	rouse_waker *waker;
	int ran;
	unsigned count;
};

static void wakes_open(struct wakes *w)
{
	hosted_open(&w->h);
	pump();
	w->ran = 0;
	assert_int_equal(rouse_waker_create(w->h.loop, count_call, &w->ran, &w->waker), 0);
}

static void wakes_close(struct wakes *w)
{
	rouse_waker_unref(w->waker);
	hosted_close(&w->h);
}

static unsigned __stdcall wake_often(void *data)
{
	struct wakes *w = data;

	for (unsigned i = 0; i < w->count; i++)
		if (rouse_wake(w->waker) < 0)
			return 1;
	return 0;
}

static void n4_a_million_wakes_leave_one_message(void **state)
{
	struct wakes w = {.count = 500000};
	HANDLE threads[2];
	MSG message;

	(void)state;
	wakes_open(&w);
	for (int i = 0; i < 2; i++)
		threads[i] = start_thread(wake_often, &w);
	for (int i = 0; i < 2; i++)
		assert_int_equal(join_thread(threads[i]), 0);
	assert_int_equal(take_rings(&message), 1);
	DispatchMessageW(&message);
	assert_int_equal(w.ran, 1);
	assert_int_equal(pump(), 0);
	wakes_close(&w);
}

/* Turned without its messages, the loop is rung anew each time. */
static void n4_rings_that_were_heard_leave_one_message(void **state)
{
	struct wakes w;
	MSG message;

	(void)state;
	wakes_open(&w);
	for (int i = 1; i <= 10000; i++) {
		assert_true(rouse_wake(w.waker) >= 0);
		assert_int_equal(rouse_loop_turn(w.h.loop, 0), 1);
		assert_int_equal(w.ran, i);
	}
	assert_int_equal(take_rings(&message), 1);
	/* And that one comes for nothing. */
	DispatchMessageW(&message);
	assert_int_equal(w.ran, 10000);
	assert_int_equal(rouse_wake(w.waker), 1);
	PUMP_UNTIL(w.ran == 10001);
	wakes_close(&w);
}

static unsigned __stdcall wake_once(void *data)
{
	struct wakes *w = data;

	return rouse_wake(w->waker) != 1;
}

static void with_a_full_queue(unsigned posts, unsigned notifies, int own_thread)
{
	struct wakes w;

	wakes_open(&w);
	rouse__fault_fail(ROUSE__POST, 0, posts, ERROR_NOT_ENOUGH_QUOTA);
	rouse__fault_fail(ROUSE__NOTIFY, 0, notifies, ERROR_NOT_ENOUGH_QUOTA);
	if (own_thread)
		assert_int_equal(rouse_wake(w.waker), 1);
	else
		assert_int_equal(join_thread(start_thread(wake_once, &w)), 0);
	PUMP_UNTIL(w.ran == 1);
	assert_int_equal(stats_of(w.h.loop).wakes_failed, 0);
	/* And it was not rung for good. */
	assert_int_equal(join_thread(start_thread(wake_once, &w)), 0);
	PUMP_UNTIL(w.ran == 2);
	wakes_close(&w);
}

static void n4_a_full_queue_delays_a_wake(void **state)
{
	(void)state;
	with_a_full_queue(1, 0, 0);
	with_a_full_queue(2, 0, 0);
	with_a_full_queue(1, 1, 0);
	with_a_full_queue(3, 2, 0);
	with_a_full_queue(1, 0, 1);
	with_a_full_queue(3, 0, 1);
	with_a_full_queue(5, 5, 1);
}

/* A sent message arrives where the loop's callbacks must not run. */
static void n4_a_sent_message_only_posts(void **state)
{
	struct wakes w;
	MSG message;

	(void)state;
	wakes_open(&w);
	rouse__fault_fail(ROUSE__POST, 0, 1, ERROR_NOT_ENOUGH_QUOTA);
	assert_int_equal(join_thread(start_thread(wake_once, &w)), 0);
	/* This handles what was sent, and takes nothing that was posted. */
	assert_false(PeekMessageW(&message, NULL, WM_APP + 1000, WM_APP + 1000, PM_REMOVE));
	assert_int_equal(w.ran, 0);
	assert_int_equal(take_rings(&message), 1);
	DispatchMessageW(&message);
	assert_int_equal(w.ran, 1);
	wakes_close(&w);
}

/* ---- The queue's other messages ------------------------------------------------------------ */

enum { THEIRS = WM_APP + 1 };

static LRESULT stops(struct hosted *h, UINT message, WPARAM wide, LPARAM large)
{
	if (message == THEIRS) {
		assert_int_equal(rouse_loop_stop(h->loop), 0);
		return 42;
	}
	return DefWindowProcW(h->window, message, wide, large);
}

static void look_at_the_queue(rouse_loop *loop, void *data)
{
	struct hosted *h = data;
	MSG message;

	(void)loop;
	PostMessageW(h->window, THEIRS, 0, 0);
	assert_true(PeekMessageW(&message, NULL, 0, 0, PM_NOREMOVE));
	GetQueueStatus(QS_ALLINPUT);
}

static void n5_a_message_that_was_seen_is_not_slept_on(void **state)
{
	struct hosted h;

	(void)state;
	hosted_open(&h);
	hosted_window(&h, stops);
	assert_true(rouse_post(h.remote, look_at_the_queue, &h, NULL) >= 0);
	assert_int_equal(rouse_win32_run(h.win32, NULL), 0);
	hosted_close(&h);
}

static unsigned __stdcall send_some(void *data)
{
	struct hosted *h = data;
	DWORD_PTR answer = 0;

	Sleep(50);
	if (!SendMessageTimeoutW(h->window, THEIRS, 0, 0, SMTO_NORMAL, 10000, &answer))
		return 1;
	return answer != 42;
}

/* Sent, it does not end a GetMessage(); the stop in it does. */
static void n6_a_sent_message_is_answered_while_the_loop_waits(void **state)
{
	struct hosted h;
	HANDLE thread;

	(void)state;
	hosted_open(&h);
	hosted_window(&h, stops);
	thread = start_thread(send_some, &h);
	assert_int_equal(rouse_win32_run(h.win32, NULL), 0);
	assert_int_equal(join_thread(thread), 0);
	hosted_close(&h);
}

static void count_tick(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	++*(int *)data;
}

static void n8_a_removed_timer_is_not_called_whose_message_is_queued(void **state)
{
	struct hosted h;
	rouse_source timer;
	int ticks = 0;

	(void)state;
	hosted_open(&h);
	for (int i = 0; i < 20; i++) {
		pump();
		assert_int_equal(
		        rouse_timer_add(h.loop, rouse_now() + MS, 0, 0, count_tick, &ticks, &timer),
		        0);
		while (!(HIWORD(GetQueueStatus(QS_POSTMESSAGE)) & QS_POSTMESSAGE))
			Sleep(1);
		assert_int_equal(rouse_remove(h.loop, timer), 0);
		pump();
		assert_int_equal(ticks, 0);
	}
	hosted_close(&h);
}

/* ---- What the host's own code changes --------------------------------------------------- */

struct things {
	int handles, sockets[2], ticks;
};

static void count_handle(rouse_loop *loop, rouse_source self, void *handle, unsigned events,
                         void *data)
{
	(void)loop, (void)self, (void)handle, (void)events;
	++*(int *)data;
}

static void count_socket(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                         void *data)
{
	(void)loop, (void)self, (void)fd, (void)events;
	++*(int *)data;
}

static void what_the_hosts_code_adds_and_changes_is_watched(void **state)
{
	struct hosted h;
	struct things t = {0};
	HANDLE event = CreateEventW(NULL, FALSE, TRUE, NULL);
	rouse_source socket;
	SOCKET pair[2];

	(void)state;
	socket_pair(pair);
	send(pair[1], "x", 1, 0);
	hosted_open(&h);
	pump();
	assert_int_equal(rouse_handle_add(h.loop, event, count_handle, &t.handles, NULL), 0);
	PUMP_UNTIL(t.handles);
	pump();
	assert_int_equal(rouse_fd_add(h.loop, pair[0], 0, count_socket, &t.sockets[0], &socket), 0);
	pump();
	assert_int_equal(rouse_fd_set_events(h.loop, socket, ROUSE_READABLE), 0);
	PUMP_UNTIL(t.sockets[0] >= 3);
	assert_int_equal(rouse_fd_set_events(h.loop, socket, 0), 0);
	pump();
	assert_int_equal(
	        rouse_timer_add(h.loop, rouse_now() + 5 * MS, 0, 0, count_tick, &t.ticks, NULL), 0);
	PUMP_UNTIL(t.ticks);
	hosted_close(&h);
	closesocket(pair[0]);
	closesocket(pair[1]);
	CloseHandle(event);
}

/* With room for one in a turn, and more that are always ready. */
static void f7_sockets_take_turns(void **state)
{
	const rouse_loop_options options = {.size = sizeof options, .max_batch = 1};
	struct things t = {0};
	rouse_loop *loop;
	SOCKET pairs[2][2];

	(void)state;
	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	assert_int_equal(rouse_win32_attach(loop, NULL, NULL), 0);
	for (int i = 0; i < 2; i++) {
		socket_pair(pairs[i]);
		send(pairs[i][1], "x", 1, 0);
		assert_int_equal(rouse_fd_add(loop, pairs[i][0], ROUSE_READABLE, count_socket,
		                              &t.sockets[i], NULL),
		                 0);
	}
	PUMP_UNTIL(t.sockets[0] + t.sockets[1] >= 40);
	assert_in_range(t.sockets[0] * 4, t.sockets[1], t.sockets[1] * 16);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	for (int i = 0; i < 2; i++) {
		closesocket(pairs[i][0]);
		closesocket(pairs[i][1]);
	}
}

/* The watcher has a packet then. */
static void a_detach_loses_no_socket(void **state)
{
	struct hosted h;
	struct things t = {0};
	SOCKET pair[2];

	(void)state;
	hosted_open(&h);
	socket_pair(pair);
	assert_int_equal(
	        rouse_fd_add(h.loop, pair[0], ROUSE_READABLE, count_socket, &t.sockets[0], NULL),
	        0);
	pump();
	send(pair[1], "x", 1, 0);
	Sleep(50);
	assert_int_equal(rouse_win32_detach(h.win32), 0);
	UNTIL(h.loop, t.sockets[0] >= 3);
	hosted_close(&h);
	closesocket(pair[0]);
	closesocket(pair[1]);
}

/* Posted by anybody, to a window that is easily found. */
static void what_others_post_is_not_believed(void **state)
{
	const UINT ring = RegisterWindowMessageW(L"rouse: ring");
	const UINT again = RegisterWindowMessageW(L"rouse: ring again");
	HWND window = NULL;
	struct wakes w;

	(void)state;
	wakes_open(&w);
	window = FindWindowExW(HWND_MESSAGE, NULL, L"rouse", NULL);
	assert_non_null(window);
	for (UINT i = 0; i < 100; i++) {
		PostMessageW(window, ring, (WPARAM)i << 20, -1);
		PostMessageW(window, again, (WPARAM)-1, (LPARAM)i << 20);
		PostMessageW(window, WM_USER + i, i, i);
	}
	PostMessageW(window, WM_CLOSE, 0, 0);
	SetWindowLongPtrW(window, GWLP_USERDATA, 0x12345670);
	pump();
	assert_int_equal(w.ran, 0);
	assert_true(rouse_wake(w.waker) >= 0);
	PUMP_UNTIL(w.ran == 1);
	wakes_close(&w);
}

/* A thread without a window and without a queue, by run alone. */
static void run_there(void *data)
{
	struct hosted h;
	HANDLE thread;

	hosted_open(&h);
	thread = start_thread(post_one, &(struct hosted){.remote = h.remote, .data = data});
	WaitForSingleObject(thread, INFINITE);
	if (rouse_remote_stop(h.remote) < 0 || rouse_win32_run(h.win32, NULL) != 0)
		*(int *)data = -1;
	CloseHandle(thread);
	rouse_remote_unref(h.remote);
	rouse_loop_destroy(h.loop);
}

static void a_thread_needs_no_window(void **state)
{
	int count = 0;

	(void)state;
	on_another_thread(run_there, &count);
	assert_int_equal(count, 1);
}

static void count_post(rouse_loop *loop, void *data)
{
	struct hosted *h = data;

	(void)loop;
	h->timers++;
}

static void cancel_post(void *data)
{
	struct hosted *h = data;

	h->keys++;
}

/* A thread that leaves its loop behind, its window and all. */
static unsigned __stdcall leave_behind(void *data)
{
	struct hosted *h = data;

	hosted_open(h);
	return rouse_post(h->remote, count_post, h, cancel_post) < 0;
}

static void l10_a_thread_ends_with_an_attached_loop(void **state)
{
	struct hosted h;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(join_thread(start_thread(leave_behind, &h)), 0);
		assert_int_equal(h.timers, 0);
		assert_int_equal(h.keys, 1);
		assert_int_equal(rouse_post(h.remote, count_post, &h, cancel_post), ROUSE_ECLOSED);
		assert_int_equal(rouse_remote_stop(h.remote), ROUSE_ECLOSED);
		rouse_remote_unref(h.remote);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(bad_input_changes_nothing),
	        cmocka_unit_test(from_another_thread_it_is_refused),
	        cmocka_unit_test(a_failed_attach_changes_nothing),
	        cmocka_unit_test(without_memory_nothing_is_attached),
	        cmocka_unit_test(detached_it_waits_again_and_attached_again_it_does_not),
	        cmocka_unit_test(a_callback_may_detach),
	        cmocka_unit_test(stops_and_errors_are_told),
	        cmocka_unit_test(n4_a_million_wakes_leave_one_message),
	        cmocka_unit_test(n4_rings_that_were_heard_leave_one_message),
	        cmocka_unit_test(n4_a_full_queue_delays_a_wake),
	        cmocka_unit_test(n4_a_sent_message_only_posts),
	        cmocka_unit_test(n5_a_message_that_was_seen_is_not_slept_on),
	        cmocka_unit_test(n6_a_sent_message_is_answered_while_the_loop_waits),
	        cmocka_unit_test(n8_a_removed_timer_is_not_called_whose_message_is_queued),
	        cmocka_unit_test(what_the_hosts_code_adds_and_changes_is_watched),
	        cmocka_unit_test(f7_sockets_take_turns),
	        cmocka_unit_test(a_detach_loses_no_socket),
	        cmocka_unit_test(what_others_post_is_not_believed),
	        cmocka_unit_test(a_thread_needs_no_window),
	        cmocka_unit_test(l10_a_thread_ends_with_an_attached_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
