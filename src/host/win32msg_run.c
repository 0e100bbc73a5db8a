/*
 * A loop of messages, and how a WM_QUIT comes to the outermost one.
 *
 * The queue says WM_QUIT once, to whoever takes the next message.  Most of the system's modal loops
 * put it back as they end; not all do, and few that programs write themselves.  So while one of
 * these runs, a hook on the thread's GetMessage() and PeekMessage() notes a WM_QUIT that is taken
 * out, by whomever.
 */
#include "host/win32msg.h"

#include "core/doorbell.h"
#include "os/os.h"

static LRESULT CALLBACK taken_out(int code, WPARAM wide, LPARAM large)
{
	struct rouse__queue *mine = ROUSE__MINE(rouse__queue_here);
	const MSG *message = (const MSG *)large;

	if (code == HC_ACTION && wide == PM_REMOVE && message->message == WM_QUIT) {
		mine->quit = 1;
		mine->quit_code = (int)message->wParam;
		/* A GetMessage() of ours may be around it, and would wait on. */
		if (mine->first)
			(void)rouse__doorbell_ring(mine->first->bell);
	}
	return CallNextHookEx(NULL, code, wide, large);
}

static int begin(struct rouse__queue *mine)
{
	if (!mine->hook)
		mine->hook =
		        SetWindowsHookExW(WH_GETMESSAGE, taken_out, NULL, GetCurrentThreadId());
	if (!mine->hook)
		return rouse__os_failed((int)GetLastError());
	mine->runs++;
	return 0;
}

/* Whoever is outside sees the WM_QUIT as well; where nobody is, nothing of it is left. */
static void end(struct rouse__queue *mine, int result, int nested)
{
	MSG message;

	if (result == 1 && nested)
		PostQuitMessage(mine->quit_code);
	if (--mine->runs)
		return;
	UnhookWindowsHookEx(mine->hook);
	mine->hook = NULL;
	if (result == 1 && !nested)
		(void)PeekMessageW(&message, NULL, WM_QUIT, WM_QUIT, PM_REMOVE);
	mine->quit = 0;
}

static int take_failure(rouse_win32 *win32)
{
	int failed = win32->failed;

	win32->failed = 0;
	return failed;
}

static int run(rouse_win32 *win32, struct rouse__queue *mine)
{
	MSG message;
	BOOL got;

	for (;;) {
		if (win32->gone)
			return ROUSE_ESTALE;
		if (win32->failed)
			return take_failure(win32);
		if (rouse_loop_take_stop(win32->loop) > 0)
			return 0;
		if (mine->quit)
			return 1;
		got = GetMessageW(&message, NULL, 0, 0);
		if (got < 0)
			return rouse__os_failed((int)GetLastError());
		if (!got) {
			mine->quit = 1;
			mine->quit_code = (int)message.wParam;
			continue;
		}
		TranslateMessage(&message);
		DispatchMessageW(&message);
	}
}

int rouse_win32_run(rouse_win32 *win32, int *ret_code)
{
	struct rouse__queue *mine = ROUSE__MINE(rouse__queue_here);
	int nested, result;

	if (!win32)
		return ROUSE_EINVAL;
	if (win32->gone)
		return ROUSE_ESTALE;
	result = rouse__check_owner(win32->loop);
	if (result)
		return result;
	if (win32->loop->no_turn)
		return ROUSE_EBUSY;
	nested = mine->runs || win32->loop->frames;
	result = begin(mine);
	if (result)
		return result;
	rouse__win32_enter(win32);
	win32->runs++;
	result = run(win32, mine);
	win32->runs--;
	rouse__win32_leave(win32);
	if (result == 1 && ret_code)
		*ret_code = mine->quit_code;
	end(mine, result, nested);
	return result;
}
