#include "bench/outside.h"

#include <stdlib.h>
#include <windows.h>

#include "bench/run.h"
#include "system.h"
#include "tool.h"

const char outside_ticker[] = "waitable_timer";

struct outside {
	struct run *run;
	HANDLE tick, end;
	/* The timer does not say how often it expired: that is reckoned by the clock. */
	rouse_ns due, interval;
};

static void on_tick(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct outside *outside = data;
	uint64_t more = now > outside->due ? (now - outside->due) / outside->interval : 0;

	(void)self;
	(void)handle;
	(void)events;
	/* Early only by what the two clocks differ in. */
	outside->due = (now < outside->due ? now : outside->due) + (more + 1) * outside->interval;
	run_ticked(outside->run, now, more + 1);
}

/* The worker has fired everything. */
static void on_end(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	(void)handle;
	(void)events;
	(void)data;
	rouse_remove(loop, self);
	rouse_loop_stop(loop);
}

static int watch(struct outside *outside, HANDLE handle, rouse_handle_fn fn)
{
	int rc;

	if (!handle) {
		tool_complain("cannot make a handle: %s", system_error((int)GetLastError()));
		return -1;
	}
	rc = rouse_handle_add(outside->run->loop, handle, fn, outside, NULL);
	if (rc < 0)
		tool_complain("cannot watch a handle: %s", rouse_strerror(rc));
	return rc < 0 ? -1 : 0;
}

/* What the loop watches already stays open until it is gone: so the caller closes. */
static int open_handles(struct outside *outside)
{
	outside->tick = CreateWaitableTimerW(NULL, FALSE, NULL);
	if (watch(outside, outside->tick, on_tick) < 0)
		return -1;
	outside->end = CreateEventW(NULL, FALSE, FALSE, NULL);
	return watch(outside, outside->end, on_end);
}

int outside_open(struct run *run, struct outside **ret_outside)
{
	struct outside *outside = calloc(1, sizeof *outside);

	if (!outside) {
		tool_complain("no memory for a handle");
		return -1;
	}
	outside->run = run;
	*ret_outside = outside;
	return open_handles(outside);
}

/* Its period is in whole milliseconds. */
int outside_arm(struct outside *outside, rouse_ns first, rouse_ns interval)
{
	LONG ms = (LONG)(interval / 1000000);
	rouse_ns now = rouse_now();
	LARGE_INTEGER due = {.QuadPart = first > now ? -(LONGLONG)((first - now) / 100) : -1};

	outside->due = first;
	outside->interval = (rouse_ns)ms * 1000000;
	if (SetWaitableTimer(outside->tick, &due, ms, NULL, NULL, FALSE))
		return 0;
	tool_complain("waitable timer: %s", system_error((int)GetLastError()));
	return -1;
}

void outside_disarm(struct outside *outside)
{
	CancelWaitableTimer(outside->tick);
}

void outside_end(struct outside *outside)
{
	SetEvent(outside->end);
}

void outside_close(struct outside *outside)
{
	if (!outside)
		return;
	if (outside->tick)
		CloseHandle(outside->tick);
	if (outside->end)
		CloseHandle(outside->end);
	free(outside);
}
