/* Waitable handles of the system's: any number of them, each signal told, in order. */
#include "seen.h"

#include <stdlib.h>

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
		HANDLE handle = counts(i) ? CreateSemaphoreW(NULL, 0, ROUNDS, NULL)
		                          : new_event(i % 3 == 1, 0);

		assert_non_null(handle);
		crowd->answered[i] = new_event(0, 1);
		crowd->seen[i].then = answer;
		watch_handle(loop, &crowd->seen[i], handle);
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
		unwatch_handle(&crowd->seen[i]);
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
	watch_handle(loop, &timer, handles[0]);
	assert_true(SetWaitableTimer(handles[0], &due, 5, NULL, NULL, FALSE));
	UNTIL(loop, timer.runs >= 5);
	CancelWaitableTimer(handles[0]);
	(void)drain(loop);
	handles[1] = start_thread(end_at_once, NULL);
	watch_handle(loop, &thread, handles[1]);
	UNTIL(loop, thread.runs);
	/* It has ended, and stays so. */
	UNTIL(loop, thread.runs >= 3);
	unwatch_handle(&thread);
	unwatch_handle(&timer);
	finish(loop);
	assert_int_equal(join_thread(handles[1]), 7);
	CloseHandle(handles[0]);
}

/* @return how many handles there are more than before. */
static int refuse(rouse_loop *loop, HANDLE handle, int error)
{
	rouse_source source = {12345};
	unsigned before = open_handles();

	assert_int_equal(rouse_handle_add(loop, handle, ignore_handle, NULL, &source), error);
	assert_true(source.id == 12345);
	return (int)open_handles() - (int)before;
}

/* Threads of the system's open some of their own now and then; what a refusal left would be there
 * each time. */
static void refused(rouse_loop *loop, HANDLE handle, int error)
{
	int tries = 0;

	while (refuse(loop, handle, error) > 0)
		assert_true(++tries < 20);
}

static void what_cannot_be_waited_for_is_refused(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct seen s = {0};
	HANDLE mutex = CreateMutexW(NULL, FALSE, NULL), taken = CreateMutexW(NULL, TRUE, NULL);
	HANDLE ends[2], file, section, closed = new_event(0, 0), fine = new_event(0, 0);
	WCHAR path[MAX_PATH + 1], folder[MAX_PATH + 1];

	(void)state;
	assert_true(GetTempPathW(MAX_PATH, folder) && GetTempFileNameW(folder, L"rou", 0, path));
	file = CreateFileW(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE,
	                   NULL);
	assert_true(file != INVALID_HANDLE_VALUE);
	assert_true(CreatePipe(&ends[0], &ends[1], NULL, 0));
	section = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 4096, NULL);
	assert_non_null(section);
	/* So that the pool is there, and its thread has all that it opens. */
	watch_handle(loop, &s, fine);
	SetEvent(fine);
	UNTIL(loop, s.runs == 1);
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
	UNTIL(loop, s.runs == 2);
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
	watch_handle(loop, &bad, new_event(1, 1));
	watch_handle(loop, &good, new_event(0, 0));
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
	unwatch_handle(&bad);
	unwatch_handle(&good);
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
	watch_handle(loop, &good, new_event(0, 0));
	watch_handle(loop, &s, new_event(0, 0));
	assert_true(DuplicateHandle(self, s.handle, self, &other, 0, FALSE, DUPLICATE_SAME_ACCESS));
	assert_int_equal(drain(loop), 0);
	CloseHandle(s.handle);
	/* The next handle has its number, or none has. */
	reused = new_event(1, 1);
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
	unwatch_handle(&s);
	unwatch_handle(&good);
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
		watch_handle(loop, &always, new_event(1, 1));
		watch_handle(loop, &other, new_event(0, 0));
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
		unwatch_handle(&always);
		unwatch_handle(&other);
		finish(loop);
		CloseHandle(always.handle);
		CloseHandle(other.handle);
	}
}

static void n3_two_that_are_always_signalled_take_turns(void **state)
{
	rouse_loop_options options = {.size = sizeof options, .poller = "win32", .max_batch = 1};
	rouse_loop *loop;
	struct seen two[2] = {{0}, {0}};

	(void)state;
	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	for (int i = 0; i < 2; i++)
		watch_handle(loop, &two[i], new_event(1, 1));
	UNTIL(loop, two[0].runs + two[1].runs == 20);
	assert_in_range(two[0].runs, 9, 11);
	finish(loop);
	for (int i = 0; i < 2; i++)
		CloseHandle(two[i].handle);
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
	        cmocka_unit_test(n3_two_that_are_always_signalled_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
