/* Loops of the system's own, inside a callback of the loop's and outside: all goes on in them. */
#include "hosted.h"

enum { TIMES = 20, OPEN = WM_APP };

struct modal {
	struct hosted h;
	const struct kind *kind;
	rouse_waker *waker;
	HANDLE event, served;
	SOCKET pair[2];
	int inside, opened;                 /* the loop's thread */
	atomic_int up;                      /* the system's loop runs, as far as it says so */
	atomic_int ticks;                   /* inside */
	int wakes, posts, handles, sockets; /* inside, and answered */
	int timers;
};

struct kind {
	const char *name;
	void (*open)(struct modal *m);
	/* The worker's. */
	int (*is_up)(struct modal *m);
	void (*end)(struct modal *m);
};

/* ---- The kinds ---------------------------------------------------------------------- */

static HWND box(void)
{
	return FindWindowW(L"#32770", L"rouse's box");
}

static void open_box(struct modal *m)
{
	MessageBoxW(m->h.window, L"text", L"rouse's box", MB_OK);
}

static int box_is_up(struct modal *m)
{
	(void)m;
	return box() != NULL && IsWindowVisible(box());
}

static void end_box(struct modal *m)
{
	(void)m;
	PostMessageW(box(), WM_CLOSE, 0, 0);
}

static void open_menu(struct modal *m)
{
	HMENU menu = CreatePopupMenu();

	AppendMenuW(menu, MF_STRING, 1, L"one");
	AppendMenuW(menu, MF_STRING, 2, L"two");
	TrackPopupMenu(menu, TPM_RETURNCMD, 20, 20, 0, m->h.window, NULL);
	DestroyMenu(menu);
}

static int says_it_is_up(struct modal *m)
{
	return atomic_load(&m->up);
}

static void end_on_its_thread(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	EndMenu();
}

static void end_menu(struct modal *m)
{
	assert_true(rouse_post(m->h.remote, end_on_its_thread, NULL, NULL) >= 0);
	/* Where posts do not come through, so does this. */
	Sleep(100);
	PostMessageW(m->h.window, WM_KEYDOWN, VK_ESCAPE, 0);
}

static void open_move(struct modal *m)
{
	SendMessageW(m->h.window, WM_SYSCOMMAND, SC_MOVE | 2, MAKELPARAM(30, 15));
}

static void open_size(struct modal *m)
{
	SendMessageW(m->h.window, WM_SYSCOMMAND, SC_SIZE | WMSZ_BOTTOMRIGHT, MAKELPARAM(30, 15));
}

static void end_move(struct modal *m)
{
	PostMessageW(m->h.window, WM_KEYDOWN, VK_ESCAPE, 0);
	PostMessageW(m->h.window, WM_LBUTTONUP, 0, 0);
}

static const struct kind a_box = {"MessageBox", open_box, box_is_up, end_box};
static const struct kind a_menu = {"menu", open_menu, says_it_is_up, end_menu};
static const struct kind a_move = {"move", open_move, says_it_is_up, end_move};
static const struct kind a_size = {"size", open_size, says_it_is_up, end_move};

static LRESULT handle(struct hosted *h, UINT message, WPARAM wide, LPARAM large)
{
	struct modal *m = h->data;

	switch (message) {
	case WM_ENTERMENULOOP:
	case WM_ENTERSIZEMOVE:
		atomic_store(&m->up, 1);
		break;
	case OPEN:
		m->inside = 1;
		m->kind->open(m);
		m->inside = 0;
		m->opened = 1;
		return 0;
	}
	return DefWindowProcW(h->window, message, wide, large);
}

/* ---- What is to go on ----------------------------------------------------------------- */

static void count_in(struct modal *m, int *count)
{
	if (!m->inside)
		return;
	++*count;
	SetEvent(m->served);
}

static void woken(rouse_loop *loop, void *data)
{
	struct modal *m = data;

	(void)loop;
	count_in(m, &m->wakes);
}

static void posted(rouse_loop *loop, void *data)
{
	struct modal *m = data;

	(void)loop;
	count_in(m, &m->posts);
}

static void signalled(rouse_loop *loop, rouse_source self, void *handle_, unsigned events,
                      void *data)
{
	struct modal *m = data;

	(void)loop, (void)self, (void)handle_, (void)events;
	count_in(m, &m->handles);
}

static void readable(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct modal *m = data;
	char c[8];

	(void)loop, (void)self, (void)events;
	if (recv((SOCKET)fd, c, sizeof c, 0) == 1)
		count_in(m, &m->sockets);
}

static void ticked(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct modal *m = data;

	(void)loop, (void)self, (void)deadline;
	if (m->inside)
		atomic_fetch_add(&m->ticks, 1);
}

/* Not before: it would have the loop turned for all the others. */
static void tick_from_now_on(rouse_loop *loop, void *data)
{
	assert_int_equal(rouse_timer_add(loop, rouse_now(), 5 * MS, 0, ticked, data, NULL), 0);
}

static int is_served(const struct modal *m)
{
	return WaitForSingleObject(m->served, 5000) == WAIT_OBJECT_0;
}

/* Stops at the first that is not: the rest would not be, either. */
static void ask_for_all(struct modal *m)
{
	for (int i = 0; i < TIMES; i++) {
		(void)rouse_wake(m->waker);
		if (!is_served(m))
			return;
		if (rouse_post(m->h.remote, posted, m, NULL) < 0 || !is_served(m))
			return;
		SetEvent(m->event);
		if (!is_served(m))
			return;
		send(m->pair[1], "x", 1, 0);
		if (!is_served(m))
			return;
	}
	if (rouse_post(m->h.remote, tick_from_now_on, m, NULL) < 0)
		return;
	for (int i = 0; i < 5000 && atomic_load(&m->ticks) < TIMES; i++)
		Sleep(1);
	m->timers = atomic_load(&m->ticks);
}

static unsigned __stdcall work(void *data)
{
	struct modal *m = data;

	for (int i = 0; i < 10000 && !m->kind->is_up(m); i++)
		Sleep(1);
	ask_for_all(m);
	m->kind->end(m);
	return 0;
}

static void open_it(rouse_loop *loop, void *data)
{
	struct modal *m = data;

	(void)loop;
	SendMessageW(m->h.window, OPEN, 0, 0);
}

static void modal_open(struct modal *m, const struct kind *kind)
{
	memset(m, 0, sizeof *m);
	hosted_open(&m->h);
	m->h.data = m;
	hosted_window(&m->h, handle);
	m->kind = kind;
	m->event = CreateEventW(NULL, FALSE, FALSE, NULL);
	m->served = CreateEventW(NULL, FALSE, FALSE, NULL);
	socket_pair(m->pair);
	assert_int_equal(rouse_waker_create(m->h.loop, woken, m, &m->waker), 0);
	assert_int_equal(rouse_handle_add(m->h.loop, m->event, signalled, m, NULL), 0);
	assert_int_equal(rouse_fd_add(m->h.loop, m->pair[0], ROUSE_READABLE, readable, m, NULL), 0);
}

static void modal_close(struct modal *m)
{
	rouse_waker_unref(m->waker);
	hosted_close(&m->h);
	closesocket(m->pair[0]);
	closesocket(m->pair[1]);
	CloseHandle(m->event);
	CloseHandle(m->served);
}

static void all_goes_on(const struct kind *kind, int in_a_callback)
{
	struct modal m;
	HANDLE thread;

	modal_open(&m, kind);
	if (in_a_callback)
		assert_true(rouse_post(m.h.remote, open_it, &m, NULL) >= 0);
	else
		PostMessageW(m.h.window, OPEN, 0, 0);
	thread = start_thread(work, &m);
	PUMP_UNTIL(m.opened);
	join_thread(thread);
	print_message("%s: %d wakes, %d posts, %d handles, %d sockets, %d timers\n", kind->name,
	              m.wakes, m.posts, m.handles, m.sockets, m.timers);
	assert_int_equal(m.wakes, TIMES);
	assert_int_equal(m.posts, TIMES);
	assert_int_equal(m.handles, TIMES);
	assert_int_equal(m.sockets, TIMES);
	assert_true(m.timers >= TIMES);
	modal_close(&m);
}

static void n1_a_message_box_is_no_end(void **state)
{
	(void)state;
	all_goes_on(&a_box, 0);
	all_goes_on(&a_box, 1);
}

static void n1_a_menu_is_no_end(void **state)
{
	(void)state;
	all_goes_on(&a_menu, 0);
	all_goes_on(&a_menu, 1);
}

static void n1_moving_is_no_end(void **state)
{
	(void)state;
	all_goes_on(&a_move, 0);
	all_goes_on(&a_move, 1);
}

static void n1_sizing_is_no_end(void **state)
{
	(void)state;
	all_goes_on(&a_size, 0);
	all_goes_on(&a_size, 1);
}

/* ---- N9 ------------------------------------------------------------------------------------ */

static void quit_there(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	PostQuitMessage(7);
}

static unsigned __stdcall quit_it(void *data)
{
	struct modal *m = data;

	for (int i = 0; i < 10000 && !m->kind->is_up(m); i++)
		Sleep(1);
	return rouse_post(m->h.remote, quit_there, NULL, NULL) < 0;
}

static void quits(const struct kind *kind, int in_a_callback)
{
	struct modal m;
	HANDLE thread;
	MSG message;
	int code = 0;

	modal_open(&m, kind);
	if (in_a_callback)
		assert_true(rouse_post(m.h.remote, open_it, &m, NULL) >= 0);
	else
		PostMessageW(m.h.window, OPEN, 0, 0);
	thread = start_thread(quit_it, &m);
	assert_int_equal(rouse_win32_run(m.h.win32, &code), 1);
	assert_int_equal(code, 7);
	assert_int_equal(m.opened, 1);
	assert_int_equal(join_thread(thread), 0);
	assert_false(PeekMessageW(&message, NULL, WM_QUIT, WM_QUIT, PM_NOREMOVE));
	modal_close(&m);
}

static void n9_a_modal_loops_quit_is_ours(void **state)
{
	(void)state;
	quits(&a_box, 0);
	quits(&a_box, 1);
	quits(&a_move, 0);
	quits(&a_size, 1);
}

/* One that a program might write, which keeps the WM_QUIT to itself. */
static void open_own(struct modal *m)
{
	MSG message;

	atomic_store(&m->up, 1);
	while (GetMessageW(&message, NULL, 0, 0) > 0)
		DispatchMessageW(&message);
}

static void open_nested_run(struct modal *m)
{
	int code = 0;

	atomic_store(&m->up, 1);
	assert_int_equal(rouse_win32_run(m->h.win32, &code), 1);
	assert_int_equal(code, 7);
}

static void n9_a_nested_loops_quit_is_ours(void **state)
{
	static const struct kind own = {"own", open_own, says_it_is_up, end_move};
	static const struct kind nested = {"nested", open_nested_run, says_it_is_up, end_move};

	(void)state;
	quits(&own, 0);
	quits(&own, 1);
	quits(&nested, 0);
	quits(&nested, 1);
}

/* Whoever turns it from outside sees what a run in a callback has found. */
static void n9_a_quit_goes_on_to_a_loop_of_the_programs(void **state)
{
	static const struct kind nested = {"nested", open_nested_run, says_it_is_up, end_move};
	struct modal m;
	MSG message;
	HANDLE thread;

	(void)state;
	modal_open(&m, &nested);
	assert_true(rouse_post(m.h.remote, open_it, &m, NULL) >= 0);
	thread = start_thread(quit_it, &m);
	while (GetMessageW(&message, NULL, 0, 0) > 0)
		DispatchMessageW(&message);
	assert_int_equal(message.wParam, 7);
	assert_int_equal(m.opened, 1);
	join_thread(thread);
	modal_close(&m);
}

/* ---- N10 ---------------------------------------------------------------------------------------
 */

/* The first one opens a loop of messages, in which the other one has to be called. */
static void signalled_first(rouse_loop *loop, rouse_source self, void *handle_, unsigned events,
                            void *data)
{
	struct modal *m = data;

	(void)loop, (void)self, (void)handle_, (void)events;
	if (++m->handles == 1)
		PUMP_UNTIL(m->handles == 2);
}

static void n10_what_was_reported_together_is_served_inside(void **state)
{
	struct modal m = {0};
	HANDLE events[2];

	(void)state;
	hosted_open(&m.h);
	for (int i = 0; i < 2; i++) {
		events[i] = CreateEventW(NULL, FALSE, FALSE, NULL);
		assert_int_equal(rouse_handle_add(m.h.loop, events[i], signalled_first, &m, NULL),
		                 0);
	}
	pump();
	for (int round = 0; round < 5; round++) {
		m.handles = 0;
		SetEvent(events[0]);
		SetEvent(events[1]);
		/* So that the system's threads have reported both: else this shows nothing. */
		Sleep(20);
		PUMP_UNTIL(m.handles == 2);
	}
	hosted_close(&m.h);
	CloseHandle(events[0]);
	CloseHandle(events[1]);
}

static void stop_and_end(rouse_loop *loop, void *data)
{
	struct modal *m = data;

	assert_int_equal(rouse_loop_stop(loop), 0);
	m->kind->end(m);
}

static unsigned __stdcall stop_it(void *data)
{
	struct modal *m = data;

	for (int i = 0; i < 10000 && !m->kind->is_up(m); i++)
		Sleep(1);
	return rouse_post(m->h.remote, stop_and_end, m, NULL) < 0;
}

static void n10_a_callback_in_a_message_box_in_a_callback_stops_the_loop(void **state)
{
	struct modal m;
	HANDLE thread;

	(void)state;
	modal_open(&m, &a_box);
	assert_true(rouse_post(m.h.remote, open_it, &m, NULL) >= 0);
	thread = start_thread(stop_it, &m);
	assert_int_equal(rouse_win32_run(m.h.win32, NULL), 0);
	assert_int_equal(m.opened, 1);
	assert_int_equal(join_thread(thread), 0);
	modal_close(&m);
}

static LRESULT sized(struct hosted *h, UINT message, WPARAM wide, LPARAM large)
{
	if (message == WM_SIZE)
		h->sizes++;
	return DefWindowProcW(h->window, message, wide, large);
}

static void resize(rouse_loop *loop, void *data)
{
	struct hosted *h = data;
	unsigned before = h->sizes;

	for (int i = 1; i <= 10; i++)
		SetWindowPos(h->window, NULL, 0, 0, 200 + i * 10, 200, SWP_NOMOVE | SWP_NOZORDER);
	assert_true(h->sizes >= before + 10);
	assert_int_equal(rouse_loop_stop(loop), 0);
}

static void n10_a_callback_sizes_the_window(void **state)
{
	struct hosted h;

	(void)state;
	hosted_open(&h);
	hosted_window(&h, sized);
	assert_true(rouse_post(h.remote, resize, &h, NULL) >= 0);
	assert_int_equal(rouse_win32_run(h.win32, NULL), 0);
	hosted_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(n1_a_message_box_is_no_end),
	        cmocka_unit_test(n1_a_menu_is_no_end),
	        cmocka_unit_test(n1_moving_is_no_end),
	        cmocka_unit_test(n1_sizing_is_no_end),
	        cmocka_unit_test(n9_a_modal_loops_quit_is_ours),
	        cmocka_unit_test(n9_a_nested_loops_quit_is_ours),
	        cmocka_unit_test(n9_a_quit_goes_on_to_a_loop_of_the_programs),
	        cmocka_unit_test(n10_what_was_reported_together_is_served_inside),
	        cmocka_unit_test(n10_a_callback_in_a_message_box_in_a_callback_stops_the_loop),
	        cmocka_unit_test(n10_a_callback_sizes_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
