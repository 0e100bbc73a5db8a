#include "os/os.h"

#include <windows.h>

/* There is no fork: a process has the first number for good. */
int rouse__process_number(uint64_t *ret_number)
{
	*ret_number = rouse__process();
	return 0;
}

static SRWLOCK lock = SRWLOCK_INIT;

void rouse__lock(void)
{
	AcquireSRWLockExclusive(&lock);
}

void rouse__unlock(void)
{
	ReleaseSRWLockExclusive(&lock);
}

/* ---- Children ----------------------------------------------------------------- */

int rouse__child_check(rouse_process process)
{
	return GetProcessId(process) ? 0 : (int)GetLastError();
}

int rouse__child_ended(rouse_process process, rouse_exit *how)
{
	DWORD code;

	*how = (rouse_exit){0};
	/* A process may return STILL_ACTIVE as well, so only the wait says that it has ended. */
	if (WaitForSingleObject(process, 0) == WAIT_TIMEOUT)
		return 0;
	if (GetExitCodeProcess(process, &code))
		*how = (rouse_exit){.code = code, .known = 1};
	return 1;
}
