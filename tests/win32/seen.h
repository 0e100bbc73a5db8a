/* A handle as a test watches it. */
#ifndef ROUSE_TESTS_WIN32_SEEN_H
#define ROUSE_TESTS_WIN32_SEEN_H

#include "win32.h"

struct seen {
	rouse_loop *loop;
	rouse_source self;
	void *handle;
	unsigned events;
	int runs;
	void (*then)(struct seen *seen);
};

void watch_handle(rouse_loop *loop, struct seen *s, HANDLE handle);
void unwatch_handle(struct seen *s);
HANDLE new_event(int manual, int set);
void finish(rouse_loop *loop);

#endif
