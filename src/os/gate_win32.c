#include "os/os.h"

#include <windows.h>

_Static_assert(sizeof(SRWLOCK) == sizeof(void *) && sizeof(CONDITION_VARIABLE) == sizeof(void *),
               "what os.h holds for them is of another size");

static SRWLOCK *lock_of(struct rouse__gate *gate)
{
	return (SRWLOCK *)&gate->lock;
}

static CONDITION_VARIABLE *opened(struct rouse__gate *gate)
{
	return (CONDITION_VARIABLE *)&gate->opened;
}

/* The lock is held while waking: the waiter, whose stack this is, cannot leave before. */
void rouse__gate_open(struct rouse__gate *gate)
{
	AcquireSRWLockExclusive(lock_of(gate));
	gate->open = 1;
	WakeConditionVariable(opened(gate));
	ReleaseSRWLockExclusive(lock_of(gate));
}

void rouse__gate_wait(struct rouse__gate *gate)
{
	AcquireSRWLockExclusive(lock_of(gate));
	while (!gate->open)
		SleepConditionVariableSRW(opened(gate), lock_of(gate), INFINITE, 0);
	ReleaseSRWLockExclusive(lock_of(gate));
}
