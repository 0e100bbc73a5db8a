/* The daemon of examples/emitter, run as a user runs it, with a keyboard of ours beside it. */
#include "display/xvfb.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <X11/Xlib.h>
#include <X11/extensions/XTest.h>
#include <X11/XF86keysym.h>
#include <X11/keysym.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct xvfb server;

/* ---- The program ---------------------------------------------------------------- */

static struct {
	pid_t pid;
	FILE *out;
	int errors; /* what it says on standard error, a file in memory */
	char line[256];
} emitter;

static void start(const char *arguments)
{
	char command[512];
	int fds[2];

	snprintf(command, sizeof(command), "exec %s %s", EMITTER, arguments);
	emitter.errors = memfd_create("errors", MFD_CLOEXEC);
	assert_int_equal(pipe(fds), 0);
	emitter.pid = fork();
	assert_true(emitter.pid >= 0);
	if (emitter.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], 1);
		dup2(emitter.errors, 2);
		close(fds[0]);
		close(fds[1]);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	emitter.out = fdopen(fds[0], "r");
	assert_non_null(emitter.out);
}

static const char *next_line(void)
{
	if (!fgets(emitter.line, sizeof(emitter.line), emitter.out))
		return NULL;
	emitter.line[strcspn(emitter.line, "\n")] = '\0';
	return emitter.line;
}

/* Reads on until a line is that one. */
static void await_line(const char *what)
{
	const char *line;

	while ((line = next_line()) && strcmp(line, what))
		;
	if (!line)
		fail_msg("it never said \"%s\"", what);
}

/* Its exit status, when it has ended; `errors` is what it has said on standard error. */
static int finish(char errors[1024])
{
	int status = -1;
	ssize_t length;

	while (next_line())
		;
	fclose(emitter.out);
	while (waitpid(emitter.pid, &status, 0) < 0 && errno == EINTR)
		;
	length = pread(emitter.errors, errors, 1023, 0);
	assert_true(length >= 0);
	errors[length] = '\0';
	close(emitter.errors);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Ended by a signal it says last what it has done. */
static void stop(int signo, unsigned others, unsigned own, unsigned emitted, int live)
{
	unsigned is[3] = {0};
	int is_live = -1;
	const char *line;

	kill(emitter.pid, signo);
	while ((line = next_line()) && strncmp(line, "recorded ", 9))
		;
	assert_non_null(line);
	assert_int_equal(sscanf(line,
	                        "recorded %u of others, %u of its own; emitted %u; "
	                        "live objects %d",
	                        &is[0], &is[1], &is[2], &is_live),
	                 4);
	assert_int_equal(is[0], others);
	assert_int_equal(is[1], own);
	assert_int_equal(is[2], emitted);
	assert_int_equal(is_live, live);
}

/* ---- A keyboard, and a window that has its focus ----------------------------------- */

static Display *display;
static unsigned seen[256][2]; /* by key: released, pressed */

static void keyboard(void)
{
	XEvent event;
	Window window;

	memset(seen, 0, sizeof(seen));
	display = XOpenDisplay(NULL);
	assert_non_null(display);
	XAutoRepeatOff(display);
	window = XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 9, 9, 0, 0, 0);
	XSelectInput(display, window, KeyPressMask | KeyReleaseMask | ExposureMask);
	XMapWindow(display, window);
	XWindowEvent(display, window, ExposureMask, &event);
	XSetInputFocus(display, window, RevertToNone, CurrentTime);
	XSync(display, False);
}

static KeyCode code(KeySym symbol)
{
	return XKeysymToKeycode(display, symbol);
}

static void fake(KeySym symbol, bool down)
{
	XTestFakeKeyEvent(display, code(symbol), down, CurrentTime);
	XFlush(display);
}

static void type(KeySym symbol)
{
	fake(symbol, true);
	fake(symbol, false);
}

static void await_key(KeySym symbol, bool down, unsigned count)
{
	XEvent event;

	while (seen[code(symbol)][down] < count) {
		XNextEvent(display, &event);
		if (event.type == KeyPress || event.type == KeyRelease)
			seen[event.xkey.keycode][event.type == KeyPress]++;
		else if (event.type == MappingNotify)
			XRefreshKeyboardMapping(&event.xmapping);
	}
}

static int set_up(void **state)
{
	(void)state;
	xvfb_start(&server);
	keyboard();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (display)
		XCloseDisplay(display);
	display = NULL;
	xvfb_stop(&server);
	return 0;
}

/* ---- Tests ------------------------------------------------------------------------ */

static void rate_with_a_pool_is_zero(void **state)
{
	char errors[1024];

	(void)state;
	start("--measure");
	assert_string_equal(next_line(), "2000 posts, each in a pool:         live objects +0");
	assert_string_equal(next_line(), "2000 posts without a pool:          live objects +4000");
	assert_string_equal(next_line(), "2000 events, created, not posted:   live objects +0");
	assert_null(next_line());
	assert_int_equal(finish(errors), 0);
	assert_non_null(strstr(errors, "autoreleased with no pool open, at 0x"));
	assert_non_null(strstr(errors, "(emit_key+"));
	/* All of it was emitted: 1,000 times down and up, each way. */
	await_key(XF86XK_Launch9, false, 2000);
	assert_int_equal(seen[code(XF86XK_Launch9)][true], 2000);
}

static void rate_without_a_pool_is_two_a_post(void **state)
{
	char errors[1024];

	(void)state;
	start("--measure --without-pool");
	assert_string_equal(next_line(), "2000 posts without a pool:          live objects +4000");
	assert_string_equal(next_line(), "2000 events, created, not posted:   live objects +0");
	assert_null(next_line());
	assert_int_equal(finish(errors), 0);
	assert_non_null(strstr(errors, "(emit_key+"));
}

/* What it emits is mapped, too: if it heard itself, it would never end. */
static void keys_are_answered_once(void **state)
{
	enum { ROUNDS = 20, KEYS = 20 };
	char errors[1024];

	(void)state;
	setenv("ROUSE_MISSING_POOLS", "abort", 1);
	start("--map F1=F2 --map F2=F1 --map F3=F4");
	unsetenv("ROUSE_MISSING_POOLS");
	await_line("ready");
	/* Few at a time: the server leaves keys out of a recording that is far behind. */
	for (unsigned round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < KEYS; i++)
			type(XK_F1);
		await_key(XK_F2, false, round * KEYS);
	}
	/* This one is recorded after all that was emitted, and answered after all answers. */
	type(XK_F3);
	await_key(XK_F4, false, 1);
	assert_int_equal(seen[code(XK_F1)][true], ROUNDS * KEYS);
	assert_int_equal(seen[code(XK_F1)][false], ROUNDS * KEYS);
	assert_int_equal(seen[code(XK_F2)][true], ROUNDS * KEYS);
	assert_int_equal(seen[code(XK_F2)][false], ROUNDS * KEYS);
	stop(SIGTERM, 2 * ROUNDS * KEYS + 2, 2 * ROUNDS * KEYS + 2, 2 * ROUNDS * KEYS + 2, 0);
	assert_int_equal(finish(errors), 0);
	assert_string_equal(errors, "");
}

static void without_a_pool_the_daemon_leaks_and_says_where(void **state)
{
	char errors[1024];

	(void)state;
	start("--map F1=F2 --without-pool");
	await_line("ready");
	for (int i = 0; i < 20; i++)
		type(XK_F1);
	await_key(XK_F2, false, 20);
	stop(SIGINT, 40, 40, 40, 80);
	assert_int_equal(finish(errors), 0);
	assert_non_null(strstr(errors, "(emit_key+"));
}

/* The server repeats the key that is down, and nobody has asked for it. */
static void a_held_key_that_repeats_is_its_own(void **state)
{
	char errors[1024];

	(void)state;
	XAutoRepeatOn(display);
	start("--map F1=F2 --map F2=F3 --map F4=F5");
	await_line("ready");
	fake(XK_F1, true);
	await_key(XK_F2, true, 4);
	fake(XK_F1, false);
	type(XK_F4);
	await_key(XK_F5, false, 1); /* by now it has let go of F2 */
	assert_int_equal(seen[code(XK_F3)][true], 0);
	type(XK_F2); /* a real one */
	await_key(XK_F3, false, 1);
	assert_int_equal(seen[code(XK_F3)][true], 1);
	kill(emitter.pid, SIGTERM);
	assert_int_equal(finish(errors), 0);
	assert_string_equal(errors, "");
}

static void no_key_stays_down(void **state)
{
	char errors[1024];

	(void)state;
	start("--map F1=F2");
	await_line("ready");
	fake(XK_F1, true);
	await_key(XK_F2, true, 1);
	stop(SIGTERM, 1, 1, 2, 0);
	assert_int_equal(finish(errors), 0);
	await_key(XK_F2, false, 1);
	fake(XK_F1, false);
}

static void slow_work_ends_before_the_program(void **state)
{
	char errors[1024];

	(void)state;
	start("--look F1");
	await_line("ready");
	for (int i = 0; i < 3; i++)
		type(XK_F1);
	await_key(XK_F1, false, 3);
	kill(emitter.pid, SIGTERM);
	for (int i = 0; i < 3; i++)
		await_line("brightness: 0 %");
	assert_int_equal(finish(errors), 0);
	assert_string_equal(errors, "");
}

static void move(KeySym symbol, KeyCode from, KeyCode to)
{
	KeySym none = NoSymbol;

	XChangeKeyboardMapping(display, from, 1, &none, 1);
	XChangeKeyboardMapping(display, to, 1, &symbol, 1);
	XSync(display, False);
}

static void keys_that_move_are_followed(void **state)
{
	KeyCode f1 = code(XK_F1), f5 = code(XK_F5), f6 = code(XK_F6), f7 = code(XK_F7);
	char errors[1024], line[64];

	(void)state;
	start("--map F1=F5");
	await_line("ready");
	move(XK_F5, f5, f6);
	move(XK_F1, f1, f7); /* the line tells of the other, too */
	snprintf(line, sizeof(line), "key %d (F1): F5", f7);
	await_line(line);
	XTestFakeKeyEvent(display, f7, True, CurrentTime);
	XTestFakeKeyEvent(display, f7, False, CurrentTime);
	await_key(XK_F5, false, 1);
	assert_int_equal(seen[f6][true], 1);
	assert_int_equal(seen[f5][true], 0);
	kill(emitter.pid, SIGTERM);
	finish(errors);
}

/* Keys that stay where they are are not told again. */
static void a_new_mapping_of_others_is_not_told(void **state)
{
	KeyCode f1 = code(XK_F1), f6 = code(XK_F6), f7 = code(XK_F7);
	char errors[1024], line[64];

	(void)state;
	start("--map F1=F5");
	await_line("ready");
	for (int i = 0; i < 10; i++)
		move(XK_F6, f6, f6);
	move(XK_F1, f1, f7);
	snprintf(line, sizeof(line), "key %d (F1): F5", f7);
	assert_string_equal(next_line(), line);
	kill(emitter.pid, SIGTERM);
	assert_int_equal(finish(errors), 0);
}

static void a_dead_server_ends_it(void **state)
{
	char errors[1024];

	(void)state;
	start("");
	await_line("ready");
	XCloseDisplay(display);
	display = NULL;
	xvfb_kill(&server);
	assert_int_equal(finish(errors), 1);
	assert_non_null(strstr(errors, "emitter: the X server is gone\n"));
}

static void refused(const char *arguments, int status, const char *says)
{
	char errors[1024];

	start(arguments);
	assert_int_equal(finish(errors), status);
	assert_string_equal(errors, says);
}

static void wrong_arguments_are_refused(void **state)
{
	char errors[1024];

	(void)state;
	refused("--map F1", 2, "emitter: --map wants FROM=TO, not \"F1\"\n");
	refused("--map F1=Nokey", 2, "emitter: there is no key named \"Nokey\"\n");
	refused("--look ''", 2, "emitter: there is no key named \"\"\n");
	refused("F1", 2, "emitter: what is \"F1\"?\n");
	refused("$(for i in $(seq 17); do echo --look F1; done)", 2,
	        "emitter: more than 16 keys\n");
	refused("--map F1=Thai_kokai", 1, "emitter: no key of this keyboard is Thai_kokai\n");
	start("--help");
	assert_string_equal(next_line(),
	                    "usage: emitter [--map FROM=TO]... [--look KEY]... [--without-pool]");
	assert_int_equal(finish(errors), 0);
}

static void without_a_display_it_says_so(void **state)
{
	char *was = strdup(getenv("DISPLAY"));

	(void)state;
	setenv("DISPLAY", "nowhere:1", 1);
	refused("", 1, "emitter: cannot open the X display \"nowhere:1\"\n");
	setenv("DISPLAY", was, 1);
	free(was);
}

/* A connection in the place of standard output would have what is said written into it. */
static void without_standard_output_it_works(void **state)
{
	char errors[1024];

	(void)state;
	start("--measure >&-");
	assert_null(next_line());
	assert_int_equal(finish(errors), 0);
	await_key(XF86XK_Launch9, false, 2000);
	start("--measure 2>&1 >&- <&-");
	assert_non_null(next_line());
	assert_int_equal(finish(errors), 0);
	start("--measure >/dev/full");
	assert_int_equal(finish(errors), 1);
	assert_non_null(strstr(errors, "emitter: cannot write to standard output\n"));
}

/* The servers of X.Org have both extensions or neither.  What runs as "Xvfb" is a script that adds
 * the option. */
static void without_the_extensions_it_says_so(void **state)
{
	char folder[] = "/tmp/emitter-XXXXXX", script[64], path[4096];
	char *was = strdup(getenv("PATH"));
	FILE *file;

	(void)state;
	XCloseDisplay(display);
	display = NULL;
	xvfb_stop(&server);
	assert_non_null(mkdtemp(folder));
	snprintf(script, sizeof(script), "%s/Xvfb", folder);
	file = fopen(script, "w");
	assert_non_null(file);
	fputs("#!/bin/sh\nPATH=${PATH#*:}\nexec Xvfb \"$@\" -extension XTEST\n", file);
	fclose(file);
	chmod(script, 0700);
	snprintf(path, sizeof(path), "%s:%s", folder, was);
	setenv("PATH", path, 1);
	xvfb_start(&server);
	setenv("PATH", was, 1);
	free(was);
	unlink(script);
	rmdir(folder);
	refused("", 1, "emitter: the X server has no XTEST extension\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(rate_with_a_pool_is_zero),
	        cmocka_unit_test(rate_without_a_pool_is_two_a_post),
	        cmocka_unit_test(keys_are_answered_once),
	        cmocka_unit_test(without_a_pool_the_daemon_leaks_and_says_where),
	        cmocka_unit_test(a_held_key_that_repeats_is_its_own),
	        cmocka_unit_test(no_key_stays_down),
	        cmocka_unit_test(slow_work_ends_before_the_program),
	        cmocka_unit_test(keys_that_move_are_followed),
	        cmocka_unit_test(a_new_mapping_of_others_is_not_told),
	        cmocka_unit_test(a_dead_server_ends_it),
	        cmocka_unit_test(wrong_arguments_are_refused),
	        cmocka_unit_test(without_a_display_it_says_so),
	        cmocka_unit_test(without_standard_output_it_works),
	        cmocka_unit_test(without_the_extensions_it_says_so),
	};
	struct CMUnitTest each[sizeof(tests) / sizeof(tests[0])];
	const char *was = getenv("TSAN_OPTIONS");
	char options[256];

	/* Xlib unlocks a display once too often after its server died. */
	snprintf(options, sizeof(options), "%s:report_mutex_bugs=0", was ? was : "");
	setenv("TSAN_OPTIONS", options, 1);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		each[i] = tests[i];
		each[i].setup_func = set_up;
		each[i].teardown_func = tear_down;
	}
	return cmocka_run_group_tests(each, NULL, NULL);
}
