#include "core/fault.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef _WIN32
#include <windows.h>
#endif

typedef void pause_fn(enum rouse__point point, void *data);

static _Atomic(pause_fn *) pause_at;
static _Atomic(void *) pause_data;

static struct {
	atomic_uint made, skip, times;
	atomic_int os_error;
} calls[ROUSE__CALLS];

void rouse__fault_pause(pause_fn *at, void *data)
{
	atomic_store(&pause_data, data);
	atomic_store(&pause_at, at);
}

void rouse__fault_reached(enum rouse__point point)
{
	pause_fn *at = atomic_load(&pause_at);

	if (at)
		at(point, atomic_load(&pause_data));
}

void rouse__fault_fail(enum rouse__call call, unsigned skip, unsigned times, int os_error)
{
	atomic_store(&calls[call].os_error, os_error);
	atomic_store(&calls[call].skip, skip);
	atomic_store(&calls[call].times, times);
}

unsigned rouse__fault_count(enum rouse__call call)
{
	return atomic_load(&calls[call].made);
}

void rouse__fault_reset(void)
{
	rouse__fault_pause(NULL, NULL);
	for (int i = 0; i < ROUSE__CALLS; i++) {
		atomic_store(&calls[i].made, 0);
		atomic_store(&calls[i].times, 0);
	}
}

static int count_down(atomic_uint *counter)
{
	unsigned left = atomic_load(counter);

	while (left)
		if (atomic_compare_exchange_weak(counter, &left, left - 1))
			return 1;
	return 0;
}

int rouse__fault_fails(enum rouse__call call)
{
	atomic_fetch_add(&calls[call].made, 1);
	if (!atomic_load(&calls[call].times) || count_down(&calls[call].skip) ||
	    !count_down(&calls[call].times))
		return 0;
	errno = atomic_load(&calls[call].os_error);
#ifdef _WIN32
	SetLastError((DWORD)errno);
#endif
	return 1;
}
