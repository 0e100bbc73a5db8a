/* Pipes as sources, overlapped and others: what they report, and what becomes of their reads. */
#include "seen.h"

#include <rouse/win32.h>

#include <stdio.h>
#include <string.h>

struct pipe {
	struct seen seen; /* first */
	HANDLE reader, writer;
	int overlapped;
	char text[64];
	DWORD length;
};

static struct pipe *of(struct seen *s)
{
	return (struct pipe *)s;
}

static void note(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	struct pipe *r = data;

	assert_ptr_equal(loop, r->seen.loop);
	assert_true(self.id == r->seen.self.id);
	assert_ptr_equal(handle, r->reader);
	r->seen.events |= events;
	r->seen.runs++;
	if (r->seen.then)
		r->seen.then(&r->seen);
}

static void open_pipe(struct pipe *r, int overlapped)
{
	static unsigned made;
	char name[64];

	r->overlapped = overlapped;
	if (!overlapped) {
		assert_true(CreatePipe(&r->reader, &r->writer, NULL, 4096));
		return;
	}
	snprintf(name, sizeof name, "\\\\.\\pipe\\rouse-%lu-%u", GetCurrentProcessId(), made++);
	r->reader = CreateNamedPipeA(name, PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED,
	                             PIPE_TYPE_BYTE | PIPE_WAIT, 1, 4096, 4096, 0, NULL);
	assert_true(r->reader != INVALID_HANDLE_VALUE);
	r->writer = CreateFileA(name, GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
	assert_true(r->writer != INVALID_HANDLE_VALUE);
}

static int add_pipe(rouse_loop *loop, struct pipe *r)
{
	r->seen.loop = loop;
	r->seen.handle = r->reader;
	return rouse_win32_pipe_add(loop, r->reader, note, r, &r->seen.self);
}

static void watch_pipe(rouse_loop *loop, struct pipe *r)
{
	assert_int_equal(add_pipe(loop, r), 0);
}

static void close_pipe(struct pipe *r)
{
	CloseHandle(r->reader);
	CloseHandle(r->writer);
}

static void tell(struct pipe *r, const char *text)
{
	DWORD wrote;

	assert_true(WriteFile(r->writer, text, (DWORD)strlen(text), &wrote, NULL));
	assert_int_equal(wrote, strlen(text));
}

static void read_some(struct pipe *r, DWORD most)
{
	OVERLAPPED now = {.hEvent = new_event(1, 0)};
	DWORD got = 0;

	assert_true(r->length + most <= sizeof r->text);
	if (!ReadFile(r->reader, r->text + r->length, most, r->overlapped ? NULL : &got,
	              r->overlapped ? &now : NULL))
		assert_int_equal(GetLastError(), ERROR_IO_PENDING);
	if (r->overlapped)
		assert_true(GetOverlappedResult(r->reader, &now, &got, TRUE));
	CloseHandle(now.hEvent);
	r->length += got;
}

static void read_one(struct seen *s)
{
	if (!(s->events & ROUSE_HANGUP))
		read_some(of(s), 1);
}

static void read_what_is_there(struct seen *s)
{
	DWORD there;

	if (PeekNamedPipe(of(s)->reader, NULL, 0, NULL, &there, NULL) && there)
		read_some(of(s), there);
}

#define BOTH_KINDS(overlapped) for (int overlapped = 0; overlapped < 2; overlapped++)

/* ---- What they report ----------------------------------------------------------------------- */

static void told_as_long_as_there_is_something(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		rouse_loop *loop = loop_on("win32", NULL);
		struct pipe r = {.seen.then = read_one};

		open_pipe(&r, overlapped);
		watch_pipe(loop, &r);
		assert_int_equal(drain(loop), 0);
		/* Three bytes of one write, one of them a run. */
		tell(&r, "abc");
		UNTIL(loop, r.length == 3);
		assert_int_equal(drain(loop), 0);
		assert_int_equal(r.seen.runs, 3);
		for (int i = 0; i < 10; i++) {
			tell(&r, "d");
			UNTIL(loop, r.length == 4u + (unsigned)i);
		}
		assert_int_equal(drain(loop), 0);
		assert_memory_equal(r.text, "abcdddddddddd", 13);
		assert_int_equal(r.seen.runs, 13);
		assert_int_equal(r.seen.events, ROUSE_READABLE);
		unwatch_handle(&r.seen);
		finish(loop);
		close_pipe(&r);
	}
}

static void what_was_written_before_and_nobody_reads(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		rouse_loop *loop = loop_on("win32", NULL);
		struct pipe r = {.seen.then = NULL}, other = {.seen.then = read_one};

		open_pipe(&r, overlapped);
		open_pipe(&other, !overlapped);
		tell(&r, "x");
		watch_pipe(loop, &r);
		watch_pipe(loop, &other);
		UNTIL(loop, r.seen.runs >= 3);
		tell(&other, "y");
		UNTIL(loop, other.length);
		assert_int_equal(r.seen.events, ROUSE_READABLE);
		unwatch_handle(&r.seen);
		unwatch_handle(&other.seen);
		read_some(&r, 1);
		assert_int_equal(r.text[0], 'x');
		finish(loop);
		close_pipe(&r);
		close_pipe(&other);
	}
}

static void f6_the_other_end_is_gone(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		rouse_loop *loop = loop_on("win32", NULL);
		struct pipe r = {.seen.then = read_one}, late = {.seen.then = NULL};

		open_pipe(&r, overlapped);
		open_pipe(&late, overlapped);
		watch_pipe(loop, &r);
		tell(&r, "ab");
		CloseHandle(r.writer);
		/* What was left comes first, and then the end: again and again. */
		UNTIL(loop, r.length == 2);
		assert_int_equal(r.seen.events, ROUSE_READABLE);
		UNTIL(loop, r.seen.events & ROUSE_HANGUP);
		r.seen.runs = 0;
		UNTIL(loop, r.seen.runs == 3);
		assert_int_equal(r.seen.events, ROUSE_READABLE | ROUSE_HANGUP);
		assert_true(stats_of(loop).hangups_ignored > 0);
		unwatch_handle(&r.seen);
		/* While its read is under way, and before there was one. */
		watch_pipe(loop, &late);
		assert_int_equal(drain(loop), 0);
		CloseHandle(late.writer);
		UNTIL(loop, late.seen.runs);
		assert_int_equal(late.seen.events, ROUSE_READABLE | ROUSE_HANGUP);
		unwatch_handle(&late.seen);
		late.seen.runs = 0;
		watch_pipe(loop, &late);
		UNTIL(loop, late.seen.runs);
		finish(loop);
		CloseHandle(r.reader);
		CloseHandle(late.reader);
	}
}

/* A read that ends with nothing in the pipe tells nobody, and is begun anew. */
static void what_is_cancelled_goes_on(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct pipe r = {.seen.then = read_one};

	(void)state;
	open_pipe(&r, 1);
	watch_pipe(loop, &r);
	assert_int_equal(drain(loop), 0);
	for (int i = 0; i < 5; i++) {
		assert_true(CancelIoEx(r.reader, NULL));
		assert_int_equal(drain(loop), 0);
	}
	tell(&r, "a");
	UNTIL(loop, r.length);
	finish(loop);
	close_pipe(&r);
}

static void a_port_of_the_programs_hears_nothing(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct pipe r = {.seen.then = NULL};
	OVERLAPPED_ENTRY entry;
	ULONG count;
	HANDLE port;

	(void)state;
	open_pipe(&r, 1);
	port = CreateIoCompletionPort(r.reader, NULL, 7, 1);
	assert_non_null(port);
	watch_pipe(loop, &r);
	assert_int_equal(drain(loop), 0);
	tell(&r, "a");
	UNTIL(loop, r.seen.runs);
	assert_false(GetQueuedCompletionStatusEx(port, &entry, 1, &count, 50, FALSE));
	finish(loop);
	CloseHandle(port);
	close_pipe(&r);
}

static void many_at_once(void **state)
{
	static struct pipe many[60];
	rouse_loop *loop = loop_on("win32", NULL);
	DWORD sum;

	(void)state;
	memset(many, 0, sizeof many);
	for (size_t i = 0; i < COUNT(many); i++) {
		many[i].seen.then = read_what_is_there;
		open_pipe(&many[i], i % 2);
		watch_pipe(loop, &many[i]);
	}
	for (DWORD round = 1; round <= 5; round++) {
		for (size_t i = 0; i < COUNT(many); i++)
			tell(&many[i], "abc");
		do {
			assert_true(rouse_loop_turn(loop, ROUSE_NEVER) >= 0);
			sum = 0;
			for (size_t i = 0; i < COUNT(many); i++)
				sum += many[i].length;
		} while (sum < 3 * round * COUNT(many));
	}
	assert_int_equal(drain(loop), 0);
	for (size_t i = 0; i < COUNT(many); i++)
		assert_int_equal(many[i].length, 15);
	finish(loop);
	for (size_t i = 0; i < COUNT(many); i++)
		close_pipe(&many[i]);
}

static void served_by_a_loop_of_messages(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		rouse_loop *loop = loop_on("win32", NULL);
		struct pipe r = {.seen.then = read_what_is_there};
		rouse_win32 *win32;
		MSG message;

		open_pipe(&r, overlapped);
		assert_int_equal(rouse_win32_attach(loop, NULL, &win32), 0);
		watch_pipe(loop, &r);
		for (DWORD i = 1; i <= 5; i++) {
			tell(&r, "abc");
			while (r.length < 3 * i) {
				assert_true(GetMessageW(&message, NULL, 0, 0) > 0);
				DispatchMessageW(&message);
			}
		}
		unwatch_handle(&r.seen);
		finish(loop);
		close_pipe(&r);
	}
}

/* ---- What cannot be one ------------------------------------------------------------------------
 */

static void refuse(rouse_loop *loop, HANDLE handle, int error)
{
	rouse_source source = {12345};

	assert_int_equal(rouse_win32_pipe_add(loop, handle, ignore_handle, NULL, &source), error);
	assert_true(source.id == 12345);
}

static int wrong_thread_says;

static void add_elsewhere(void *data)
{
	struct pipe *r = data;

	wrong_thread_says =
	        rouse_win32_pipe_add(r->seen.loop, r->reader, ignore_handle, NULL, NULL);
}

static void what_is_no_reading_end_is_refused(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL), *null = loop_on("null", NULL);
	struct pipe r = {.seen.loop = loop}, over = {.overlapped = 1};
	HANDLE event = new_event(0, 0), alone;
	WSADATA data;
	SOCKET s;
	DWORD nowait = PIPE_NOWAIT;

	(void)state;
	assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
	s = socket(AF_INET, SOCK_STREAM, 0);
	open_pipe(&r, 0);
	open_pipe(&over, 1);
	refuse(NULL, r.reader, ROUSE_EINVAL);
	refuse(loop, NULL, ROUSE_EINVAL);
	assert_int_equal(rouse_win32_pipe_add(loop, r.reader, NULL, NULL, NULL), ROUSE_EINVAL);
	refuse(null, r.reader, ROUSE_ENOTSUP);
	refuse(loop, event, ROUSE_ENOTSUP);
	refuse(loop, (HANDLE)s, ROUSE_ENOTSUP);
	/* A writing end, and one that nobody has connected to. */
	refuse(loop, r.writer, ROUSE_EOS);
	assert_int_equal(rouse_os_error(), ERROR_ACCESS_DENIED);
	refuse(loop, over.writer, ROUSE_EOS);
	alone = CreateNamedPipeA("\\\\.\\pipe\\rouse-alone", PIPE_ACCESS_INBOUND, 0, 1, 0, 0, 0,
	                         NULL);
	assert_true(alone != INVALID_HANDLE_VALUE);
	refuse(loop, alone, ROUSE_EOS);
	CloseHandle(alone);
	refuse(loop, alone, ROUSE_EOS);
	assert_int_equal(rouse_os_error(), ERROR_INVALID_HANDLE);
	on_another_thread(add_elsewhere, &r);
	assert_int_equal(wrong_thread_says, ROUSE_EWRONGTHREAD);
	/* Where the system lets a reading end be one that does not wait. */
	if (SetNamedPipeHandleState(r.reader, &nowait, NULL, NULL))
		refuse(loop, r.reader, ROUSE_ENOTSUP);
	closesocket(s);
	CloseHandle(event);
	close_pipe(&r);
	close_pipe(&over);
	finish(loop);
	finish(null);
}

/* ---- Lives -------------------------------------------------------------------------------------
 */

static void remove_and_close(struct seen *s)
{
	unwatch_handle(s);
	CloseHandle(of(s)->reader);
}

static void l3_removed_in_its_own_callback_and_closed(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		struct counting c;
		rouse_loop *loop;
		struct pipe r = {.seen.then = remove_and_close};

		counting_init(&c);
		loop = loop_on("win32", &c);
		open_pipe(&r, overlapped);
		watch_pipe(loop, &r);
		tell(&r, "abc");
		UNTIL(loop, r.seen.runs);
		assert_int_equal(drain(loop), 0);
		assert_int_equal(r.seen.runs, 1);
		finish(loop);
		counting_check(&c);
		CloseHandle(r.writer);
	}
}

struct hammer {
	HANDLE writer;
	atomic_int stop;
};

static unsigned __stdcall hammer(void *data)
{
	struct hammer *h = data;
	DWORD wrote;

	while (!atomic_load(&h->stop))
		if (!WriteFile(h->writer, "x", 1, &wrote, NULL))
			return 1;
	return 0;
}

/* The read is anywhere while the source is removed: about to begin, under way, ended, told. */
static void l4_removed_while_it_is_written_to(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		struct counting c;
		rouse_loop *loop;
		struct pipe r = {.seen.then = NULL};
		struct hammer h = {NULL, 0};
		HANDLE thread;
		DWORD there = 0;
		char sink[4096];

		counting_init(&c);
		loop = loop_on("win32", &c);
		open_pipe(&r, overlapped);
		h.writer = r.writer;
		thread = start_thread(hammer, &h);
		for (int i = 0; i < 100; i++) {
			watch_pipe(loop, &r);
			r.seen.runs = 0;
			if (i % 2)
				assert_true(rouse_loop_turn(loop, 0) >= 0);
			if (i % 3 == 0)
				UNTIL(loop, r.seen.runs);
			unwatch_handle(&r.seen);
			/* All that is there, and its last byte is not the last to be written. */
			if (PeekNamedPipe(r.reader, NULL, 0, NULL, &there, NULL) && there) {
				OVERLAPPED now = {.hEvent = new_event(1, 0)};

				(void)ReadFile(r.reader, sink, sizeof sink, &there,
				               overlapped ? &now : NULL);
				if (overlapped)
					(void)GetOverlappedResult(r.reader, &now, &there, TRUE);
				CloseHandle(now.hEvent);
			}
		}
		atomic_store(&h.stop, 1);
		/* It may wait for room. */
		while (WaitForSingleObject(thread, 1) == WAIT_TIMEOUT)
			CancelSynchronousIo(thread);
		CloseHandle(thread);
		finish(loop);
		counting_check(&c);
		close_pipe(&r);
	}
}

static void f2_closed_while_watched_it_is_told_once(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		rouse_loop *loop = loop_on("win32", NULL);
		struct pipe r = {.seen.then = NULL};
		HANDLE reused;

		open_pipe(&r, overlapped);
		watch_pipe(loop, &r);
		assert_int_equal(drain(loop), 0);
		CloseHandle(r.reader);
		reused = new_event(1, 1);
		tell(&r, "x");
		UNTIL(loop, r.seen.runs);
		assert_int_equal(r.seen.events, ROUSE_FDERROR);
		assert_int_equal(drain(loop), 0);
		assert_int_equal(r.seen.runs, 1);
		assert_int_equal(stats_of(loop).fds_dropped, 1);
		unwatch_handle(&r.seen);
		finish(loop);
		CloseHandle(reused);
		CloseHandle(r.writer);
	}
}

/* Reads under way, and threads in them, end with the loop: none is left, nor a handle. */
static void destroyed_with_pipes_in_it(void **state)
{
	unsigned before = 0;

	(void)state;
	for (int round = 0; round < 4; round++) {
		struct pipe pipes[40] = {{.seen.then = NULL}};
		struct counting c;
		rouse_loop *loop;

		counting_init(&c);
		loop = loop_on("win32", &c);
		for (size_t i = 0; i < COUNT(pipes); i++) {
			open_pipe(&pipes[i], i % 2);
			if (i % 4 < 2)
				tell(&pipes[i], "x");
			watch_pipe(loop, &pipes[i]);
		}
		assert_true(rouse_loop_turn(loop, 0) >= 0);
		if (round % 2)
			Sleep(20);
		finish(loop);
		counting_check(&c);
		for (size_t i = 0; i < COUNT(pipes); i++) {
			if (i % 4 < 2)
				read_some(&pipes[i], 1);
			close_pipe(&pipes[i]);
		}
		if (round == 1)
			before = open_handles();
	}
	for (int i = 0; i < 500 && open_handles() > before + 10; i++)
		Sleep(10);
	assert_true(open_handles() <= before + 10);
}

/* ---- Shortage
 * ------------------------------------------------------------------------------------ */

static void works(rouse_loop *loop, struct pipe *r)
{
	DWORD length = r->length;

	r->seen.then = read_what_is_there;
	watch_pipe(loop, r);
	tell(r, "a");
	UNTIL(loop, r->length > length);
	unwatch_handle(&r->seen);
}

static void l9_adding_without_memory(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		struct pipe r = {.seen.then = NULL};
		int error = ROUSE_ENOMEM;

		open_pipe(&r, overlapped);
		for (unsigned n = 1; error; n++) {
			struct counting c;
			rouse_loop *loop;

			counting_init(&c);
			loop = loop_on("win32", &c);
			counting_fail(&c, n);
			error = add_pipe(loop, &r);
			c.fail_at = 0;
			if (!error) {
				assert_true(n > 2);
				unwatch_handle(&r.seen);
			} else {
				assert_int_equal(error, ROUSE_ENOMEM);
			}
			works(loop, &r);
			finish(loop);
			counting_check(&c);
		}
		close_pipe(&r);
	}
}

static void adding_while_the_system_refuses(void **state)
{
	static const struct {
		enum rouse__call call;
		int overlapped;
		unsigned skip;
	} rows[] = {
	        {ROUSE__DUPLICATE, 0, 0}, {ROUSE__DUPLICATE, 1, 0}, {ROUSE__PIPE, 0, 0},
	        {ROUSE__PIPE, 0, 1},      {ROUSE__PIPE, 1, 0},      {ROUSE__WAIT, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pipe r = {.seen.then = NULL};
		struct counting c;
		rouse_loop *loop;
		unsigned handles;

		counting_init(&c);
		loop = loop_on("win32", &c);
		open_pipe(&r, rows[i].overlapped);
		works(loop, &r);
		handles = open_handles();
		for (int n = 0; n < 30; n++) {
			rouse__fault_fail(rows[i].call, rows[i].skip, 1, ERROR_NO_SYSTEM_RESOURCES);
			assert_int_equal(add_pipe(loop, &r), ROUSE_ENOMEM);
		}
		rouse__fault_reset();
		assert_true(open_handles() <= handles + 10);
		works(loop, &r);
		finish(loop);
		counting_check(&c);
		close_pipe(&r);
	}
}

static void a_read_that_is_refused_is_asked_for_again(void **state)
{
	(void)state;
	BOTH_KINDS(overlapped)
	{
		rouse_loop *loop = loop_on("win32", NULL);
		struct pipe r = {.seen.then = read_one};
		int refusals = 0;

		open_pipe(&r, overlapped);
		watch_pipe(loop, &r);
		rouse__fault_fail(ROUSE__PIPE_READ, 0, 3, ERROR_NO_SYSTEM_RESOURCES);
		/* The wait says so, and does not block. */
		while (refusals < 3) {
			int result = rouse_loop_turn(loop, ROUSE_NEVER);

			assert_true(result == ROUSE_ENOMEM || result == 0);
			refusals += result == ROUSE_ENOMEM;
		}
		assert_int_equal(drain(loop), 0);
		tell(&r, "a");
		UNTIL(loop, r.length);
		rouse__fault_reset();
		finish(loop);
		close_pipe(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(told_as_long_as_there_is_something),
	        cmocka_unit_test(what_was_written_before_and_nobody_reads),
	        cmocka_unit_test(f6_the_other_end_is_gone),
	        cmocka_unit_test(what_is_cancelled_goes_on),
	        cmocka_unit_test(a_port_of_the_programs_hears_nothing),
	        cmocka_unit_test(many_at_once),
	        cmocka_unit_test(served_by_a_loop_of_messages),
	        cmocka_unit_test(what_is_no_reading_end_is_refused),
	        cmocka_unit_test(l3_removed_in_its_own_callback_and_closed),
	        cmocka_unit_test(l4_removed_while_it_is_written_to),
	        cmocka_unit_test(f2_closed_while_watched_it_is_told_once),
	        cmocka_unit_test(destroyed_with_pipes_in_it),
	        cmocka_unit_test(l9_adding_without_memory),
	        cmocka_unit_test(adding_while_the_system_refuses),
	        cmocka_unit_test(a_read_that_is_refused_is_asked_for_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
