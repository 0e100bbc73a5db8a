/* Handles that are removed, closed, and watched twice. */
#include "seen.h"

static void remove_self(struct seen *s)
{
	unwatch_handle(s);
	CloseHandle(s->handle);
}

static void l3_removed_in_its_own_callback_and_closed(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen s = {.then = remove_self};

	(void)state;
	watch_handle(loop, &s, new_event(1, 1));
	UNTIL(loop, s.runs);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(s.runs, 1);
	finish(loop);
}

static struct seen pair[2];

static void remove_other(struct seen *s)
{
	struct seen *other = &pair[s == &pair[0]];

	unwatch_handle(other);
	CloseHandle(other->handle);
}

static void l3_removed_by_another_of_the_same_batch(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);

	(void)state;
	for (int i = 0; i < 2; i++) {
		pair[i] = (struct seen){.then = remove_other};
		watch_handle(loop, &pair[i], new_event(0, 1));
	}
	UNTIL(loop, pair[0].runs + pair[1].runs);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(pair[0].runs + pair[1].runs, 1);
	for (int i = 0; i < 2; i++)
		if (pair[i].runs)
			unwatch_handle(&pair[i]);
	finish(loop);
}

struct hammer {
	HANDLE handle;
	atomic_int stop;
};

static unsigned __stdcall hammer(void *data)
{
	struct hammer *h = data;

	while (!atomic_load(&h->stop))
		SetEvent(h->handle);
	return 0;
}

/* The pool's thread is anywhere in its callback while the source is removed, and freed. */
static void l4_removed_while_it_is_signalled(void **state)
{
	struct counting c;
	rouse_loop *loop;
	struct hammer h = {new_event(0, 0), 0};
	HANDLE thread;

	(void)state;
	counting_init(&c);
	loop = loop_on("win32", &c);
	thread = start_thread(hammer, &h);
	for (int i = 0; i < 500; i++) {
		struct seen s = {0};

		watch_handle(loop, &s, h.handle);
		if (i % 2)
			assert_true(rouse_loop_turn(loop, 0) >= 0);
		if (i % 3)
			UNTIL(loop, s.runs);
		unwatch_handle(&s);
	}
	atomic_store(&h.stop, 1);
	assert_int_equal(join_thread(thread), 0);
	assert_int_equal(drain(loop), 0);
	finish(loop);
	counting_check(&c);
	CloseHandle(h.handle);
}

static void f3_removed_then_closed_at_once_and_its_number_used_anew(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen fresh = {0};
	int reused = 0;

	(void)state;
	for (int i = 0; i < 50; i++) {
		struct seen s = {0};
		HANDLE next;

		watch_handle(loop, &s, new_event(0, 0));
		assert_true(rouse_loop_turn(loop, 0) >= 0);
		unwatch_handle(&s);
		CloseHandle(s.handle);
		next = new_event(0, 1);
		reused += next == s.handle;
		fresh = (struct seen){0};
		watch_handle(loop, &fresh, next);
		UNTIL(loop, fresh.runs);
		assert_int_equal(s.runs, 0);
		assert_int_equal(fresh.events, ROUSE_READABLE);
		unwatch_handle(&fresh);
		CloseHandle(next);
	}
	assert_true(reused);
	finish(loop);
}

static void the_same_handle_twice(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen one = {0}, two = {0};
	HANDLE semaphore = CreateSemaphoreW(NULL, 0, 100, NULL), manual = new_event(1, 0);

	(void)state;
	/* Of what is used up each signal is told to one of them. */
	watch_handle(loop, &one, semaphore);
	watch_handle(loop, &two, semaphore);
	ReleaseSemaphore(semaphore, 100, NULL);
	UNTIL(loop, one.runs + two.runs == 100);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(one.runs + two.runs, 100);
	unwatch_handle(&one);
	ReleaseSemaphore(semaphore, 10, NULL);
	UNTIL(loop, one.runs + two.runs == 110);
	unwatch_handle(&two);
	/* Of what stays signalled, to both. */
	watch_handle(loop, &one, manual);
	watch_handle(loop, &two, manual);
	one.runs = two.runs = 0;
	SetEvent(manual);
	UNTIL(loop, one.runs && two.runs);
	ResetEvent(manual);
	(void)drain(loop);
	unwatch_handle(&one);
	unwatch_handle(&two);
	finish(loop);
	CloseHandle(semaphore);
	CloseHandle(manual);
}

/* A loop that is destroyed leaves handles to whom they belong, and none of its own. */
static void destroyed_with_handles_in_it(void **state)
{
	HANDLE handles[100];
	unsigned before = 0;

	(void)state;
	for (int round = 0; round < 4; round++) {
		struct seen seen[100] = {{0}};
		rouse_loop *loop = loop_on("win32", NULL);

		for (int i = 0; i < 100; i++) {
			handles[i] = new_event(0, i % 2);
			watch_handle(loop, &seen[i], handles[i]);
		}
		assert_true(rouse_loop_turn(loop, 0) >= 0);
		finish(loop);
		for (int i = 0; i < 100; i++) {
			DWORD flags;

			assert_true(GetHandleInformation(handles[i], &flags));
			CloseHandle(handles[i]);
		}
		/* The first rounds make what a process has once; a pool's thread ends in its own
		 * time. */
		if (round == 1)
			before = open_handles();
	}
	for (int i = 0; i < 500 && open_handles() > before + 20; i++)
		Sleep(10);
	assert_true(open_handles() <= before + 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(l3_removed_in_its_own_callback_and_closed),
	        cmocka_unit_test(l3_removed_by_another_of_the_same_batch),
	        cmocka_unit_test(l4_removed_while_it_is_signalled),
	        cmocka_unit_test(f3_removed_then_closed_at_once_and_its_number_used_anew),
	        cmocka_unit_test(the_same_handle_twice),
	        cmocka_unit_test(destroyed_with_handles_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
