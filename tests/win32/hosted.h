/* A loop as the guest of this thread's message queue, and a window beside it. */
#ifndef ROUSE_TESTS_HOSTED_H
#define ROUSE_TESTS_HOSTED_H

#include "win32.h"

#include <rouse/win32.h>

struct hosted {
	rouse_loop *loop;
	rouse_win32 *win32;
	rouse_remote *remote;
	HWND window; /* a visible one of the test's, which does as `handle` says */
	LRESULT (*handle)(struct hosted *h, UINT message, WPARAM wide, LPARAM large);
	void *data;
	unsigned timers, paints, keys, sizes;
};

void hosted_open(struct hosted *h);
void hosted_close(struct hosted *h);
/* What a window does that does nothing. */
LRESULT hosted_default(struct hosted *h, UINT message, WPARAM wide, LPARAM large);
void hosted_window(struct hosted *h,
                   LRESULT (*handle)(struct hosted *h, UINT message, WPARAM wide, LPARAM large));

/* Dispatch what the queue has by now. @return how many messages. */
unsigned pump(void);
/* Dispatch until `condition`, for as long as nothing hangs. */
#define PUMP_UNTIL(condition)                                                                      \
	do {                                                                                       \
		rouse_ns end_ = rouse_now() + HANG;                                                \
		while (!(condition)) {                                                             \
			MsgWaitForMultipleObjectsEx(0, NULL, 1000, QS_ALLINPUT,                    \
			                            MWMO_INPUTAVAILABLE);                          \
			pump();                                                                    \
			assert_true(rouse_now() < end_);                                           \
		}                                                                                  \
	} while (0)

void socket_pair(SOCKET pair[2]);

#endif
