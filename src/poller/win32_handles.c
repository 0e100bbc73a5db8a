/*
 * Waitable handles, any number of them: the system's thread pool waits for them.
 *
 * Each has a wait of the pool's, which is armed for one signal at a time and may be armed anew at
 * any time without anything that could fail.  Its callback runs on the one thread of a pool of our
 * own, so what the program does with the pool of the process holds nothing up; it puts the
 * record into the poller's list, and rings.
 *
 * Waited for is a duplicate of the handle: the original may be closed at any time, and its number
 * name something else.  A wait goes on then, as the system's own waits do, for what the handle
 * named.  But before a signal is told the number is compared with the duplicate: who is called
 * with a number may use it.
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
 * whenever nothing is under way, and that says nothing, unless it is a console's input. */
static int can_be_watched(HANDLE handle)
{
	union {
		PUBLIC_OBJECT_TYPE_INFORMATION type;
		WCHAR room[256];
	} info;
	DWORD events;

	if (NtQueryObject(handle, ObjectTypeInformation, &info, sizeof info, NULL) < 0)
		return 1;
	if (is_named(&info.type.TypeName, L"File"))
		return GetNumberOfConsoleInputEvents(handle, &events);
	return !is_named(&info.type.TypeName, L"Mutant");
}

/* Newer than some versions of Windows 10. */
typedef BOOL WINAPI compare_fn(HANDLE one, HANDLE other);

static compare_fn *compare_objects(void)
{
	static _Atomic(FARPROC) known;
	FARPROC compare = atomic_load_explicit(&known, memory_order_relaxed);

	if (!compare) {
		compare = GetProcAddress(GetModuleHandleW(L"kernelbase"), "CompareObjectHandles");
		atomic_store_explicit(&known, compare, memory_order_relaxed);
	}
	return (compare_fn *)(void (*)(void))compare;
}

int rouse__handle_names(HANDLE handle, HANDLE object)
{
	compare_fn *compare = compare_objects();
	DWORD flags;

	return compare ? compare(handle, object) : GetHandleInformation(handle, &flags);
}

static int is_open(const struct rouse__signalled *s)
{
	return rouse__handle_names((HANDLE)s->record.watch->fd, s->object);
}

/* ---- A wait -------------------------------------------------------------------------------- */

void rouse__signalled_tell(struct rouse__signalled *s)
{
	struct rouse__poller *p = s->poller;

	s->next = atomic_load_explicit(&p->signalled, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&p->signalled, &s->next, s,
	                                              memory_order_acq_rel, memory_order_relaxed))
		continue;
	/* Nobody else could be told that it failed, and the loop sleeps. */
	while (rouse__doorbell_ring(p->bell) &&
	       !atomic_load_explicit(&p->ending, memory_order_acquire))
		Sleep(1);
}

void rouse__signalled_hurry(struct rouse__poller *p, int hurry)
{
	atomic_store_explicit(&p->ending, hurry, memory_order_release);
}

static void CALLBACK signalled(PTP_CALLBACK_INSTANCE instance, void *context, PTP_WAIT wait,
                               TP_WAIT_RESULT result)
{
	(void)instance;
	(void)wait;
	(void)result;
	rouse__signalled_tell(context);
}

static int need_pool(struct rouse__poller *p)
{
	if (p->pool)
		return 0;
	p->pool = ROUSE__WIN(ROUSE__WAIT, NULL, CreateThreadpool(NULL));
	if (!p->pool)
		return rouse__os_failed((int)GetLastError());
	SetThreadpoolThreadMaximum(p->pool, 1);
	/* Now: later nobody could be told that there is none. */
	if (!ROUSE__WIN(ROUSE__WAIT, FALSE, SetThreadpoolThreadMinimum(p->pool, 1))) {
		int error = rouse__os_failed((int)GetLastError());

		CloseThreadpool(p->pool);
		p->pool = NULL;
		return error;
	}
	TpInitializeCallbackEnviron(&p->with_pool);
	TpSetCallbackThreadpool(&p->with_pool, p->pool);
	return 0;
}

int rouse__signalled_begin(struct rouse__poller *p, struct rouse__signalled *s)
{
	int error = need_pool(p);

	if (error)
		return error;
	s->poller = p;
	rouse__list_init(&s->record.link);
	s->wait = ROUSE__WIN(ROUSE__WAIT, NULL, CreateThreadpoolWait(signalled, s, &p->with_pool));
	return s->wait ? 0 : rouse__os_failed((int)GetLastError());
}

void rouse__signalled_arm(struct rouse__signalled *s)
{
	s->waiting = 1;
	SetThreadpoolWait(s->wait, s->object, NULL);
}

void rouse__signalled_arm_for(struct rouse__signalled *s, unsigned milliseconds)
{
	ULARGE_INTEGER from_now = {.QuadPart = 0 - milliseconds * UINT64_C(10000)};
	FILETIME time = {from_now.LowPart, from_now.HighPart};

	s->waiting = 1;
	SetThreadpoolWait(s->wait, s->object, &time);
}

/* What its callback has done by now is in the list, and that is the last of it. */
void rouse__signalled_end(struct rouse__poller *p, struct rouse__signalled *s)
{
	s->record.watch = NULL;
	SetThreadpoolWait(s->wait, NULL, NULL);
	rouse__signalled_hurry(p, 1);
	WaitForThreadpoolWaitCallbacks(s->wait, TRUE);
	rouse__signalled_hurry(p, 0);
	CloseThreadpoolWait(s->wait);
	CloseHandle(s->object);
	rouse__handles_collect(p);
	rouse__list_unlink(&s->record.link);
}

void rouse__found_closed(struct rouse__poller *p, struct rouse__record *record)
{
	record->closed = 1;
	rouse__win32_seen(p, record, ROUSE_FDERROR);
}

static void was_signalled(struct rouse__poller *p, struct rouse__signalled *s)
{
	if (is_open(s))
		rouse__win32_seen(p, &s->record, ROUSE_READABLE);
	else
		rouse__found_closed(p, &s->record);
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
		else if (oldest->record.watch && oldest->record.kind == ROUSE__PIPE_END)
			rouse__pipes_came(p, &oldest->record);
		else if (oldest->record.watch && oldest->record.kind == ROUSE__BY_EVENT)
			rouse__events_came(p, &oldest->record);
		else if (oldest->record.watch)
			was_signalled(p, oldest);
	}
}

/* ---- Handles as the loop knows them ------------------------------------------------------ */

static struct rouse__signalled *of(struct rouse__record *record)
{
	return (struct rouse__signalled *)record;
}

static int watch_handle(struct rouse__poller *p, struct rouse__signalled *s, HANDLE handle)
{
	const HANDLE self = GetCurrentProcess();
	int error;

	if (!ROUSE__WIN(ROUSE__DUPLICATE, FALSE,
	                DuplicateHandle(self, handle, self, &s->object, SYNCHRONIZE, FALSE, 0)))
		return rouse__os_failed((int)GetLastError());
	s->record.kind = ROUSE__HANDLE;
	error = rouse__signalled_begin(p, s);
	if (error)
		CloseHandle(s->object);
	return error;
}

int rouse__handles_add(struct rouse__poller *p, struct rouse__watch *watch)
{
	struct rouse__signalled *s;
	int error = 0;

	if (!can_be_watched((HANDLE)watch->fd))
		return ROUSE_ENOTSUP;
	s = rouse__zalloc(p->allocator, sizeof *s);
	if (!s)
		return ROUSE_ENOMEM;
	error = watch_handle(p, s, (HANDLE)watch->fd);
	if (error) {
		rouse__free(p->allocator, s, sizeof *s);
		return error;
	}
	s->record.watch = watch;
	watch->events = ROUSE_READABLE;
	/* The last step, since it may use a signal up. */
	switch (WaitForSingleObject(s->object, 0)) {
	case WAIT_FAILED:
		error = rouse__os_failed((int)GetLastError());
		rouse__handles_remove(p, &s->record);
		return error;
	case WAIT_OBJECT_0:
		rouse__win32_seen(p, &s->record, ROUSE_READABLE);
		break;
	default:
		rouse__list_append(&p->again, &s->record.link);
	}
	watch->own = &s->record;
	watch->in_poller = 1;
	return 0;
}

void rouse__handles_renew(struct rouse__poller *p, struct rouse__record *record)
{
	if (of(record)->waiting || record->closed)
		return;
	if (!is_open(of(record))) {
		rouse__found_closed(p, record);
		return;
	}
	switch (WaitForSingleObject(of(record)->object, 0)) {
	case WAIT_OBJECT_0:
		/* Without a detour over the pool, and so in this wait already. */
		rouse__win32_seen(p, record, ROUSE_READABLE);
		break;
	case WAIT_TIMEOUT:
		rouse__signalled_arm(of(record));
		break;
	default:
		rouse__found_closed(p, record);
	}
}

void rouse__handles_remove(struct rouse__poller *p, struct rouse__record *record)
{
	rouse__signalled_end(p, of(record));
	rouse__free(p->allocator, record, sizeof(struct rouse__signalled));
}

void rouse__handles_finish(struct rouse__poller *p)
{
	if (p->timer.object)
		rouse__signalled_end(p, &p->timer);
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
	HANDLE timer =
	        ROUSE__WIN(ROUSE__FINE_TIMER, NULL,
	                   CreateWaitableTimerExW(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
	                                          TIMER_ALL_ACCESS));

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
	error = rouse__signalled_begin(p, &p->timer);
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
		if (!ROUSE__WIN(ROUSE__TIMER_SET, FALSE,
		                SetWaitableTimer(p->timer.object, &due, 0, NULL, NULL, FALSE)))
			return rouse__os_failed((int)GetLastError());
		if (!p->timer.waiting)
			rouse__signalled_arm(&p->timer);
	}
	p->armed = deadline;
	return 0;
}
