#include "pool/live.h"

#include <string.h>

#include <rouse/pool.h>

#include "pool/objects.h"
#include "thread.h"
#include "tool.h"

enum { AUTORELEASES = 20000 };

static uint64_t missing(void)
{
	rouse_pool_stats stats = {.size = sizeof stats};

	return rouse_pool_stats_thread(&stats) == 0 ? stats.missing : 0;
}

static int autorelease_all(uint64_t *ret_missing)
{
	uint64_t before = missing();

	for (int i = 0; i < AUTORELEASES; i++) {
		void *object = pool_object_make();

		if (!object || !rouse_autorelease(object, pool_object_release))
			return -1;
	}
	*ret_missing = missing() - before;
	return 0;
}

struct spawned {
	size_t live;
	uint64_t missing;
	int rc;
};

static void *spawned_main(void *data)
{
	struct spawned *s = data;
	size_t before = pool_census().live;

	s->rc = autorelease_all(&s->missing);
	s->live = pool_census().live - before;
	return NULL;
}

int pool_live_measure(struct pool_live *live)
{
	struct spawned spawned = {0};
	pthread_t thread;
	size_t before;
	int error, rc;

	*live = (struct pool_live){.autoreleases = AUTORELEASES};
	rc = autorelease_all(&live->missing[0]);
	live->live[POOL_RUNNING] = pool_census().live;
	(void)rouse_pool_pop(rouse_pool_push());
	live->live[POOL_POPPED] = pool_census().live;
	rouse_pool_drain_thread();
	live->live[POOL_DRAINED] = pool_census().live;
	if (rc < 0) {
		tool_complain("no memory for %d objects", AUTORELEASES);
		return -1;
	}
	before = pool_census().live;
	error = thread_start(&thread, spawned_main, &spawned);
	if (error != 0) {
		tool_complain("cannot start a thread: %s", strerror(error));
		return -1;
	}
	pthread_join(thread, NULL);
	if (spawned.rc < 0) {
		tool_complain("no memory for %d objects", AUTORELEASES);
		return -1;
	}
	live->missing[1] = spawned.missing;
	live->live[POOL_ENDING] = spawned.live;
	live->live[POOL_ENDED] = pool_census().live - before;
	return 0;
}
