/* Processes as sources, by their handles: how they ended, told once. */
#include "child.h"

#include <stdlib.h>
#include <string.h>

struct kid {
	rouse_loop *loop;
	HANDLE process;
	rouse_source self;
	rouse_exit how;
	int runs;
};

static void ended(rouse_loop *loop, rouse_source self, rouse_process process, const rouse_exit *how,
                  void *data)
{
	struct kid *k = data;

	assert_ptr_equal(loop, k->loop);
	assert_true(self.id == k->self.id);
	assert_ptr_equal(process, k->process);
	k->how = *how;
	k->runs++;
}

static void watch(rouse_loop *loop, struct kid *k)
{
	k->loop = loop;
	assert_int_equal(rouse_child_add(loop, k->process, ended, k, &k->self), 0);
}

static HANDLE child_that_returns(DWORD code)
{
	wchar_t arguments[32];

	assert_true(swprintf(arguments, COUNT(arguments), L"return %lu", code) > 0);
	return start_child(arguments, 0, NULL);
}

static void finish(rouse_loop *loop)
{
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

/* 259 is what the system says of a process that has not ended. */
static const DWORD codes[] = {0, 7, 255, 259, 65536, 0xC0000005u};

static void each_ends_with_what_it_returned(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct kid kids[COUNT(codes)];
	size_t sum;

	(void)state;
	memset(kids, 0, sizeof kids);
	for (size_t i = 0; i < COUNT(codes); i++) {
		kids[i].process = child_that_returns(codes[i]);
		watch(loop, &kids[i]);
	}
	do {
		assert_true(rouse_loop_turn(loop, ROUSE_NEVER) >= 0);
		sum = 0;
		for (size_t i = 0; i < COUNT(codes); i++)
			sum += (size_t)kids[i].runs;
	} while (sum < COUNT(codes));
	assert_int_equal(drain(loop), 0);
	for (size_t i = 0; i < COUNT(codes); i++) {
		DWORD code;

		assert_int_equal(kids[i].runs, 1);
		assert_true(kids[i].how.known);
		assert_true(kids[i].how.code == codes[i]);
		assert_int_equal(kids[i].how.signo, 0);
		assert_int_equal(rouse_remove(loop, kids[i].self), ROUSE_ESTALE);
		/* The handle is the caller's still. */
		assert_true(GetExitCodeProcess(kids[i].process, &code) && code == codes[i]);
		CloseHandle(kids[i].process);
	}
	finish(loop);
}

static void one_that_is_ended_by_another_and_is_no_child(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct kid k = {0};
	DWORD id;
	HANDLE process = start_child(L"sleep", 0, &id);

	(void)state;
	k.process = OpenProcess(SYNCHRONIZE | PROCESS_QUERY_INFORMATION, FALSE, id);
	assert_non_null(k.process);
	watch(loop, &k);
	assert_int_equal(drain(loop), 0);
	assert_true(TerminateProcess(process, 1234));
	UNTIL(loop, k.runs);
	assert_true(k.how.known && k.how.code == 1234);
	/* It ended before it is watched, too. */
	k = (struct kid){.process = process};
	watch(loop, &k);
	UNTIL(loop, k.runs);
	assert_true(k.how.known && k.how.code == 1234);
	finish(loop);
	CloseHandle(process);
}

static void refused(rouse_loop *loop, HANDLE handle, int error)
{
	rouse_source source = {12345};

	assert_int_equal(rouse_child_add(loop, handle, ended, NULL, &source), error);
	assert_true(source.id == 12345);
}

static void what_is_no_process_is_refused(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct kid k = {.process = start_child(L"sleep", 0, NULL)};
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), closed;

	(void)state;
	watch(loop, &k);
	refused(loop, k.process, ROUSE_EEXIST);
	refused(loop, event, ROUSE_EOS);
	refused(loop, NULL, ROUSE_EINVAL);
	refused(loop, GetCurrentProcess(), ROUSE_EINVAL);
	closed = CreateEventW(NULL, FALSE, FALSE, NULL);
	CloseHandle(closed);
	refused(loop, closed, ROUSE_EOS);
	/* Removed, it is the caller's to wait for. */
	assert_int_equal(rouse_remove(loop, k.self), 0);
	assert_true(TerminateProcess(k.process, 3));
	assert_int_equal(WaitForSingleObject(k.process, INFINITE), WAIT_OBJECT_0);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(k.runs, 0);
	finish(loop);
	CloseHandle(k.process);
	CloseHandle(event);
}

/* Its number names another process by now, which is none of its business. */
static void closed_while_it_runs_nothing_is_known(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	struct kid k = {.process = start_child(L"sleep", 0, NULL)};
	const HANDLE self = GetCurrentProcess();
	HANDLE other, mine;

	(void)state;
	watch(loop, &k);
	assert_true(rouse_loop_turn(loop, 0) >= 0);
	assert_true(
	        DuplicateHandle(self, k.process, self, &other, 0, FALSE, DUPLICATE_SAME_ACCESS));
	CloseHandle(k.process);
	mine = OpenProcess(SYNCHRONIZE | PROCESS_QUERY_INFORMATION, FALSE, GetCurrentProcessId());
	assert_ptr_equal(mine, k.process);
	assert_true(TerminateProcess(other, 5));
	UNTIL(loop, k.runs);
	assert_false(k.how.known);
	assert_int_equal(drain(loop), 0);
	assert_int_equal(k.runs, 1);
	finish(loop);
	CloseHandle(mine);
	CloseHandle(other);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(each_ends_with_what_it_returned),
	        cmocka_unit_test(one_that_is_ended_by_another_and_is_no_child),
	        cmocka_unit_test(what_is_no_process_is_refused),
	        cmocka_unit_test(closed_while_it_runs_nothing_is_known),
	};

	if (argc == 3 && !strcmp(argv[1], "return"))
		ExitProcess(strtoul(argv[2], NULL, 10));
	if (argc == 2 && !strcmp(argv[1], "sleep"))
		for (;;)
			Sleep(60000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
