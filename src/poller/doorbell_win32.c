/* The doorbell is a completion port, or whatever carries its rings (host.h). */
#include "base/alloc.h"
#include "core/doorbell.h"
#include "core/fault.h"
#include "core/host.h"
#include "os/os.h"

#include <winsock2.h>
#include <windows.h>
#include <errno.h>

int rouse__doorbell_open(const rouse_allocator *allocator, rouse__doorbell *ret_bell)
{
	struct rouse__bell *bell = rouse__zalloc(allocator, sizeof *bell);

	if (!bell)
		return ROUSE_ENOMEM;
	/* The loop's thread takes from it, and maybe one that watches it for a host: neither is to
	 * wait because the other one runs. */
	bell->port = ROUSE__WIN(ROUSE__PORT, NULL,
	                        CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 2));
	if (!bell->port) {
		int error = rouse__os_failed((int)GetLastError());

		rouse__free(allocator, bell, sizeof *bell);
		return error;
	}
	*ret_bell = bell;
	return 0;
}

void rouse__doorbell_close(const rouse_allocator *allocator, rouse__doorbell bell)
{
	if (bell->kept)
		bell->kept->free(bell->kept);
	CloseHandle(bell->port);
	rouse__free(allocator, bell, sizeof *bell);
}

/* There is no fork. */
int rouse__doorbell_replace(rouse__doorbell bell)
{
	(void)bell;
	return ROUSE_ENOTSUP;
}

static int bring(struct rouse__bell *bell)
{
	struct rouse__carrier *carrier;

	while ((carrier = atomic_load_explicit(&bell->carrier, memory_order_acquire))) {
		int error = carrier->bring(carrier);

		/* Withdrawn meanwhile: the port is the way now. */
		if (!error || atomic_load_explicit(&bell->carrier, memory_order_acquire))
			return error;
	}
	if (ROUSE__WIN(ROUSE__RING, FALSE,
	               PostQueuedCompletionStatus(bell->port, 0, ROUSE__BELL_KEY, NULL)))
		return 0;
	return (int)GetLastError();
}

int rouse__doorbell_ring(rouse__doorbell bell)
{
	int saved_errno, error = 0;
	DWORD saved;

	atomic_exchange_explicit(&bell->rung, 1, memory_order_acq_rel);
	if (atomic_exchange_explicit(&bell->under_way, 1, memory_order_acq_rel))
		return 0;
	saved_errno = errno;
	saved = GetLastError();
	error = bring(bell);
	if (error)
		atomic_exchange_explicit(&bell->under_way, 0, memory_order_acq_rel);
	errno = saved_errno;
	SetLastError(saved);
	return error;
}

void rouse__doorbell_absorb(rouse__doorbell bell)
{
	atomic_exchange_explicit(&bell->rung, 0, memory_order_acq_rel);
}

int rouse__bell_arrived(struct rouse__bell *bell)
{
	atomic_exchange_explicit(&bell->under_way, 0, memory_order_acq_rel);
	return atomic_exchange_explicit(&bell->rung, 0, memory_order_acq_rel);
}

int rouse__bell_landed(struct rouse__bell *bell)
{
	atomic_exchange_explicit(&bell->under_way, 0, memory_order_acq_rel);
	return atomic_load_explicit(&bell->rung, memory_order_acquire);
}

int rouse__bell_heard(struct rouse__bell *bell)
{
	return atomic_load_explicit(&bell->rung, memory_order_relaxed) &&
	       atomic_exchange_explicit(&bell->rung, 0, memory_order_acq_rel);
}

void rouse__bell_anew(struct rouse__bell *bell)
{
	atomic_exchange_explicit(&bell->under_way, 0, memory_order_acq_rel);
	/* Where that fails, the next one tries again. */
	(void)rouse__doorbell_ring(bell);
}

void rouse__bell_give(struct rouse__bell *bell, struct rouse__carrier *carrier)
{
	bell->kept = carrier;
	atomic_store_explicit(&bell->carrier, carrier, memory_order_release);
	rouse__bell_anew(bell);
}

void rouse__bell_withdraw(struct rouse__bell *bell)
{
	atomic_store_explicit(&bell->carrier, NULL, memory_order_release);
}

int rouse__doorbell_wait(rouse__doorbell bell, int block)
{
	OVERLAPPED_ENTRY entry;
	ULONG count;

	if (ROUSE__WIN(ROUSE__PORT_WAIT, FALSE,
	               GetQueuedCompletionStatusEx(bell->port, &entry, 1, &count,
	                                           block ? INFINITE : 0, FALSE)))
		return rouse__bell_arrived(bell);
	return GetLastError() == WAIT_TIMEOUT ? 0 : rouse__os_failed((int)GetLastError());
}
