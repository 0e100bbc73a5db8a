/*
 * The loops and mechanisms of Windows.  Those of other systems are known by name, so that who asks
 * for one is told.
 */
#include <stdio.h>
#include <windows.h>

#include "bench/display.h"
#include "bench/host.h"
#include "bench/loops.h"
#include "bench/mech.h"
#include "bench/options.h"

#define ELSEWHERE "it is not to be had on Windows"

const struct display_ops display_x11 = {.missing = ELSEWHERE};
const struct display_ops display_wayland = {.missing = ELSEWHERE};
const struct display_ops display_glfw = {.missing = ELSEWHERE};
const struct display_ops display_sdl = {.missing = ELSEWHERE};
const struct display_ops display_appkit = {.missing = ELSEWHERE};
const struct host_ops host_glib = {.missing = ELSEWHERE};
const struct host_ops host_uv = {.missing = ELSEWHERE};
const struct host_ops host_qt = {.missing = ELSEWHERE};
const struct host_ops host_appkit = {.missing = ELSEWHERE};

const struct mech_ops *const mech_table[] = {
        &mech_wake,          &mech_post,     &mech_handle, &mech_postmessage,
        &mech_threadmessage, &mech_setevent, &mech_floor,  NULL,
};

const struct loop_kind loop_kinds[LOOP_COUNT] = {
        [LOOP_WIN32] = {"win32", "win32", &display_win32, &host_win32,
                        "as a guest of a thread's message queue, with a window"},
        [LOOP_WIN32_POLLER] = {"win32-poller", "win32", NULL, NULL,
                               "the poller win32, without a message queue"},
        [LOOP_EPOLL] = {"epoll", "epoll", NULL, NULL, "the poller epoll"},
        [LOOP_POLL] = {"poll", "poll", NULL, NULL, "the poller poll(2)"},
        [LOOP_X11] = {"x11", NULL, &display_x11, NULL, "an X11 display"},
        [LOOP_WAYLAND] = {"wayland", NULL, &display_wayland, NULL, "a Wayland display"},
        [LOOP_GLIB] = {"glib", NULL, NULL, &host_glib, "GLib's main loop"},
        [LOOP_UV] = {"uv", NULL, NULL, &host_uv, "libuv"},
        [LOOP_QT] = {"qt", NULL, NULL, &host_qt, "Qt's event loop"},
        [LOOP_GLFW] = {"glfw", NULL, &display_glfw, NULL, "a window of GLFW's"},
        [LOOP_SDL] = {"sdl", NULL, &display_sdl, NULL, "a window of SDL's"},
        [LOOP_APPKIT] = {"appkit", NULL, &display_appkit, &host_appkit, "an AppKit application"},
};
const unsigned loop_defaults = 1u << LOOP_WIN32 | 1u << LOOP_WIN32_POLLER;

/* One wait for `count` events that are not set, which is over at once. */
static bool wait_takes(const HANDLE *handles, DWORD count, DWORD *ret_error)
{
	DWORD result = MsgWaitForMultipleObjectsEx(count, handles, 0, QS_POSTMESSAGE, 0);

	*ret_error = result == WAIT_FAILED ? GetLastError() : 0;
	return result != WAIT_FAILED;
}

void loops_list_limits(void)
{
	HANDLE handles[MAXIMUM_WAIT_OBJECTS + 1];
	DWORD made = 0, most, error = 0;

	while (made <= MAXIMUM_WAIT_OBJECTS &&
	       (handles[made] = CreateEventW(NULL, TRUE, FALSE, NULL)) != NULL)
		made++;
	for (most = 0; most < made && wait_takes(handles, most + 1, &error); most++)
		;
	puts("limits:");
	if (error)
		printf("  MsgWaitForMultipleObjectsEx() takes %lu handles; %lu are refused (error "
		       "%lu)\n",
		       most, most + 1, error);
	else
		printf("  MsgWaitForMultipleObjectsEx() takes %lu handles, and maybe more\n", most);
	while (made > 0)
		CloseHandle(handles[--made]);
}

const char options_usage[] =
        "usage: rouse bench [OPTION...]\n\n"
        "Measure how long a wakeup takes from the call on one thread to the callback on\n"
        "the loop's thread, for each mechanism on each loop.\n\n"
        "  --on LIST       loops: win32, win32-poller (default: both)\n"
        "  --mech LIST     mechanisms (default: all that the loop has; see --list)\n"
        "  --for SECONDS   how long each loop is measured (30)\n"
        "  --rate HZ       wakeups a second of each mechanism (10)\n"
        "  --fd-rate HZ    ticks a second of the external handle, a waitable timer whose\n"
        "                  period is in whole milliseconds (7: each 142 ms)\n"
        "  --busy US       add a callback that takes this long, 60 times a second\n"
        "  --log FILE      write every event, one per line\n"
        "  --json FILE     write the result as JSON ('-': standard output)\n"
        "  --list          show loops and mechanisms, what is not available and why, and\n"
        "                  how many handles one wait takes\n"
        "  --help          show this\n\n"
        "Exit status: 0 measured, 1 a wakeup was lost, 2 usage, 3 not available,\n"
        "130 interrupted (what was measured is reported).\n";
