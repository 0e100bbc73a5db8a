/* However much the loop has to do, the queue's input, paint and timers have their turn. */
#include "hosted.h"

enum { TIMES = 20 };

struct busy {
	struct hosted h;
	rouse_waker *waker;
	unsigned turns;
	atomic_int over;
	int always_paints;
};

static LRESULT handle(struct hosted *h, UINT message, WPARAM wide, LPARAM large)
{
	const struct busy *b = h->data;

	switch (message) {
	case WM_TIMER:
		h->timers++;
		if (!b->always_paints)
			InvalidateRect(h->window, NULL, TRUE);
		return 0;
	case WM_PAINT:
		h->paints++;
		ValidateRect(h->window, NULL);
		if (b->always_paints)
			InvalidateRect(h->window, NULL, TRUE);
		return 0;
	case WM_KEYDOWN:
		h->keys++;
		return 0;
	default:
		return DefWindowProcW(h->window, message, wide, large);
	}
}

static void wake_again(rouse_loop *loop, void *data)
{
	struct busy *b = data;

	(void)loop;
	b->turns++;
	(void)rouse_wake(b->waker);
}

static unsigned __stdcall post_on(void *data)
{
	struct busy *b = data;

	while (!atomic_load(&b->over)) {
		int unused = 0;

		if (rouse_call(b->h.remote, count_call, &unused) < 0)
			return 1;
	}
	return 0;
}

static unsigned __stdcall press_on(void *data)
{
	const struct busy *b = data;
	INPUT key[2] = {{.type = INPUT_KEYBOARD, .ki.wVk = 'A'},
	                {.type = INPUT_KEYBOARD, .ki.wVk = 'A', .ki.dwFlags = KEYEVENTF_KEYUP}};

	while (!atomic_load(&b->over)) {
		SendInput(2, key, sizeof *key);
		Sleep(10);
	}
	return 0;
}

static void busy_open(struct busy *b, int always_paints)
{
	*b = (struct busy){.always_paints = always_paints};
	hosted_open(&b->h);
	b->h.data = b;
	hosted_window(&b->h, handle);
	assert_int_equal(rouse_waker_create(b->h.loop, wake_again, b, &b->waker), 0);
}

static void busy_close(struct busy *b)
{
	print_message("%u turns, %u timers, %u paints, %u keys\n", b->turns, b->h.timers,
	              b->h.paints, b->h.keys);
	rouse_waker_unref(b->waker);
	hosted_close(&b->h);
}

/* One message after the other, as a program takes them. */
#define DISPATCH_UNTIL(condition)                                                                  \
	do {                                                                                       \
		rouse_ns end_ = rouse_now() + HANG;                                                \
		MSG message_;                                                                      \
		while (!(condition)) {                                                             \
			assert_true(GetMessageW(&message_, NULL, 0, 0) > 0);                       \
			DispatchMessageW(&message_);                                               \
			assert_true(rouse_now() < end_);                                           \
		}                                                                                  \
	} while (0)

static void n7_a_waker_that_wakes_itself_starves_nobody(void **state)
{
	struct busy b;
	HANDLE presses;

	(void)state;
	busy_open(&b, 0);
	SetTimer(b.h.window, 1, 10, NULL);
	presses = start_thread(press_on, &b);
	assert_true(rouse_wake(b.waker) >= 0);
	DISPATCH_UNTIL(b.h.timers >= TIMES && b.h.paints >= TIMES && b.h.keys >= TIMES &&
	               b.turns >= TIMES);
	atomic_store(&b.over, 1);
	assert_int_equal(join_thread(presses), 0);
	busy_close(&b);
}

static void n7_posts_from_elsewhere_starve_nobody(void **state)
{
	struct busy b;
	HANDLE threads[3], presses;

	(void)state;
	busy_open(&b, 0);
	SetTimer(b.h.window, 1, 10, NULL);
	presses = start_thread(press_on, &b);
	for (int i = 0; i < 3; i++)
		threads[i] = start_thread(post_on, &b);
	DISPATCH_UNTIL(b.h.timers >= TIMES && b.h.paints >= TIMES && b.h.keys >= TIMES);
	atomic_store(&b.over, 1);
	for (int i = 0; i < 3; i++) {
		while (WaitForSingleObject(threads[i], 1) == WAIT_TIMEOUT)
			pump();
		assert_int_equal(join_thread(threads[i]), 0);
	}
	assert_int_equal(join_thread(presses), 0);
	busy_close(&b);
}

static void n7_a_window_that_always_paints_starves_no_loop(void **state)
{
	struct busy b;

	(void)state;
	busy_open(&b, 1);
	InvalidateRect(b.h.window, NULL, TRUE);
	assert_true(rouse_wake(b.waker) >= 0);
	DISPATCH_UNTIL(b.turns >= TIMES && b.h.paints >= TIMES);
	b.always_paints = 0;
	busy_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(n7_a_waker_that_wakes_itself_starves_nobody),
	        cmocka_unit_test(n7_posts_from_elsewhere_starve_nobody),
	        cmocka_unit_test(n7_a_window_that_always_paints_starves_no_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
