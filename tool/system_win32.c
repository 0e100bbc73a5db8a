#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 2
#endif

/* The C library has no descriptor where there is no handle, and hands out none of those three. */
int system_begin(void)
{
	return 0;
}

FILE *system_open(const char *name)
{
	int fd = _open(name, _O_WRONLY | _O_CREAT | _O_NOINHERIT | _O_TEXT, _S_IREAD | _S_IWRITE);

	return fd < 0 ? NULL : _fdopen(fd, "w");
}

/* The C library knows no EPIPE of a pipe that was closed. */
bool system_reader_left(int error)
{
	return error == EPIPE || error == EINVAL;
}

bool system_utf8(void)
{
	return GetConsoleOutputCP() == CP_UTF8;
}

const char *system_error(int code)
{
	static char text[160];
	DWORD length = FormatMessageA(
	        FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, (DWORD)code,
	        MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), text, sizeof text, NULL);

	while (length > 0 && strchr("\r\n. ", text[length - 1]))
		length--;
	text[length] = '\0';
	if (length == 0)
		snprintf(text, sizeof text, "error %d", code);
	return text;
}

/* Precise where the system can be (Windows 10 1803), else with its tick. */
static HANDLE make_timer(void)
{
	HANDLE timer = CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
	                                      TIMER_ALL_ACCESS);

	return timer ? timer : CreateWaitableTimerExW(NULL, NULL, 0, TIMER_ALL_ACCESS);
}

void system_sleep_until(rouse_ns at)
{
	static HANDLE timer;
	rouse_ns now;

	if (!timer)
		timer = make_timer();
	while ((now = rouse_now()) < at) {
		/* In the system's hundred nanoseconds, from now. */
		LARGE_INTEGER due = {.QuadPart = -(LONGLONG)((at - now) / 100) - 1};

		if (!timer || !SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE))
			Sleep((DWORD)((at - now) / 1000000) + 1);
		else
			WaitForSingleObject(timer, INFINITE);
	}
}
