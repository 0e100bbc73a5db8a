/*
 * Waitable handles, any number of them: the system's thread pool waits for them.
 *
 * Each has a wait of the pool's, which is armed for one signal at a time and may be armed anew at
 * any time without anything that could fail.  Its callback runs on the one thread of a pool of our
 * own, so what the program does with the pool of the process holds nothing up; it puts the
 * record into the poller's list, and rings.  Waited for is a duplicate of the handle: the original
 * may be closed at any time, and its number name something else.
 */
#include "poller/win32.h"

#include "base/alloc.h"
#include "core/fault.h"
#include "os/os.h"

#include <winternl.h>

/* ---- What can be waited for ------------------------------------------------------------ */

static int is_named(const UNICODE_STRING *type, const WCHAR *name)
{
	size_t length = wcslen(name);

	return type->Length == length * sizeof *name && !wcsncmp(type->Buffer, name, length);
}

/* Whoever waits for a mutex owns it, and that would be a thread of the pool's.  A file is signalled
 * whenever nothing is under way, and that says nothing; what is a console may be waited for. */
static int can_be_watched(HANDLE handle)
{
	union {
		PUBLIC_OBJECT_TYPE_INFORMATION type;
		WCHAR room[256];
	} info;

	if (NtQueryObject(handle, ObjectTypeInformation, &info, sizeof info, NULL) < 0)
		return 1;
	if (is_named(&info.type.TypeName, L"File"))
		return GetFileType(handle) == FILE_TYPE_CHAR;
	return !is_named(&info.type.TypeName, L"Mutant");
}

/* ---- A wait -------------------------------------------------------------------------------- */

static void CALLBACK signalled(PTP_CALLBACK_INSTANCE instance, void *context, PTP_WAIT wait,
                               TP_WAIT_RESULT result)
{
	struct rouse__signalled *s = context;
	struct rouse__poller *p = s->poller;

	(void)instance;
	(void)wait;
	(void)result;
	s->next = atomic_load_explicit(&p->signalled, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&p->signalled, &s->next, s,
	                                              memory_order_acq_rel, memory_order_relaxed))
		continue;
	/* Where that fails, the next wait that ends finds it. */
	(void)rouse__doorbell_ring(p->bell);
}

static int need_pool(struct rouse__poller *p)
{
	if (p->pool)
		return 0;
	p->pool = ROUSE__WIN(ROUSE__WAIT, NULL, CreateThreadpool(NULL));
	if (!p->pool)
		return rouse__os_failed((int)GetLastError());
	SetThreadpoolThreadMaximum(p->pool, 1);
	TpInitializeCallbackEnviron(&p->with_pool);
	TpSetCallbackThreadpool(&p->with_pool, p->pool);
	return 0;
}

static int begin(struct rouse__poller *p, struct rouse__signalled *s)
{
	int error = need_pool(p);

	if (error)
		return error;
	s->poller = p;
	s->record.is_handle = 1;
	rouse__list_init(&s->record.link);
	s->wait = ROUSE__WIN(ROUSE__WAIT, NULL, CreateThreadpoolWait(signalled, s, &p->with_pool));
	return s->wait ? 0 : rouse__os_failed((int)GetLastError());
}

static void arm(struct rouse__signalled *s)
{
	s->waiting = 1;
	SetThreadpoolWait(s->wait, s->object, NULL);
}

/* What its callback has done by now is in the list, and that is the last of it. */
static void end(struct rouse__poller *p, struct rouse__signalled *s)
{
	SetThreadpoolWait(s->wait, NULL, NULL);
	WaitForThreadpoolWaitCallbacks(s->wait, TRUE);
	CloseThreadpoolWait(s->wait);
	CloseHandle(s->object);
	rouse__handles_collect(p);
	rouse__list_unlink(&s->record.link);
}

void rouse__handles_collect(struct rouse__poller *p)
{
	struct rouse__signalled *newest, *oldest = NULL;

	if (!atomic_load_explicit(&p->signalled, memory_order_relaxed))
		return;
	newest = atomic_exchange_explicit(&p->signalled, NULL, memory_order_acq_rel);
	while (newest) {
		struct rouse__signalled *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	for (; oldest; oldest = oldest->next) {
		oldest->waiting = 0;
		if (oldest == &p->timer)
			p->armed = ROUSE_NEVER;
		else
			rouse__win32_seen(p, &oldest->record, ROUSE_READABLE);
	}
}

/* ---- Handles as the loop knows them ------------------------------------------------------ */

static struct rouse__signalled *of(struct rouse__record *record)
{
	return (struct rouse__signalled *)record;
}

int rouse__handles_add(struct rouse__poller *p, struct rouse__watch *watch)
{
	const HANDLE self = GetCurrentProcess();
	struct rouse__signalled *s;
	int error;

	if (!can_be_watched((HANDLE)watch->fd))
		return ROUSE_ENOTSUP;
	s = rouse__zalloc(p->allocator, sizeof *s);
	if (!s)
		return ROUSE_ENOMEM;
	if (!DuplicateHandle(self, (HANDLE)watch->fd, self, &s->object, SYNCHRONIZE, FALSE, 0)) {
		error = rouse__os_failed((int)GetLastError());
		goto no_object;
	}
	error = begin(p, s);
	if (error)
		goto no_wait;
	s->record.watch = watch;
	watch->own = &s->record;
	watch->in_poller = 1;
	watch->events = ROUSE_READABLE;
	rouse__list_append(&p->again, &s->record.link);
	return 0;

no_wait:
	CloseHandle(s->object);
no_object:
	rouse__free(p->allocator, s, sizeof *s);
	return error;
}

void rouse__handles_renew(struct rouse__poller *p, struct rouse__record *record)
{
	DWORD flags;

	if (of(record)->waiting || record->closed)
		return;
	if (!GetHandleInformation((HANDLE)record->watch->fd, &flags)) {
		record->closed = 1;
		rouse__win32_seen(p, record, ROUSE_FDERROR);
	} else if (WaitForSingleObject(of(record)->object, 0) == WAIT_OBJECT_0) {
		/* Without a detour over the pool, and so in this wait already. */
		rouse__win32_seen(p, record, ROUSE_READABLE);
	} else {
		arm(of(record));
	}
}

void rouse__handles_remove(struct rouse__poller *p, struct rouse__record *record)
{
	end(p, of(record));
	rouse__free(p->allocator, record, sizeof(struct rouse__signalled));
}

void rouse__handles_finish(struct rouse__poller *p)
{
	if (p->timer.object)
		end(p, &p->timer);
	if (p->pool)
		CloseThreadpool(p->pool);
}

/* ---- The deadline ---------------------------------------------------------------------------- */

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 2
#endif

/* One that resets itself; finer than the system's tick from some version of Windows 10 on. */
static HANDLE new_timer(void)
{
	HANDLE timer = CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
	                                      TIMER_ALL_ACCESS);

	return timer ? timer : CreateWaitableTimerExW(NULL, NULL, 0, TIMER_ALL_ACCESS);
}

static int need_timer(struct rouse__poller *p)
{
	int error;

	if (p->timer.object)
		return 0;
	p->timer.object = ROUSE__WIN(ROUSE__TIMER, NULL, new_timer());
	if (!p->timer.object)
		return rouse__os_failed((int)GetLastError());
	error = begin(p, &p->timer);
	if (error) {
		CloseHandle(p->timer.object);
		p->timer.object = NULL;
	}
	return error;
}

/* From now, in the system's hundred nanoseconds, rounded up and below zero: an absolute time would
 * be one of the wall clock's. */
static LARGE_INTEGER from_now(rouse_ns deadline)
{
	rouse_ns now = rouse__clock();
	rouse_ns left = deadline > now ? deadline - now : 0;

	return (LARGE_INTEGER){.QuadPart = -(LONGLONG)(left / 100 + (left % 100 != 0))};
}

int rouse__timer_arm(struct rouse__poller *p, rouse_ns deadline)
{
	LARGE_INTEGER due;
	int error;

	if (deadline == p->armed)
		return 0;
	error = need_timer(p);
	if (error)
		return error;
	if (deadline == ROUSE_NEVER) {
		CancelWaitableTimer(p->timer.object);
	} else {
		due = from_now(deadline);
		if (!SetWaitableTimer(p->timer.object, &due, 0, NULL, NULL, FALSE))
			return rouse__os_failed((int)GetLastError());
		if (!p->timer.waiting)
			arm(&p->timer);
	}
	p->armed = deadline;
	return 0;
}
