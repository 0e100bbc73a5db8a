/*
 * floor: what the machine itself takes to wake a thread.  A thread of its own sleeps in a bare
 * WaitForSingleObject() on an event, with no loop around it.
 */
#include "bench/mech.h"

#include <string.h>
#include <windows.h>

#include "system.h"
#include "thread.h"
#include "tool.h"

static void *floor_main(void *data)
{
	struct mech *m = data;

	for (;;) {
		DWORD result = WaitForSingleObject(m->handle, INFINITE);
		rouse_ns now = rouse_now();

		if (atomic_load_explicit(&m->quit, memory_order_acquire))
			return NULL;
		if (result == WAIT_OBJECT_0)
			meter_answer_all(&m->meter, now, 0);
	}
}

static int floor_open(struct mech *m)
{
	int error;

	m->handle = CreateEventW(NULL, FALSE, FALSE, NULL);
	if (!m->handle) {
		tool_complain("floor: %s", system_error((int)GetLastError()));
		return ROUSE_EOS;
	}
	error = thread_start(&m->thread, floor_main, m);
	if (error == 0)
		return 0;
	tool_complain("floor: %s", strerror(error));
	CloseHandle(m->handle);
	return ROUSE_EOS;
}

static int floor_fire(struct mech *m, rouse_ns stamp)
{
	(void)stamp;
	return SetEvent(m->handle) ? 0 : ROUSE_EOS;
}

static void floor_close(struct mech *m)
{
	atomic_store_explicit(&m->quit, true, memory_order_release);
	SetEvent(m->handle);
	pthread_join(m->thread, NULL);
	CloseHandle(m->handle);
}

const struct mech_ops mech_floor = {
        .name = "floor",
        .summary = "a second thread in a bare WaitForSingleObject: what the machine itself takes",
        .open = floor_open,
        .fire = floor_fire,
        .close = floor_close,
};
