#include "bench/display/win32_window.h"

#include <stdlib.h>

#include "system.h"
#include "tool.h"

enum { WIDTH = 320, HEIGHT = 200, FRAME_MS = 16, FRAME_TIMER = 1 };

struct win32_window {
	struct window window;
	HWND id;
	void (*message)(void *data, rouse_ns stamp);
	void *message_data;
};

static const WCHAR class_name[] = L"rouse bench";

static void draw(struct win32_window *w)
{
	LONG step = (LONG)(w->window.frames % 16);
	RECT bar = {step * WIDTH / 16, HEIGHT / 4, (step + 1) * WIDTH / 16, HEIGHT * 3 / 4};
	PAINTSTRUCT paint;
	HDC to = BeginPaint(w->id, &paint);

	events_add(w->window.events, EVENT_PAINT, NULL, NULL, w->window.frames);
	w->window.frames++;
	FillRect(to, &paint.rcPaint, GetSysColorBrush(COLOR_WINDOW));
	FillRect(to, &bar, GetSysColorBrush(COLOR_HIGHLIGHT));
	EndPaint(w->id, &paint);
}

static LRESULT CALLBACK procedure(HWND id, UINT message, WPARAM wide, LPARAM large)
{
	struct win32_window *w = (struct win32_window *)GetWindowLongPtrW(id, GWLP_USERDATA);

	if (!w)
		return DefWindowProcW(id, message, wide, large);
	switch (message) {
	case WIN32_STAMP:
		if (w->message)
			w->message(w->message_data, win32_stamp(wide, large));
		return 0;
	case WM_PAINT:
		draw(w);
		return 0;
	case WM_TIMER:
		InvalidateRect(id, NULL, FALSE);
		return 0;
	case WM_CLOSE: /* A bench ends by itself, or by Ctrl-C. */
		return 0;
	default:
		return DefWindowProcW(id, message, wide, large);
	}
}

static HINSTANCE this_program(void)
{
	return GetModuleHandleW(NULL);
}

static void close_window(struct window *window)
{
	struct win32_window *w = (struct win32_window *)window;

	if (!w)
		return;
	if (w->id)
		DestroyWindow(w->id);
	UnregisterClassW(class_name, this_program());
	free(w);
}

/* An UpdateWindow() paints before it returns. */
static bool show(struct win32_window *w)
{
	WNDCLASSW class = {
	        .lpfnWndProc = procedure, .hInstance = this_program(), .lpszClassName = class_name};

	SetLastError(0);
	if (!RegisterClassW(&class))
		return false;
	w->id = CreateWindowW(class_name, L"rouse bench", WS_OVERLAPPEDWINDOW, CW_USEDEFAULT,
	                      CW_USEDEFAULT, WIDTH, HEIGHT, NULL, NULL, this_program(), NULL);
	if (!w->id)
		return false;
	events_add(w->window.events, EVENT_WINDOW, NULL, NULL, (uint64_t)(uintptr_t)w->id);
	SetWindowLongPtrW(w->id, GWLP_USERDATA, (LONG_PTR)w);
	ShowWindow(w->id, SW_SHOWNOACTIVATE);
	UpdateWindow(w->id);
	return SetTimer(w->id, FRAME_TIMER, FRAME_MS, NULL) && w->window.frames > 0;
}

static int open_window(rouse_loop *loop, const char *display, struct events *events,
                       struct window **ret_window)
{
	struct win32_window *w = calloc(1, sizeof *w);

	(void)display;
	if (!w) {
		tool_complain("no memory for the window");
		return ROUSE_ENOMEM;
	}
	w->window.loop = loop;
	w->window.events = events;
	if (!show(w)) {
		DWORD error = GetLastError();

		tool_complain("cannot show a window: %s",
		              error ? system_error((int)error) : "there is no desktop to draw on");
		close_window(&w->window);
		return ROUSE_EOS;
	}
	*ret_window = &w->window;
	return 0;
}

HWND win32_window_handle(struct window *window)
{
	return ((struct win32_window *)window)->id;
}

void win32_window_on_message(struct window *window, void (*fn)(void *data, rouse_ns stamp),
                             void *data)
{
	struct win32_window *w = (struct win32_window *)window;

	w->message = fn;
	w->message_data = data;
}

const struct display_ops display_win32 = {
        .loop = "win32",
        .name = "window",
        .server = "the desktop",
        .drawn = "WM_PAINT",
        .frames = 1000 / USER_TIMER_MINIMUM,
        .open = open_window,
        .close = close_window,
};
