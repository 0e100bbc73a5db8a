#include "shared.h"

#include <pthread.h>
#include <string.h>

int rouse__display_thread(const rouse_loop *loop)
{
	rouse_stats stats = {.size = sizeof(stats)};

	return rouse_loop_stats(loop, &stats);
}

int rouse__display_options(void *to, size_t size, size_t least, const void *from, size_t from_size)
{
	const unsigned char *bytes = from;

	if (from_size < least)
		return ROUSE_EINVAL;
	for (size_t i = size; i < from_size; i++)
		if (bytes[i])
			return ROUSE_EABI;
	memset(to, 0, size);
	memcpy(to, from, from_size < size ? from_size : size);
	return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void take(void)
{
	pthread_mutex_lock(&mutex);
}

static void give(void)
{
	pthread_mutex_unlock(&mutex);
}

static void watch_forks(void)
{
	/* Without memory for it a child forked in the wrong moment hangs in its detach. */
	(void)pthread_atfork(take, give, give);
}

void rouse__display_lock(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_forks);
	take();
}

void rouse__display_unlock(void)
{
	give();
}
