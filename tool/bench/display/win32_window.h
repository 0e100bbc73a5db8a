/*
 * The window of the loop win32, as its mechanism sees it.
 */
#ifndef ROUSE_TOOL_BENCH_WIN32_WINDOW_H
#define ROUSE_TOOL_BENCH_WIN32_WINDOW_H

#include <windows.h>

#include "bench/display.h"

/* What a mechanism's message is, and how a stamp goes with it: half in each parameter, which may
 * be as small as 32 bits. */
#define WIN32_STAMP WM_APP

static inline WPARAM win32_low(rouse_ns stamp)
{
	return (WPARAM)(stamp & UINT32_MAX);
}

static inline LPARAM win32_high(rouse_ns stamp)
{
	return (LPARAM)(stamp >> 32);
}

static inline rouse_ns win32_stamp(WPARAM low, LPARAM high)
{
	return ((rouse_ns)high & UINT32_MAX) << 32 | ((rouse_ns)low & UINT32_MAX);
}

HWND win32_window_handle(struct window *window);
/* For a WIN32_STAMP that comes to it; `fn` NULL: nobody. */
void win32_window_on_message(struct window *window, void (*fn)(void *data, rouse_ns stamp),
                             void *data);

#endif
