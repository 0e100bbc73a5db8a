/* Console events as signals.  A child with a console of its own makes them, for itself alone. */
#include "child.h"

#include <signal.h>
#include <string.h>

/* Exit codes of the child. */
enum { FINE = 0, NO_CONSOLE = 77, WRONG = 1 };

static int runs[NSIG];

static void caught(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)data;
	runs[signo]++;
}

static int turn_until(rouse_loop *loop, const int *run, int wanted)
{
	while (*run < wanted)
		if (rouse_loop_turn(loop, ROUSE_NEVER) < 0)
			return 0;
	return 1;
}

/* In the child: each event comes as its signal, on a loop that sleeps. */
static int receive(void)
{
	rouse_loop_options options = {.size = sizeof options, .poller = "win32"};
	rouse_source ctrl_c, ctrl_break;
	rouse_loop *loop;

	if (rouse_loop_create(&options, &loop) || !SetConsoleCtrlHandler(NULL, FALSE) ||
	    rouse_signal_add(loop, SIGINT, caught, NULL, &ctrl_c) ||
	    rouse_signal_add(loop, SIGBREAK, caught, NULL, &ctrl_break))
		return WRONG;
	for (int i = 1; i <= 3; i++) {
		if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
			return NO_CONSOLE;
		if (!turn_until(loop, &runs[SIGINT], i))
			return WRONG;
		/* Not every console can make this one: wine's cannot. */
		if (!GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, 0))
			continue;
		if (!turn_until(loop, &runs[SIGBREAK], i) || runs[SIGINT] != i)
			return WRONG;
	}
	return rouse_remove(loop, ctrl_break) || rouse_remove(loop, ctrl_c) ||
	                       rouse_loop_destroy(loop)
	               ? WRONG
	               : FINE;
}

/* In the child: without its source an event does what it does without this library. */
static int give_back(void)
{
	rouse_loop_options options = {.size = sizeof options, .poller = "win32"};
	rouse_source source;
	rouse_loop *loop;

	if (rouse_loop_create(&options, &loop) || !SetConsoleCtrlHandler(NULL, FALSE) ||
	    rouse_signal_add(loop, SIGINT, caught, NULL, &source))
		return WRONG;
	if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
		return NO_CONSOLE;
	if (!turn_until(loop, &runs[SIGINT], 1) || rouse_remove(loop, source))
		return WRONG;
	GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0);
	Sleep(30000);
	return WRONG;
}

static void read_key(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	INPUT_RECORD record;
	DWORD count;

	(void)loop;
	(void)self;
	if (events == ROUSE_READABLE && ReadConsoleInputW(handle, &record, 1, &count) && count == 1)
		++*(int *)data;
}

/* In the child: a key is in the console's input. */
static int input(void)
{
	rouse_loop_options options = {.size = sizeof options, .poller = "win32"};
	INPUT_RECORD key = {.EventType = KEY_EVENT, .Event.KeyEvent.bKeyDown = TRUE};
	HANDLE in = CreateFileW(L"CONIN$", GENERIC_READ | GENERIC_WRITE,
	                        FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
	int keys = 0;
	rouse_loop *loop;
	DWORD count;

	if (in == INVALID_HANDLE_VALUE)
		return NO_CONSOLE;
	FlushConsoleInputBuffer(in);
	if (rouse_loop_create(&options, &loop) || rouse_handle_add(loop, in, read_key, &keys, NULL))
		return WRONG;
	if (rouse_loop_turn(loop, rouse_now() + 50 * MS) != 0 || keys)
		return WRONG;
	for (int i = 1; i <= 3; i++)
		if (!WriteConsoleInputW(in, &key, 1, &count) || !turn_until(loop, &keys, i))
			return WRONG;
	return rouse_loop_turn(loop, rouse_now() + 50 * MS) != 0 || keys != 3 ||
	                       rouse_loop_destroy(loop)
	               ? WRONG
	               : FINE;
}

static DWORD child_says(const wchar_t *what)
{
	HANDLE process = start_child(what, CREATE_NO_WINDOW, NULL);
	DWORD code = WRONG, waited = WaitForSingleObject(process, 60000);

	if (waited != WAIT_OBJECT_0)
		TerminateProcess(process, WRONG);
	assert_int_equal(waited, WAIT_OBJECT_0);
	assert_true(GetExitCodeProcess(process, &code));
	CloseHandle(process);
	if (code == NO_CONSOLE)
		skip();
	return code;
}

static void console_events_are_signals(void **state)
{
	(void)state;
	assert_int_equal(child_says(L"receive"), FINE);
}

static void given_back_an_event_ends_the_process(void **state)
{
	(void)state;
	/* It does not return: with which code the system ends it, systems differ. */
	assert_true(child_says(L"give-back") != WRONG);
}

static void a_consoles_input_is_a_handle(void **state)
{
	(void)state;
	assert_int_equal(child_says(L"input"), FINE);
}

static void what_no_console_says_is_refused(void **state)
{
	rouse_loop *loop = loop_on("win32", NULL);
	rouse_loop *other = loop_on("win32", NULL);
	rouse_source source = {12345}, again;

	(void)state;
	assert_int_equal(rouse_signal_add(loop, SIGTERM, caught, NULL, &source), ROUSE_ENOTSUP);
	assert_int_equal(rouse_signal_add(loop, SIGSEGV, caught, NULL, &source), ROUSE_ENOTSUP);
	assert_int_equal(rouse_signal_add(loop, SIGABRT, caught, NULL, &source), ROUSE_ENOTSUP);
	assert_int_equal(rouse_signal_add(loop, 0, caught, NULL, &source), ROUSE_EINVAL);
	assert_int_equal(rouse_signal_add(loop, NSIG, caught, NULL, &source), ROUSE_EINVAL);
	assert_true(source.id == 12345);
	assert_int_equal(rouse_signal_add(loop, SIGINT, caught, NULL, &source), 0);
	assert_int_equal(rouse_signal_add(other, SIGINT, caught, NULL, &again), ROUSE_EEXIST);
	assert_int_equal(rouse_remove(loop, source), 0);
	assert_int_equal(rouse_signal_add(other, SIGINT, caught, NULL, &again), 0);
	assert_int_equal(rouse_loop_destroy(other), 0);
	assert_int_equal(rouse_signal_add(loop, SIGINT, caught, NULL, &source), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(console_events_are_signals),
	        cmocka_unit_test(given_back_an_event_ends_the_process),
	        cmocka_unit_test(a_consoles_input_is_a_handle),
	        cmocka_unit_test(what_no_console_says_is_refused),
	};

	if (argc == 2 && !strcmp(argv[1], "receive"))
		return receive();
	if (argc == 2 && !strcmp(argv[1], "give-back"))
		return give_back();
	if (argc == 2 && !strcmp(argv[1], "input"))
		return input();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
