#include "interrupt.h"

#include <stdatomic.h>
#include <stddef.h>
#include <windows.h>

/* The system calls the handler on a thread of its own: it holds the lock while it uses `target`. */
static SRWLOCK lock = SRWLOCK_INIT;
static rouse_remote *target;
static atomic_bool caught;

/* The second one is the system's, which ends the process. */
static BOOL WINAPI on_event(DWORD event)
{
	(void)event;
	if (atomic_exchange_explicit(&caught, true, memory_order_acq_rel))
		return FALSE;
	AcquireSRWLockExclusive(&lock);
	if (target)
		rouse_remote_stop(target);
	ReleaseSRWLockExclusive(&lock);
	return TRUE;
}

void interrupt_install(void)
{
	SetConsoleCtrlHandler(on_event, TRUE);
}

void interrupt_target(rouse_remote *remote)
{
	AcquireSRWLockExclusive(&lock);
	target = remote;
	ReleaseSRWLockExclusive(&lock);
}

bool interrupt_caught(void)
{
	return atomic_load_explicit(&caught, memory_order_acquire);
}
