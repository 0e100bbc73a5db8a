#include "core/poller.h"

static const struct rouse__poller_ops *const pollers[] = {&rouse__epoll, &rouse__poll,
                                                          &rouse__null};

const struct rouse__poller_ops *rouse__poller_at(unsigned index)
{
	return index < sizeof pollers / sizeof *pollers ? pollers[index] : NULL;
}

const char *rouse_poller_name(unsigned index)
{
	const struct rouse__poller_ops *ops = rouse__poller_at(index);

	return ops ? ops->name : NULL;
}
