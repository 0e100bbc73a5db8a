#include "pool/objects.h"

#include <stdlib.h>

#include <rouse/pool.h>

static struct pool_census census;
static size_t live_bytes;

void pool_census_begin(void)
{
	census.peak = census.live;
	census.peak_bytes = live_bytes;
	census.own_bytes = 0;
}

struct pool_census pool_census(void)
{
	return census;
}

void *pool_object_make(void)
{
	void *object = malloc(POOL_OBJECT);

	if (!object)
		return NULL;
	census.live++;
	live_bytes += POOL_OBJECT;
	if (census.live > census.peak) {
		census.peak = census.live;
		census.peak_bytes = live_bytes;
		census.own_bytes = 0;
	}
	return object;
}

void pool_object_release(void *object)
{
	if (!object)
		return;
	/* The first release after the peak: nothing was given back yet. */
	if (census.live == census.peak && census.own_bytes == 0) {
		rouse_pool_stats stats = {.size = sizeof stats};

		if (rouse_pool_stats_thread(&stats) == 0)
			census.own_bytes = stats.bytes;
	}
	census.live--;
	live_bytes -= POOL_OBJECT;
	free(object);
}
