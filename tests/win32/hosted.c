#include "hosted.h"

#include <ws2tcpip.h>

void hosted_open(struct hosted *h)
{
	*h = (struct hosted){.loop = loop_on("win32", NULL)};
	assert_int_equal(rouse_win32_attach(h->loop, NULL, &h->win32), 0);
	h->remote = rouse_loop_remote(h->loop);
}

void hosted_close(struct hosted *h)
{
	if (h->window)
		DestroyWindow(h->window);
	rouse_remote_unref(h->remote);
	assert_int_equal(rouse_loop_destroy(h->loop), 0);
	rouse__fault_reset();
	pump();
}

LRESULT hosted_default(struct hosted *h, UINT message, WPARAM wide, LPARAM large)
{
	return DefWindowProcW(h->window, message, wide, large);
}

static LRESULT CALLBACK procedure(HWND window, UINT message, WPARAM wide, LPARAM large)
{
	struct hosted *h = (struct hosted *)GetWindowLongPtrW(window, GWLP_USERDATA);

	return h ? h->handle(h, message, wide, large)
	         : DefWindowProcW(window, message, wide, large);
}

void hosted_window(struct hosted *h,
                   LRESULT (*handle)(struct hosted *h, UINT message, WPARAM wide, LPARAM large))
{
	WNDCLASSW class = {.lpfnWndProc = procedure,
	                   .hInstance = GetModuleHandleW(NULL),
	                   .lpszClassName = L"test"};

	RegisterClassW(&class);
	h->handle = handle;
	h->window = CreateWindowExW(0, L"test", L"test", WS_OVERLAPPEDWINDOW | WS_VISIBLE, 10, 10,
	                            300, 200, NULL, NULL, class.hInstance, NULL);
	assert_non_null(h->window);
	SetWindowLongPtrW(h->window, GWLP_USERDATA, (LONG_PTR)h);
	SetForegroundWindow(h->window);
	SetFocus(h->window);
	pump();
}

unsigned pump(void)
{
	MSG message;
	unsigned count = 0;

	while (count < 10000 && PeekMessageW(&message, NULL, 0, 0, PM_REMOVE)) {
		TranslateMessage(&message);
		DispatchMessageW(&message);
		count++;
	}
	return count;
}

static SOCKET new_socket(void)
{
	static WSADATA data;
	SOCKET s;

	if (!data.wVersion)
		assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
	s = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
	assert_true(s != INVALID_SOCKET);
	return s;
}

void socket_pair(SOCKET pair[2])
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int size = sizeof at;
	u_long non_blocking = 1;
	SOCKET listener = new_socket();

	pair[1] = new_socket();
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(connect(pair[1], (struct sockaddr *)&at, sizeof at), 0);
	pair[0] = accept(listener, NULL, NULL);
	assert_true(pair[0] != INVALID_SOCKET);
	assert_int_equal(ioctlsocket(pair[0], (long)FIONBIO, &non_blocking), 0);
	closesocket(listener);
}
