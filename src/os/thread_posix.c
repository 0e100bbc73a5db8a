#include "os/os.h"

#include <errno.h>
#include <stdatomic.h>

static _Thread_local uint64_t serial;
static _Thread_local int last_os_error;

uint64_t rouse__thread_serial(void)
{
	static _Atomic uint64_t last;

	if (!serial)
		serial = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	return serial;
}

int rouse__os_failed(int os_error)
{
	last_os_error = os_error;
	return os_error == ENOMEM ? ROUSE_ENOMEM : ROUSE_EOS;
}

int rouse_os_error(void)
{
	return last_os_error;
}
