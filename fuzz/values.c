/* What calls are given, chosen by bytes: things of this input, and now and then extremes. */
#include "player.h"

#include <rouse/null.h>

#include <signal.h>

rouse_ns some_time(void)
{
	static const rouse_ns extremes[] = {0,
	                                    ROUSE_NEVER,
	                                    1,
	                                    ROUSE_NEVER - 1,
	                                    ROUSE_NEVER - 2,
	                                    ROUSE_NULL_EPOCH,
	                                    UINT64_C(1) << 63,
	                                    ROUSE_NEVER / 3};
	unsigned b = take();
	rouse_ns n = b & 31;

	switch (b >> 5) {
	case 0:
	case 1:
	case 2:
		return now() + n;
	case 3:
		return now() + (n << 8);
	case 4:
		return ROUSE_NULL_EPOCH + n;
	case 5:
		return now() > n ? now() - n : 0;
	case 6:
		return ROUSE_NULL_EPOCH + (n << 4);
	default:
		return extremes[n % 8];
	}
}

rouse_ns some_span(void)
{
	static const rouse_ns extremes[] = {ROUSE_NEVER, ROUSE_NEVER - 1, UINT64_C(1) << 63,
	                                    ROUSE_NEVER / 3};
	unsigned b = take();

	if (b < 64)
		return 0;
	if (b < 192)
		return b & 31;
	return b < 240 ? (b & 31) << 6 : extremes[b % 4];
}

int some_source(void)
{
	unsigned b = take();
	int count = player.next_source - player.first_source;
	int source;

	if (!count || b == 255)
		return 0;
	source = player.first_source + (int)b % count;
	return ANONYMOUS(source) ? 0 : source;
}

int new_source(void)
{
	return player.next_source < SOURCES ? player.next_source++ : 0;
}

unsigned some_events(void)
{
	unsigned b = take();

	return b < 128 ? b & 3 : b < 252 ? b & 7 : 1u << (b & 7);
}

rouse_fd some_fd(void)
{
	unsigned b = take();

	if (b < 250)
		return (rouse_fd)(b % 6);
	return b < 252 ? 300 : b == 252 ? ROUSE_NULL_MAX_FD + 1 : b == 253 ? ROUSE_NULL_MAX_FD : -1;
}

int some_waker(void)
{
	return player.next_waker ? (int)take() % player.next_waker : 0;
}

/* By default these two are ignored; 0 is none, and SIGKILL nobody's. */
int some_signal(void)
{
	unsigned b = take();

	if (b < 120)
		return SIGWINCH;
	return b < 240 ? SIGURG : b < 248 ? 0 : SIGKILL;
}
