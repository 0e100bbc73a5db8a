/* The port's watcher, for a loop whose thread waits for messages (host.h). */
#include "core/fault.h"
#include "core/host.h"
#include "os/os.h"

#include <winsock2.h>
#include <windows.h>
#include <process.h>

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
		bell->held.key = entry.lpCompletionKey;
		bell->held.what = entry.lpOverlapped;
		bell->held.bytes = entry.dwNumberOfBytesTransferred;
		atomic_store_explicit(&bell->full, 1, memory_order_release);
		(void)rouse__doorbell_ring(bell);
		WaitForSingleObject(bell->taken, INFINITE);
		if (atomic_load_explicit(&bell->ends, memory_order_acquire))
			return 0;
	}
}

unsigned rouse__bell_held(const struct rouse__bell *bell, OVERLAPPED_ENTRY *ret_entry)
{
	if (!rouse__bell_full(bell))
		return 0;
	*ret_entry = (OVERLAPPED_ENTRY){.lpCompletionKey = bell->held.key,
	                                .lpOverlapped = bell->held.what,
	                                .dwNumberOfBytesTransferred = bell->held.bytes};
	return 1;
}

void rouse__bell_go_on(struct rouse__bell *bell)
{
	atomic_store_explicit(&bell->full, 0, memory_order_relaxed);
	SetEvent(bell->taken);
}

int rouse__bell_watch(struct rouse__bell *bell)
{
	int error;

	bell->taken = CreateEventW(NULL, FALSE, FALSE, NULL);
	if (!bell->taken)
		return rouse__os_failed((int)GetLastError());
	bell->watcher = ROUSE__WIN(ROUSE__WATCHER, NULL,
	                           (HANDLE)_beginthreadex(NULL, 0, watch, bell, 0, NULL));
	if (bell->watcher)
		return 0;
	error = rouse__os_failed((int)GetLastError());
	CloseHandle(bell->taken);
	return error;
}

/* There was memory for its like, so there is soon. */
static void post(struct rouse__bell *bell, ULONG_PTR key, DWORD bytes, OVERLAPPED *what)
{
	while (!PostQueuedCompletionStatus(bell->port, bytes, key, what))
		Sleep(1);
}

/* The packet's end is in the port, and the watcher's may be, too: it is nobody's then. */
void rouse__bell_unwatch(struct rouse__bell *bell)
{
	atomic_store_explicit(&bell->ends, 1, memory_order_release);
	post(bell, ROUSE__END_KEY, 0, NULL);
	SetEvent(bell->taken);
	WaitForSingleObject(bell->watcher, INFINITE);
	CloseHandle(bell->watcher);
	CloseHandle(bell->taken);
	if (rouse__bell_full(bell))
		post(bell, bell->held.key, bell->held.bytes, bell->held.what);
	atomic_store_explicit(&bell->full, 0, memory_order_relaxed);
	atomic_store_explicit(&bell->ends, 0, memory_order_relaxed);
}
