#include "os/os.h"

#include <time.h>

rouse_ns rouse__clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (rouse_ns)ts.tv_sec * 1000000000u + (rouse_ns)ts.tv_nsec;
}

rouse_ns rouse_now(void)
{
	return rouse__clock();
}
