/* What the files of the message host share. */
#ifndef ROUSE_HOST_WIN32MSG_H
#define ROUSE_HOST_WIN32MSG_H

#include "core/host.h"
#include "core/loop.h"

#include <rouse/win32.h>

#include <winsock2.h>
#include <windows.h>

/* The carrier: of a loop for good, and of one attachment after the other. */
struct rouse__messages {
	struct rouse__carrier carrier; /* first */
	rouse_allocator allocator;
	_Atomic(HWND) window;
	DWORD thread;
	UINT ring, again; /* messages of these meanings, and of no other window's */
	PTP_TIMER later;
};

struct rouse_win32 {
	rouse_loop *loop;
	rouse_allocator allocator; /* which may outlive the loop by a callback */
	struct rouse__bell *bell;
	struct rouse__messages *messages;
	rouse_win32_options options;
	rouse_win32 *next; /* of this thread's */
	rouse_source end;
	HWND window;
	rouse_ns turned; /* when the last turn ended */
	unsigned users;  /* functions on the stack that come back to it */
	unsigned runs;   /* rouse_win32_run()s among them */
	int failed;      /* an error to be told */
	unsigned char gone;
};

/* Of a thread. */
struct rouse__queue {
	rouse_win32 *first;
	unsigned runs;
	HHOOK hook; /* sees what is taken out of the queue, while something runs */
	int quit;   /* somebody took a WM_QUIT out, with this code */
	int quit_code;
};
extern ROUSE__LOCAL struct rouse__queue rouse__queue_here;

/* It is freed once its last user has left. */
static inline void rouse__win32_enter(rouse_win32 *win32)
{
	win32->users++;
}
void rouse__win32_leave(rouse_win32 *win32);

#endif
