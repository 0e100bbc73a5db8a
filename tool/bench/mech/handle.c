/* handle: an ordinary handle source of the loop, an event that the worker sets. */
#include "bench/mech.h"

#include <windows.h>

#include "system.h"
#include "tool.h"

static void on_set(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct mech *m = data;

	(void)self;
	(void)handle;
	/* The system's threads, which wait for it, tell the loop in their own time. */
	if (events & ROUSE_READABLE)
		mech_answer_unjudged(m, now);
}

static int handle_open(struct mech *m)
{
	int rc;

	m->handle = CreateEventW(NULL, FALSE, FALSE, NULL);
	if (!m->handle) {
		tool_complain("handle: %s", system_error((int)GetLastError()));
		return ROUSE_EOS;
	}
	rc = rouse_handle_add(m->loop, m->handle, on_set, m, &m->source);
	if (rc < 0)
		CloseHandle(m->handle);
	return rc;
}

static int handle_fire(struct mech *m, rouse_ns stamp)
{
	(void)stamp;
	return SetEvent(m->handle) ? 0 : ROUSE_EOS;
}

static void handle_close(struct mech *m)
{
	rouse_remove(m->loop, m->source);
	CloseHandle(m->handle);
}

const struct mech_ops mech_handle = {
        .name = "handle",
        .summary = "SetEvent() of an event that the loop watches",
        .open = handle_open,
        .fire = handle_fire,
        .close = handle_close,
};
