#include "os/os.h"

#include <time.h>

rouse_ns rouse__clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (rouse_ns)ts.tv_sec * 1000000000u + (rouse_ns)ts.tv_nsec;
}

struct timespec rouse__timespec(rouse_ns ns)
{
	rouse_ns seconds = ns / 1000000000u;

	if (sizeof(time_t) == 4 && seconds > INT32_MAX)
		return (struct timespec){.tv_sec = INT32_MAX};
	return (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(ns % 1000000000u)};
}

rouse_ns rouse_now(void)
{
	return rouse__clock();
}
