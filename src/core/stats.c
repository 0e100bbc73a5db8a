/* What the library and a loop tell of themselves. */
#include "core/loop.h"

#include "base/sized.h"
#include "os/os.h"

#include <rouse/version.h>

#include <string.h>

unsigned rouse_version(void)
{
	return ROUSE_VERSION;
}

const char *rouse_loop_poller(const rouse_loop *loop)
{
	return loop ? loop->ops->name : NULL;
}

unsigned rouse_loop_caps(const rouse_loop *loop)
{
	if (!loop)
		return 0;
	return loop->ops->caps | (loop->pool_policy == ROUSE_POOL_NONE ? 0 : ROUSE_CAP_POOL);
}

int rouse__poller_of(rouse_loop *loop, const struct rouse__poller_ops *ops,
                     struct rouse__poller **ret_poller)
{
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	if (loop->ops != ops)
		return ROUSE_EINVAL;
	*ret_poller = loop->poller;
	return 0;
}

const rouse_allocator *rouse_loop_allocator(const rouse_loop *loop)
{
	return loop ? &loop->allocator : NULL;
}

rouse_ns rouse_loop_now(const rouse_loop *loop)
{
	return rouse__check_owner(loop) ? 0 : loop->ops->now(loop->poller);
}

int rouse_loop_stats(const rouse_loop *loop, rouse_stats *stats)
{
	int error = rouse__check_owner(loop);

	return error ? error : rouse_remote_stats(loop->remote, stats);
}

int rouse_remote_stats(const rouse_remote *remote, rouse_stats *stats)
{
	rouse_stats now;
	size_t size;

	if (!remote)
		return ROUSE_EINVAL;
	if (rouse__remote_forked(remote))
		return ROUSE_EFORKED;
	if (!stats || stats->size < sizeof stats->size)
		return ROUSE_EINVAL;
	size = stats->size;
	if (!rouse__sized_tail_zero(stats, size, sizeof now))
		return ROUSE_EABI;
	now.size = size;
	for (size_t i = 0; i < ROUSE__COUNTERS; i++)
		(&now.turns)[i] = rouse__counted(&remote->counters.counted[i]);
	memcpy(stats, &now, size < sizeof now ? size : sizeof now);
	return 0;
}
