#include "os/os.h"

#include <windows.h>

/* Of the machine, and fixed as it starts. */
static uint64_t frequency(void)
{
	static _Atomic uint64_t known;
	uint64_t hertz = atomic_load_explicit(&known, memory_order_relaxed);
	LARGE_INTEGER asked;

	if (!hertz) {
		QueryPerformanceFrequency(&asked);
		hertz = (uint64_t)asked.QuadPart;
		atomic_store_explicit(&known, hertz, memory_order_relaxed);
	}
	return hertz;
}

rouse_ns rouse__clock(void)
{
	const uint64_t hertz = frequency();
	LARGE_INTEGER now;
	uint64_t ticks;

	QueryPerformanceCounter(&now);
	ticks = (uint64_t)now.QuadPart;
	/* The product of all ticks would be too large after some hours. */
	return ticks / hertz * 1000000000u + ticks % hertz * 1000000000u / hertz;
}

rouse_ns rouse_now(void)
{
	return rouse__clock();
}
