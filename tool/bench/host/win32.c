/*
 * The loop as a guest of its thread's message queue, in a pump of the program's own that waits for
 * an event, too; and Windows' own ways to wake that: a message to the thread (threadmessage), and
 * the event (setevent).
 */
#include "bench/host/win32.h"

#include <stdlib.h>

#include "bench/display/win32_window.h"
#include "bench/mech.h"
#include "system.h"
#include "tool.h"

/* A wait may look at the queue before it looks at the event, and pass that over where a message
 * comes just then; not often in a row.  So it is judged by a few waits at a time. */
enum { FEW = 4 };

static void on_done(rouse_loop *loop, int result, void *data)
{
	struct win32_host *h = data;

	(void)loop;
	h->result = result;
	h->stopped = true;
}

static void win32_close(struct host *host)
{
	struct win32_host *h = (struct win32_host *)host;

	rouse_win32_detach(h->guest);
	free(h);
}

static int win32_open(rouse_loop *loop, struct host **ret_host)
{
	struct win32_host *h = calloc(1, sizeof *h);
	rouse_win32_options options = {.size = sizeof options, .done = on_done, .data = h};
	int rc;

	if (!h) {
		tool_complain("no memory for the message queue");
		return ROUSE_ENOMEM;
	}
	h->host.loop = loop;
	h->thread = GetCurrentThreadId();
	rc = rouse_win32_attach(loop, &options, &h->guest);
	if (rc < 0) {
		tool_complain("cannot attach the loop to the message queue: %s",
		              rouse_strerror(rc));
		free(h);
		return rc;
	}
	*ret_host = &h->host;
	return 0;
}

static void of_the_thread(struct win32_host *h, const MSG *message)
{
	UINT which = message->message - WM_APP;

	if (which < WIN32_MESSAGES && h->message[which].fn)
		h->message[which].fn(h->message[which].data, message->wParam, message->lParam);
}

/* Every message: the next wait is for what comes after them. */
static void drain(struct win32_host *h)
{
	MSG message;

	while (!h->stopped && PeekMessageW(&message, NULL, 0, 0, PM_REMOVE)) {
		if (!message.hwnd)
			of_the_thread(h, &message);
		TranslateMessage(&message);
		DispatchMessageW(&message);
	}
}

static void wait_once(struct win32_host *h, DWORD ms)
{
	DWORD count = h->event ? 1 : 0;
	DWORD result =
	        MsgWaitForMultipleObjectsEx(count, &h->event, ms, QS_ALLINPUT, MWMO_INPUTAVAILABLE);

	h->host.waits = ++h->waited / FEW;
	if (count && result == WAIT_OBJECT_0)
		h->on_event(h->event_data);
	drain(h);
}

static int win32_run(struct host *host)
{
	struct win32_host *h = (struct win32_host *)host;

	while (!h->stopped)
		wait_once(h, INFINITE);
	h->stopped = false;
	return h->result;
}

void win32_turn(struct host *host, rouse_ns until)
{
	rouse_ns now = rouse_now();

	wait_once((struct win32_host *)host,
	          until > now ? (DWORD)((until - now) / 1000000) + 1 : 0);
}

const struct host_ops host_win32 = {.open = win32_open,
                                    .run = win32_run,
                                    .turn = win32_turn,
                                    .after = win32_position,
                                    .close = win32_close};

/* ---- threadmessage ----------------------------------------------------- */

static void on_message(void *data, WPARAM wide, LPARAM large)
{
	struct mech *m = data;
	rouse_ns now = rouse_loop_now(m->loop), stamp = win32_stamp(wide, large);

	meter_answer_stamps(&m->meter, &stamp, 1, now);
}

static int threadmessage_open(struct mech *m)
{
	struct win32_host *h = (struct win32_host *)m->host;

	h->message[WIN32_STAMP - WM_APP].fn = on_message;
	h->message[WIN32_STAMP - WM_APP].data = m;
	return 0;
}

static int threadmessage_fire(struct mech *m, rouse_ns stamp)
{
	const struct win32_host *h = (const struct win32_host *)m->host;

	return PostThreadMessageW(h->thread, WIN32_STAMP, win32_low(stamp), win32_high(stamp))
	               ? 0
	               : ROUSE_EOS;
}

static void threadmessage_close(struct mech *m)
{
	struct win32_host *h = (struct win32_host *)m->host;

	h->message[WIN32_STAMP - WM_APP].fn = NULL;
}

const struct mech_ops mech_threadmessage = {
        .name = "threadmessage",
        .summary = "PostThreadMessageW() to the loop's thread",
        .host = &host_win32,
        .open = threadmessage_open,
        .fire = threadmessage_fire,
        .close = threadmessage_close,
};

/* ---- setevent ---------------------------------------------------------- */

static void on_event(void *data)
{
	struct mech *m = data;

	mech_answer_by_host(m, rouse_loop_now(m->loop));
}

static int setevent_open(struct mech *m)
{
	struct win32_host *h = (struct win32_host *)m->host;

	h->event = CreateEventW(NULL, FALSE, FALSE, NULL);
	if (!h->event) {
		tool_complain("setevent: %s", system_error((int)GetLastError()));
		return ROUSE_EOS;
	}
	h->on_event = on_event;
	h->event_data = m;
	return 0;
}

static int setevent_fire(struct mech *m, rouse_ns stamp)
{
	const struct win32_host *h = (const struct win32_host *)m->host;

	(void)stamp;
	return SetEvent(h->event) ? 0 : ROUSE_EOS;
}

static void setevent_close(struct mech *m)
{
	struct win32_host *h = (struct win32_host *)m->host;

	CloseHandle(h->event);
	h->event = NULL;
}

const struct mech_ops mech_setevent = {
        .name = "setevent",
        .summary = "SetEvent() of a handle in MsgWaitForMultipleObjectsEx()",
        .host = &host_win32,
        .open = setevent_open,
        .fire = setevent_fire,
        .close = setevent_close,
};
