/* A window that a worker thread counts in: Windows' own message loop, and ours in it.  It goes on
 * while the window is moved, or a menu is open.  Closes itself after ten. */
#include <rouse/win32.h>

#include <windows.h>

static HWND window;

static void show(rouse_loop *loop, void *data)
{
	wchar_t text[32];

	wsprintfW(text, L"%d of 10", (int)(intptr_t)data);
	SetWindowTextW(window, text);
	InvalidateRect(window, NULL, TRUE);
	if ((intptr_t)data == 10)
		(void)rouse_loop_stop(loop);
}

static DWORD WINAPI work(void *remote)
{
	for (intptr_t i = 1; i <= 10; i++) {
		Sleep(100);
		if (rouse_post(remote, show, (void *)i, NULL) < 0)
			break;
	}
	return 0;
}

static LRESULT CALLBACK procedure(HWND self, UINT message, WPARAM wide, LPARAM large)
{
	PAINTSTRUCT paint;
	wchar_t text[32];

	switch (message) {
	case WM_PAINT:
		BeginPaint(self, &paint);
		TextOutW(paint.hdc, 20, 20, text, GetWindowTextW(self, text, 32));
		EndPaint(self, &paint);
		return 0;
	case WM_DESTROY:
		PostQuitMessage(0);
		return 0;
	default:
		return DefWindowProcW(self, message, wide, large);
	}
}

int main(void)
{
	WNDCLASSW class = {.lpfnWndProc = procedure,
	                   .hInstance = GetModuleHandleW(NULL),
	                   .hbrBackground = (HBRUSH)(COLOR_WINDOW + 1),
	                   .lpszClassName = L"example"};
	rouse_win32 *win32;
	rouse_loop *loop;
	int code = 0;

	RegisterClassW(&class);
	window = CreateWindowW(L"example", L"0 of 10", WS_OVERLAPPEDWINDOW | WS_VISIBLE,
	                       CW_USEDEFAULT, CW_USEDEFAULT, 300, 120, NULL, NULL, class.hInstance,
	                       NULL);
	if (!window || rouse_loop_create(NULL, &loop) || rouse_win32_attach(loop, NULL, &win32))
		return 1;
	rouse_remote *remote = rouse_loop_remote(loop);
	HANDLE worker = CreateThread(NULL, 0, work, remote, 0, NULL);
	if (!worker || rouse_win32_run(win32, &code) < 0)
		return 1;
	/* What is posted to a loop that nobody turns any more is cancelled below. */
	WaitForSingleObject(worker, INFINITE);
	CloseHandle(worker);
	rouse_remote_unref(remote);
	return rouse_loop_destroy(loop) ? 1 : code;
}
