/*
 * The message queue as a host: one posted message carries all that the loop has to do (host.h).
 *
 *   A ring      is PostMessage() to a window of ours, from any thread.
 *   A full      queue refuses it.  Then a sent message, which needs no room there, asks the
 *   queue       loop's thread to post, and does nothing else: sent messages arrive in places
 *               where callbacks must not run.  Where that fails, too, and on that thread
 *               itself, a timer of the thread pool's posts a little later, as often as it takes.
 *   It comes    and the loop is turned, unless the message has come for nothing.
 *   Yielding    A posted message comes before all of input, paint and timers.  So while the
 *               queue has any of these, and the last turn was just now, the message is put
 *               off: still under way, it is posted by the timer.  (A WM_TIMER of ours in its
 *               place would come after all of the user's, and so never beside a window that
 *               always paints.)
 *
 * The window's procedure finds the attachment in a list of the thread's, and not by anything that
 * the window or the message says: both may be written by others.
 *
 * The carrier stays with the doorbell once it was made, for somebody may just be ringing.
 */
#include "host/win32msg.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "core/fault.h"
#include "os/os.h"

#include <stddef.h>

#define MS ((rouse_ns)1000000)
#define APART (10 * MS)

ROUSE__LOCAL struct rouse__queue rouse__queue_here;

/* ---- The carrier -------------------------------------------------------------------------- */

static struct rouse__messages *messages_of(struct rouse__carrier *carrier)
{
	return (struct rouse__messages *)carrier;
}

static void post_later(struct rouse__messages *m)
{
	/* In the system's hundred nanoseconds, from now. */
	ULARGE_INTEGER due = {.QuadPart = (ULONGLONG) - (LONGLONG)(APART / 100)};
	FILETIME when = {due.LowPart, due.HighPart};

	SetThreadpoolTimer(m->later, &when, 0, 0);
}

static int bring(struct rouse__carrier *carrier)
{
	struct rouse__messages *m = messages_of(carrier);
	HWND window = atomic_load_explicit(&m->window, memory_order_acquire);

	if (ROUSE__WIN(ROUSE__POST, FALSE, PostMessageW(window, m->ring, 0, 0)))
		return 0;
	/* Its thread has ended, and has left the loop behind. */
	if (GetLastError() == ERROR_INVALID_WINDOW_HANDLE)
		return ERROR_INVALID_WINDOW_HANDLE;
	if (GetCurrentThreadId() == m->thread ||
	    !ROUSE__WIN(ROUSE__NOTIFY, FALSE, SendNotifyMessageW(window, m->again, 0, 0)))
		post_later(m);
	return 0;
}

static void CALLBACK it_is_later(PTP_CALLBACK_INSTANCE instance, void *context, PTP_TIMER timer)
{
	struct rouse__messages *m = context;

	(void)instance;
	(void)timer;
	(void)bring(&m->carrier);
}

static void free_messages(struct rouse__carrier *carrier)
{
	struct rouse__messages *m = messages_of(carrier);
	rouse_allocator allocator = m->allocator;

	SetThreadpoolTimer(m->later, NULL, 0, 0);
	WaitForThreadpoolTimerCallbacks(m->later, TRUE);
	CloseThreadpoolTimer(m->later);
	rouse__free(&allocator, m, sizeof *m);
}

static int new_messages(const rouse_allocator *allocator, struct rouse__messages **ret)
{
	struct rouse__messages *m = rouse__zalloc(allocator, sizeof *m);

	if (!m)
		return ROUSE_ENOMEM;
	m->carrier = (struct rouse__carrier){bring, free_messages};
	m->allocator = *allocator;
	m->thread = GetCurrentThreadId();
	m->ring = RegisterWindowMessageW(L"rouse: ring");
	m->again = RegisterWindowMessageW(L"rouse: ring again");
	m->later = m->ring && m->again ? CreateThreadpoolTimer(it_is_later, m, NULL) : NULL;
	if (!m->later) {
		int error = rouse__os_failed((int)GetLastError());

		rouse__free(allocator, m, sizeof *m);
		return error;
	}
	*ret = m;
	return 0;
}

/* ---- A message comes ---------------------------------------------------------------------- */

static void free_attachment(rouse_win32 *win32)
{
	rouse_allocator allocator = win32->allocator;

	rouse__free(&allocator, win32, sizeof *win32);
}

void rouse__win32_leave(rouse_win32 *win32)
{
	if (!--win32->users && win32->gone)
		free_attachment(win32);
}

static void tell(rouse_win32 *win32)
{
	const rouse_win32_options *options = &win32->options;
	int result = win32->failed;

	if (win32->runs || !options->done)
		return;
	win32->failed = 0;
	if (result || rouse_loop_take_stop(win32->loop) > 0)
		options->done(win32->loop, result, options->data);
}

static void turn(rouse_win32 *win32)
{
	int result;

	rouse__win32_enter(win32);
	result = rouse_loop_turn(win32->loop, 0);
	win32->turned = rouse__clock();
	/* In the middle of a hook's pass: it is to be tried until that is over. */
	if (result == ROUSE_EBUSY)
		post_later(win32->messages);
	else if (result < 0)
		win32->failed = result;
	if (!win32->gone)
		tell(win32);
	rouse__win32_leave(win32);
}

static int others_wait(void)
{
	return HIWORD(GetQueueStatus(QS_INPUT | QS_HOTKEY | QS_PAINT | QS_TIMER)) != 0;
}

static void ring_came(rouse_win32 *win32)
{
	if (rouse__clock() - win32->turned < APART && others_wait())
		post_later(win32->messages);
	else if (rouse__bell_landed(win32->bell))
		turn(win32);
}

static rouse_win32 *of_window(HWND window)
{
	rouse_win32 *win32 = ROUSE__MINE(rouse__queue_here)->first;

	while (win32 && win32->window != window)
		win32 = win32->next;
	return win32;
}

static LRESULT CALLBACK procedure(HWND window, UINT message, WPARAM wide, LPARAM large)
{
	rouse_win32 *win32 = of_window(window);

	if (!win32)
		return DefWindowProcW(window, message, wide, large);
	if (message == win32->messages->ring)
		ring_came(win32);
	else if (message == win32->messages->again)
		(void)bring(&win32->messages->carrier);
	else if (message != WM_CLOSE) /* which would be the window's end */
		return DefWindowProcW(window, message, wide, large);
	return 0;
}

/* ---- The window ---------------------------------------------------------------------------- */

static WNDCLASSEXW class = {
        .cbSize = sizeof class, .lpfnWndProc = procedure, .lpszClassName = L"rouse"};
static unsigned windows;

static HINSTANCE this_module(void)
{
	HMODULE self = NULL;

	GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
	                           GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
	                   (const WCHAR *)(const void *)&windows, &self);
	return self;
}

/* A module may be unloaded: its class is there no longer than its windows. */
static int take_class(void)
{
	int ok;

	rouse__lock();
	class.hInstance = this_module();
	ok = windows || RegisterClassExW(&class);
	windows += ok ? 1 : 0;
	rouse__unlock();
	return ok;
}

static void drop_class(void)
{
	rouse__lock();
	if (!--windows)
		UnregisterClassW(class.lpszClassName, class.hInstance);
	rouse__unlock();
}

static int open_window(rouse_win32 *win32)
{
	int error;

	if (!take_class())
		return rouse__os_failed((int)GetLastError());
	win32->window = ROUSE__WIN(ROUSE__WINDOW, NULL,
	                           CreateWindowExW(0, class.lpszClassName, NULL, 0, 0, 0, 0, 0,
	                                           HWND_MESSAGE, NULL, class.hInstance, NULL));
	if (win32->window)
		return 0;
	error = rouse__os_failed((int)GetLastError());
	drop_class();
	return error;
}

static void close_window(rouse_win32 *win32)
{
	DestroyWindow(win32->window);
	drop_class();
}

/* ---- Attach and detach ---------------------------------------------------------------------- */

static void unlist(const rouse_win32 *win32)
{
	rouse_win32 **link = &ROUSE__MINE(rouse__queue_here)->first;

	while (*link && *link != win32)
		link = &(*link)->next;
	if (*link)
		*link = win32->next;
}

/* Detach, and the end of the loop. */
static void release(rouse_loop *loop, void *data)
{
	rouse_win32 *win32 = data;

	rouse__win32_enter(win32);
	unlist(win32);
	rouse__guest_of_nobody(loop);
	rouse__bell_unwatch(win32->bell);
	rouse__bell_withdraw(win32->bell);
	close_window(win32);
	rouse__bell_anew(win32->bell);
	win32->gone = 1;
	rouse__win32_leave(win32);
}

static void drop_messages(rouse_win32 *win32)
{
	if (!win32->bell->kept)
		free_messages(&win32->messages->carrier);
}

/* What it needs of the system, without touching the loop. */
static int make(rouse_win32 *win32)
{
	int error = 0;

	win32->messages = (struct rouse__messages *)win32->bell->kept;
	if (!win32->messages)
		error = new_messages(&win32->allocator, &win32->messages);
	if (error)
		return error;
	error = open_window(win32);
	if (error)
		goto no_window;
	error = rouse__bell_watch(win32->bell);
	if (!error)
		return 0;
	close_window(win32);
no_window:
	drop_messages(win32);
	return error;
}

static void unmake(rouse_win32 *win32)
{
	rouse__bell_unwatch(win32->bell);
	close_window(win32);
	drop_messages(win32);
}

static void begin(rouse_win32 *win32)
{
	struct rouse__queue *mine = ROUSE__MINE(rouse__queue_here);

	win32->next = mine->first;
	mine->first = win32;
	atomic_store_explicit(&win32->messages->window, win32->window, memory_order_release);
	rouse__bell_give(win32->bell, &win32->messages->carrier);
}

/* What was armed once can be armed always: so it is tried here, where it may fail. */
static int can_arm(const rouse_loop *loop)
{
	int error = loop->ops->arm(loop->poller, ROUSE_NEVER - 1);

	return error ? error : loop->ops->arm(loop->poller, ROUSE_NEVER);
}

static int attach(rouse_win32 *win32)
{
	const rouse_hook end = {.size = sizeof end, .fd = ROUSE_NO_FD, .release = release};
	int error = can_arm(win32->loop);

	if (!error)
		error = make(win32);
	if (error)
		return error;
	error = rouse_hook_add(win32->loop, &end, win32, &win32->end);
	if (error) {
		unmake(win32);
		return error;
	}
	begin(win32);
	rouse__guest_of_messages(win32->loop);
	return 0;
}

/* The struct of 0.1. */
#define LEAST_OPTIONS (offsetof(rouse_win32_options, data) + sizeof(void *))

static int check_options(rouse_win32_options *ours, const rouse_win32_options *theirs)
{
	*ours = (rouse_win32_options){0};
	if (!theirs)
		return 0;
	if (theirs->size < LEAST_OPTIONS)
		return ROUSE_EINVAL;
	return rouse__sized_in(ours, sizeof *ours, theirs, theirs->size, sizeof *ours);
}

int rouse_win32_attach(rouse_loop *loop, const rouse_win32_options *options,
                       rouse_win32 **ret_win32)
{
	rouse_win32_options with;
	rouse_win32 *win32;
	int error = rouse__check_owner(loop);

	if (!error)
		error = check_options(&with, options);
	if (error)
		return error;
	if (loop->ops != &rouse__win32)
		return ROUSE_ENOTSUP;
	if (rouse__bell_carried(loop->remote->doorbell))
		return ROUSE_EEXIST;
	win32 = rouse__zalloc(&loop->allocator, sizeof *win32);
	if (!win32)
		return ROUSE_ENOMEM;
	win32->loop = loop;
	win32->allocator = loop->allocator;
	win32->bell = loop->remote->doorbell;
	win32->options = with;
	error = attach(win32);
	if (error) {
		free_attachment(win32);
		return error;
	}
	if (ret_win32)
		*ret_win32 = win32;
	return 0;
}

int rouse_win32_detach(rouse_win32 *win32)
{
	int error;

	if (!win32)
		return 0;
	if (win32->gone)
		return ROUSE_ESTALE;
	error = rouse__check_owner(win32->loop);
	return error ? error : rouse_remove(win32->loop, win32->end);
}
