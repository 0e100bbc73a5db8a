/* The port's watcher, for a loop whose thread waits for messages (host.h). */
#include "core/fault.h"
#include "core/host.h"
#include "os/os.h"

#include <winsock2.h>
#include <windows.h>
#include <process.h>

/* It was there, so there is memory for it soon. */
static void put(struct rouse__bell *bell, const OVERLAPPED_ENTRY *entry)
{
	while (!PostQueuedCompletionStatus(bell->port, entry->dwNumberOfBytesTransferred,
	                                   entry->lpCompletionKey, entry->lpOverlapped))
		Sleep(1);
}

static unsigned __stdcall watch(void *data)
{
	struct rouse__bell *bell = data;
	OVERLAPPED_ENTRY entry;
	ULONG count;

	for (;;) {
		if (!GetQueuedCompletionStatusEx(bell->port, &entry, 1, &count, INFINITE, FALSE)) {
			Sleep(1);
			continue;
		}
		if (entry.lpCompletionKey == ROUSE__END_KEY)
			return 0;
		/* A ring that went to the port while the carrier came goes on by that. */
		if (entry.lpCompletionKey == ROUSE__BELL_KEY) {
			(void)rouse__doorbell_ring(bell);
			continue;
		}
		put(bell, &entry);
		if (atomic_load_explicit(&bell->ends, memory_order_acquire))
			continue;
		atomic_store_explicit(&bell->full, 1, memory_order_release);
		(void)rouse__doorbell_ring(bell);
		WaitForSingleObject(bell->drained, INFINITE);
	}
}

void rouse__bell_drained(struct rouse__bell *bell)
{
	if (atomic_load_explicit(&bell->full, memory_order_relaxed) &&
	    atomic_exchange_explicit(&bell->full, 0, memory_order_acq_rel))
		SetEvent(bell->drained);
}

int rouse__bell_watch(struct rouse__bell *bell)
{
	int error;

	bell->drained = CreateEventW(NULL, FALSE, FALSE, NULL);
	if (!bell->drained)
		return rouse__os_failed((int)GetLastError());
	bell->watcher = ROUSE__WIN(ROUSE__WATCHER, NULL,
	                           (HANDLE)_beginthreadex(NULL, 0, watch, bell, 0, NULL));
	if (bell->watcher)
		return 0;
	error = rouse__os_failed((int)GetLastError());
	CloseHandle(bell->drained);
	return error;
}

void rouse__bell_unwatch(struct rouse__bell *bell)
{
	const OVERLAPPED_ENTRY end = {.lpCompletionKey = ROUSE__END_KEY};

	atomic_store_explicit(&bell->ends, 1, memory_order_release);
	put(bell, &end);
	/* What came before the end it puts back. */
	SetEvent(bell->drained);
	WaitForSingleObject(bell->watcher, INFINITE);
	CloseHandle(bell->watcher);
	CloseHandle(bell->drained);
	atomic_store_explicit(&bell->full, 0, memory_order_relaxed);
	atomic_store_explicit(&bell->ends, 0, memory_order_relaxed);
}
