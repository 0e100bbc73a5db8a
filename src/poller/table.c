#include "core/poller.h"

static const struct rouse__poller_ops *const pollers[] = {
#if defined(_WIN32)
        &rouse__win32,
#elif defined(ROUSE_KQUEUE)
        &rouse__kqueue, &rouse__poll,
#else
        &rouse__epoll, &rouse__poll,
#endif
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
