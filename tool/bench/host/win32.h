/*
 * The thread's message queue as a host.
 */
#ifndef ROUSE_TOOL_BENCH_HOST_WIN32_H
#define ROUSE_TOOL_BENCH_HOST_WIN32_H

#include <stdbool.h>
#include <windows.h>

#include <rouse/win32.h>

#include "bench/host.h"

/* What comes as a thread message, WM_APP and the next two, goes to whoever wants it. */
enum { WIN32_MESSAGES = 3 };

struct win32_host {
	struct host host;
	rouse_win32 *guest;
	DWORD thread;
	uint64_t waited;
	bool stopped;
	int result;
	struct {
		void (*fn)(void *data, WPARAM wide, LPARAM large);
		void *data;
	} message[WIN32_MESSAGES];
	/* One event in the wait, beside the messages; NULL: none. */
	HANDLE event;
	void (*on_event)(void *data);
	void *event_data;
};

void win32_turn(struct host *host, rouse_ns until);

/* What it costs to be second in the queue, into the host's note. */
void win32_position(struct host *host);

#endif
