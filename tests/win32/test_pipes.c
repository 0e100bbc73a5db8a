/* Pipes, which are no sources themselves: by the event of a read of nothing, and by a thread. */
#include "win32.h"

#include <stdio.h>
#include <string.h>

struct reader {
	HANDLE pipe;
	OVERLAPPED read;
	int runs, broken;
	char text[64];
	DWORD length;
};

/* So that its event is signalled once there is something to read. */
static void ask(struct reader *r)
{
	ResetEvent(r->read.hEvent);
	if (ReadFile(r->pipe, r->text, 0, NULL, &r->read) || GetLastError() == ERROR_IO_PENDING)
		return;
	assert_int_equal(GetLastError(), ERROR_BROKEN_PIPE);
	r->broken = 1;
}

static void readable(rouse_loop *loop, rouse_source self, void *event, unsigned events, void *data)
{
	struct reader *r = data;
	OVERLAPPED now = {.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
	DWORD there = 0, got = 0;

	(void)loop;
	(void)self;
	(void)event;
	assert_int_equal(events, ROUSE_READABLE);
	r->runs++;
	if (PeekNamedPipe(r->pipe, NULL, 0, NULL, &there, NULL) && there) {
		assert_true(ReadFile(r->pipe, r->text + r->length, there, NULL, &now) ||
		            GetLastError() == ERROR_IO_PENDING);
		assert_true(GetOverlappedResult(r->pipe, &now, &got, TRUE));
		assert_int_equal(got, there);
		r->length += got;
	}
	CloseHandle(now.hEvent);
	ask(r);
}

static void an_overlapped_pipe_by_a_read_of_nothing(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct reader r = {.read.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL)};
	char name[64];
	HANDLE writer;
	rouse_source source;
	DWORD wrote;

	(void)state;
	snprintf(name, sizeof name, "\\\\.\\pipe\\rouse-%lu", GetCurrentProcessId());
	r.pipe = CreateNamedPipeA(name, PIPE_ACCESS_INBOUND | FILE_FLAG_OVERLAPPED,
	                          PIPE_TYPE_BYTE | PIPE_WAIT, 1, 4096, 4096, 0, NULL);
	assert_true(r.pipe != INVALID_HANDLE_VALUE);
	writer = CreateFileA(name, GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
	assert_true(writer != INVALID_HANDLE_VALUE);
	assert_int_equal(rouse_handle_add(loop, r.pipe, readable, &r, NULL), ROUSE_ENOTSUP);
	ask(&r);
	assert_int_equal(rouse_handle_add(loop, r.read.hEvent, readable, &r, &source), 0);
	assert_int_equal(drain(loop), 0);
	for (int i = 1; i <= 5; i++) {
		assert_true(WriteFile(writer, "abc", 3, &wrote, NULL));
		UNTIL(loop, r.length == 3u * (unsigned)i);
	}
	assert_memory_equal(r.text, "abcabcabcabcabc", 15);
	assert_int_equal(drain(loop), 0);
	CloseHandle(writer);
	UNTIL(loop, r.broken);
	assert_int_equal(rouse_remove(loop, source), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	CloseHandle(r.pipe);
	CloseHandle(r.read.hEvent);
}

/* ---- By a thread --------------------------------------------------------------------------- */

struct line {
	HANDLE pipe;
	rouse_remote *remote;
	int chunks;
	int ended;
};

static void came(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct line *)data)->chunks++;
}

static void ended(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct line *)data)->ended = 1;
}

static void cancelled(void *data)
{
	(void)data;
}

static unsigned __stdcall read_to_its_end(void *data)
{
	struct line *l = data;
	char c;
	DWORD got;

	while (ReadFile(l->pipe, &c, 1, &got, NULL) && got)
		if (rouse_post(l->remote, came, l, cancelled) < 0)
			return 1;
	return rouse_post(l->remote, ended, l, cancelled) < 0;
}

static void an_anonymous_pipe_by_a_thread(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct line l = {.remote = rouse_loop_remote(loop)};
	HANDLE writer, thread;
	DWORD wrote;

	(void)state;
	assert_true(CreatePipe(&l.pipe, &writer, NULL, 0));
	assert_int_equal(rouse_handle_add(loop, l.pipe, ignore_handle, NULL, NULL), ROUSE_ENOTSUP);
	thread = start_thread(read_to_its_end, &l);
	assert_true(WriteFile(writer, "hello", 5, &wrote, NULL));
	UNTIL(loop, l.chunks == 5);
	assert_int_equal(l.ended, 0);
	CloseHandle(writer);
	UNTIL(loop, l.ended);
	assert_int_equal(join_thread(thread), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	CloseHandle(l.pipe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(an_overlapped_pipe_by_a_read_of_nothing),
	        cmocka_unit_test(an_anonymous_pipe_by_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
