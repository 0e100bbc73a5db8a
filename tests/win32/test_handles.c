/* Waitable handles of the system's: any number of them, each signal told, in order. */
#include "win32.h"

#include <stdlib.h>

struct seen {
	rouse_loop *loop;
	rouse_source self;
	void *handle;
	unsigned events;
	int runs;
	void (*then)(struct seen *seen);
};

static void note(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	struct seen *s = data;

	assert_ptr_equal(loop, s->loop);
	assert_true(self.id == s->self.id);
	assert_ptr_equal(handle, s->handle);
	s->events |= events;
	s->runs++;
	if (s->then)
		s->then(s);
}

static void watch(rouse_loop *loop, struct seen *s, HANDLE handle)
{
	s->loop = loop;
	s->handle = handle;
	assert_int_equal(rouse_handle_add(loop, handle, note, s, &s->self), 0);
}

static HANDLE event(int manual, int set)
{
	HANDLE handle = CreateEventW(NULL, manual, set, NULL);

	assert_non_null(handle);
	return handle;
}

static void unwatch(struct seen *s)
{
	assert_int_equal(rouse_remove(s->loop, s->self), 0);
}

static void finish(rouse_loop *loop)
{
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* ---- N2: every signal, in order ------------------------------------------------------- */

enum { HANDLES = 200, ROUNDS = 50 };

/* Each handle is one of three kinds.  A producer signals all of one kind round by round.  Of an
 * event it sets the next signal once the last was answered, or two would be one; a semaphore
 * counts, and gets its signals as they come. */
struct crowd {
	struct seen seen[HANDLES];
	HANDLE answered[HANDLES];
	atomic_int sent[HANDLES];
	int told[HANDLES];
	unsigned lost, early;
};

static struct crowd *crowd;

static int counts(int i)
{
	return i % 3 == 0;
}

static unsigned __stdcall produce(void *data)
{
	int first = *(int *)data;

	for (int round = 0; round < ROUNDS; round++)
		for (int i = first; i < HANDLES; i += 4) {
			HANDLE handle = crowd->seen[i].handle;

			if (!counts(i))
				WaitForSingleObject(crowd->answered[i], INFINITE);
			atomic_fetch_add(&crowd->sent[i], 1);
			if (counts(i))
				ReleaseSemaphore(handle, 1, NULL);
			else
				SetEvent(handle);
		}
	return 0;
}

static void answer(struct seen *s)
{
	int i = (int)(s - crowd->seen);

	/* The signal that is told now was sent already, and is the next one. */
	if (++crowd->told[i] > atomic_load(&crowd->sent[i]))
		crowd->early++;
	if (!counts(i)) {
		if (crowd->told[i] != atomic_load(&crowd->sent[i]))
			crowd->lost++;
		if (i % 3 == 1)
			ResetEvent(s->handle);
		SetEvent(crowd->answered[i]);
	}
}

static int told_all(void)
{
	for (int i = 0; i < HANDLES; i++)
		if (crowd->told[i] < ROUNDS)
			return 0;
	return 1;
}

static void n2_two_hundred_handles_lose_nothing(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	HANDLE threads[4];
	int first[4];

	(void)state;
	crowd = calloc(1, sizeof *crowd);
	assert_non_null(crowd);
	for (int i = 0; i < HANDLES; i++) {
		HANDLE handle =
		        counts(i) ? CreateSemaphoreW(NULL, 0, ROUNDS, NULL) : event(i % 3 == 1, 0);

		assert_non_null(handle);
		crowd->answered[i] = event(0, 1);
		crowd->seen[i].then = answer;
		watch(loop, &crowd->seen[i], handle);
	}
	for (int t = 0; t < 4; t++) {
		first[t] = t;
		threads[t] = start_thread(produce, &first[t]);
	}
	UNTIL(loop, told_all());
	for (int t = 0; t < 4; t++)
		assert_int_equal(join_thread(threads[t]), 0);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(crowd->lost, 0);
	assert_int_equal(crowd->early, 0);
	for (int i = 0; i < HANDLES; i++) {
		assert_int_equal(crowd->told[i], ROUNDS);
		assert_int_equal(crowd->seen[i].events, ROUSE_READABLE);
		unwatch(&crowd->seen[i]);
		CloseHandle(crowd->seen[i].handle);
		CloseHandle(crowd->answered[i]);
	}
	finish(loop);
	free(crowd);
}

/* ---- What can be watched --------------------------------------------------------------- */

static unsigned __stdcall end_at_once(void *data)
{
	(void)data;
	return 7;
}

static void n2_a_waitable_timer_and_a_thread(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen timer = {0}, thread = {0};
	HANDLE handles[2] = {CreateWaitableTimerW(NULL, FALSE, NULL), NULL};
	LARGE_INTEGER due = {.QuadPart = -50000};

	(void)state;
	watch(loop, &timer, handles[0]);
	assert_true(SetWaitableTimer(handles[0], &due, 5, NULL, NULL, FALSE));
	UNTIL(loop, timer.runs >= 5);
	CancelWaitableTimer(handles[0]);
	(void)drain(loop);
	handles[1] = start_thread(end_at_once, NULL);
	watch(loop, &thread, handles[1]);
	UNTIL(loop, thread.runs);
	/* It has ended, and stays so. */
	UNTIL(loop, thread.runs >= 3);
	unwatch(&thread);
	unwatch(&timer);
	finish(loop);
	assert_int_equal(join_thread(handles[1]), 7);
	CloseHandle(handles[0]);
}

static void refused(rouse_loop *loop, HANDLE handle, int error)
{
	rouse_source source = {12345};
	unsigned before = open_descriptors();

	assert_int_equal(rouse_handle_add(loop, handle, ignore_handle, NULL, &source), error);
	assert_true(source.id == 12345);
	assert_int_equal(open_descriptors(), before);
}

static void what_cannot_be_waited_for_is_refused(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen s = {0};
	HANDLE mutex = CreateMutexW(NULL, FALSE, NULL), taken = CreateMutexW(NULL, TRUE, NULL);
	HANDLE ends[2], file, section, closed = event(0, 0), fine = event(0, 0);
	WCHAR path[MAX_PATH + 1], folder[MAX_PATH + 1];

	(void)state;
	assert_true(GetTempPathW(MAX_PATH, folder) && GetTempFileNameW(folder, L"rou", 0, path));
	file = CreateFileW(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE,
	                   NULL);
	assert_true(file != INVALID_HANDLE_VALUE);
	assert_true(CreatePipe(&ends[0], &ends[1], NULL, 0));
	section = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 4096, NULL);
	assert_non_null(section);
	/* So that the pool is there. */
	watch(loop, &s, fine);
	refused(loop, mutex, ROUSE_ENOTSUP);
	refused(loop, taken, ROUSE_ENOTSUP);
	refused(loop, ends[0], ROUSE_ENOTSUP);
	refused(loop, ends[1], ROUSE_ENOTSUP);
	refused(loop, file, ROUSE_ENOTSUP);
	/* Now: its number is the next one to be used. */
	CloseHandle(closed);
	refused(loop, closed, ROUSE_EOS);
	assert_int_equal(rouse_os_error(), ERROR_INVALID_HANDLE);
	refused(loop, section, ROUSE_EOS);
	assert_int_equal(rouse_os_error(), ERROR_INVALID_HANDLE);
	refused(loop, GetCurrentProcess(), ROUSE_EINVAL);
	refused(loop, NULL, ROUSE_EINVAL);
	SetEvent(fine);
	UNTIL(loop, s.runs);
	finish(loop);
	assert_int_equal(WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);
	CloseHandle(section);
	CloseHandle(ends[0]);
	CloseHandle(ends[1]);
	CloseHandle(file);
	CloseHandle(mutex);
	CloseHandle(taken);
	CloseHandle(fine);
}

/* ---- N3 ---------------------------------------------------------------------------------- */

static void n3_an_invalid_handle_is_dropped_and_the_others_go_on(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen bad = {0}, good = {0};

	(void)state;
	watch(loop, &bad, event(1, 1));
	watch(loop, &good, event(0, 0));
	UNTIL(loop, bad.runs);
	CloseHandle(bad.handle);
	bad.events = 0;
	bad.runs = 0;
	UNTIL(loop, bad.runs);
	assert_int_equal(bad.events, ROUSE_FDERROR);
	for (int i = 1; i <= 10; i++) {
		SetEvent(good.handle);
		UNTIL(loop, good.runs == i);
	}
	assert_int_equal(drain(loop), 0);
	assert_int_equal(bad.runs, 1);
	assert_int_equal(stats_of(loop).fds_dropped, 1);
	unwatch(&bad);
	unwatch(&good);
	finish(loop);
	CloseHandle(good.handle);
}

/* A wait that is under way goes on for what the handle named, as the system's own do.  Whoever has
 * another handle of that may signal it: then the closed one is told to be that. */
static void n3_closed_while_its_wait_is_pending(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	const HANDLE self = GetCurrentProcess();
	struct seen s = {0}, good = {0};
	HANDLE other, reused;

	(void)state;
	watch(loop, &good, event(0, 0));
	watch(loop, &s, event(0, 0));
	assert_true(DuplicateHandle(self, s.handle, self, &other, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_int_equal(drain(loop), 0);
	CloseHandle(s.handle);
	/* The next handle has its number, or none has. */
	reused = event(1, 1);
	assert_int_equal(drain(loop), 0);
	SetEvent(good.handle);
	UNTIL(loop, good.runs);
	assert_int_equal(s.runs, 0);
	SetEvent(other);
	UNTIL(loop, s.runs);
	assert_int_equal(s.events, ROUSE_FDERROR);
	SetEvent(other);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(s.runs, 1);
	unwatch(&s);
	unwatch(&good);
	finish(loop);
	CloseHandle(good.handle);
	CloseHandle(other);
	CloseHandle(reused);
}

static void n3_an_always_signalled_handle_holds_nobody_up(void **state)
{
	rouse_loop_options options = {.size = sizeof options, .poller = "win32", .max_batch = 1};

	(void)state;
	for (int batch = 1; batch <= 64; batch *= 8) {
		rouse_loop *loop;
		struct seen always = {0}, other = {0};

		options.max_batch = (unsigned)batch;
		assert_int_equal(rouse_loop_create(&options, &loop), 0);
		watch(loop, &always, event(1, 1));
		watch(loop, &other, event(0, 0));
		UNTIL(loop, always.runs);
		for (int i = 1; i <= 20; i++) {
			int before = always.runs;

			SetEvent(other.handle);
			/* The pool's thread may need its time; from when it is known, two passes.
			 */
			while (other.runs < i) {
				assert_true(rouse_loop_turn(loop, ROUSE_NEVER) >= 0);
				Sleep(1);
				assert_true(always.runs - before < 1000);
			}
		}
		/* Also where the others' signals need no thread: they are there before the turn. */
		for (int i = 1; i <= 20; i++) {
			int turns = 0, was = other.runs;

			SetEvent(other.handle);
			Sleep(20);
			while (other.runs == was && ++turns <= 3)
				assert_true(rouse_loop_turn(loop, ROUSE_NEVER) >= 0);
			assert_true(turns <= 2 + (batch == 1));
		}
		unwatch(&always);
		unwatch(&other);
		finish(loop);
		CloseHandle(always.handle);
		CloseHandle(other.handle);
	}
}

/* ---- Removing ------------------------------------------------------------------------------ */

static void remove_self(struct seen *s)
{
	unwatch(s);
	CloseHandle(s->handle);
}

static void l3_removed_in_its_own_callback_and_closed(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen s = {.then = remove_self};

	(void)state;
	watch(loop, &s, event(1, 1));
	UNTIL(loop, s.runs);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(s.runs, 1);
	finish(loop);
}

static struct seen pair[2];

static void remove_other(struct seen *s)
{
	struct seen *other = &pair[s == &pair[0]];

	unwatch(other);
	CloseHandle(other->handle);
}

static void l3_removed_by_another_of_the_same_batch(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);

	(void)state;
	for (int i = 0; i < 2; i++) {
		pair[i] = (struct seen){.then = remove_other};
		watch(loop, &pair[i], event(0, 1));
	}
	UNTIL(loop, pair[0].runs + pair[1].runs);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(pair[0].runs + pair[1].runs, 1);
	for (int i = 0; i < 2; i++)
		if (pair[i].runs)
			unwatch(&pair[i]);
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
	struct hammer h = {event(0, 0), 0};
	HANDLE thread;

	(void)state;
	counting_init(&c);
	loop = loop_on("win32", &c);
	thread = start_thread(hammer, &h);
	for (int i = 0; i < 500; i++) {
		struct seen s = {0};

		watch(loop, &s, h.handle);
		if (i % 2)
			assert_true(rouse_loop_turn(loop, 0) >= 0);
		if (i % 3)
			UNTIL(loop, s.runs);
		unwatch(&s);
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

		watch(loop, &s, event(0, 0));
		assert_true(rouse_loop_turn(loop, 0) >= 0);
		unwatch(&s);
		CloseHandle(s.handle);
		next = event(0, 1);
		reused += next == s.handle;
		fresh = (struct seen){0};
		watch(loop, &fresh, next);
		UNTIL(loop, fresh.runs);
		assert_int_equal(s.runs, 0);
		assert_int_equal(fresh.events, ROUSE_READABLE);
		unwatch(&fresh);
		CloseHandle(next);
	}
	assert_true(reused);
	finish(loop);
}

static void the_same_handle_twice(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen one = {0}, two = {0};
	HANDLE semaphore = CreateSemaphoreW(NULL, 0, 100, NULL), manual = event(1, 0);

	(void)state;
	/* Of what is used up each signal is told to one of them. */
	watch(loop, &one, semaphore);
	watch(loop, &two, semaphore);
	ReleaseSemaphore(semaphore, 100, NULL);
	UNTIL(loop, one.runs + two.runs == 100);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(one.runs + two.runs, 100);
	unwatch(&one);
	ReleaseSemaphore(semaphore, 10, NULL);
	UNTIL(loop, one.runs + two.runs == 110);
	unwatch(&two);
	/* Of what stays signalled, to both. */
	watch(loop, &one, manual);
	watch(loop, &two, manual);
	one.runs = two.runs = 0;
	SetEvent(manual);
	UNTIL(loop, one.runs && two.runs);
	ResetEvent(manual);
	(void)drain(loop);
	unwatch(&one);
	unwatch(&two);
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
			handles[i] = event(0, i % 2);
			watch(loop, &seen[i], handles[i]);
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
			before = open_descriptors();
	}
	for (int i = 0; i < 500 && open_descriptors() > before + 20; i++)
		Sleep(10);
	assert_true(open_descriptors() <= before + 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(n2_two_hundred_handles_lose_nothing),
	        cmocka_unit_test(n2_a_waitable_timer_and_a_thread),
	        cmocka_unit_test(what_cannot_be_waited_for_is_refused),
	        cmocka_unit_test(n3_an_invalid_handle_is_dropped_and_the_others_go_on),
	        cmocka_unit_test(n3_closed_while_its_wait_is_pending),
	        cmocka_unit_test(n3_an_always_signalled_handle_holds_nobody_up),
	        cmocka_unit_test(l3_removed_in_its_own_callback_and_closed),
	        cmocka_unit_test(l3_removed_by_another_of_the_same_batch),
	        cmocka_unit_test(l4_removed_while_it_is_signalled),
	        cmocka_unit_test(f3_removed_then_closed_at_once_and_its_number_used_anew),
	        cmocka_unit_test(the_same_handle_twice),
	        cmocka_unit_test(destroyed_with_handles_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
