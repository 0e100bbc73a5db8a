#ifndef STUB_TIME_H
#define STUB_TIME_H

#include <sys/types.h>

struct timespec {
	time_t tv_sec;
	long tv_nsec;
};

typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6, CLOCK_UPTIME_RAW = 8 } clockid_t;
#define CLOCK_MONOTONIC CLOCK_MONOTONIC
#define CLOCK_UPTIME_RAW CLOCK_UPTIME_RAW

int clock_gettime(clockid_t, struct timespec *);
int nanosleep(const struct timespec *, struct timespec *);

#endif
