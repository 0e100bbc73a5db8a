/* Who owns which descriptor, where they are small numbers: an array. */
#include "core/loop.h"

#include "base/alloc.h"
#include "core/ready.h"

int rouse__own(rouse_loop *loop, struct rouse__watch *watch)
{
	size_t fd = (size_t)watch->fd;

	if (fd >= loop->by_fd_count) {
		size_t count = loop->by_fd_count ? loop->by_fd_count : 16;
		struct rouse__watch **table;

		while (count <= fd)
			count *= 2;
		table = rouse__grow(&loop->allocator, loop->by_fd, loop->by_fd_count, count,
		                    sizeof(*table));
		if (!table)
			return ROUSE_ENOMEM;
		for (size_t i = loop->by_fd_count; i < count; i++)
			table[i] = NULL;
		loop->by_fd = table;
		loop->by_fd_count = count;
	}
	loop->by_fd[fd] = watch;
	return 0;
}

struct rouse__watch *rouse__owner(const rouse_loop *loop, rouse_fd fd)
{
	return (size_t)fd < loop->by_fd_count ? loop->by_fd[fd] : NULL;
}

void rouse__disown(rouse_loop *loop, const struct rouse__watch *watch)
{
	if (rouse__owner(loop, watch->fd) == watch)
		loop->by_fd[watch->fd] = NULL;
}

struct rouse__watch *rouse__watch_from(const rouse_loop *loop, rouse_fd fd)
{
	for (size_t n = (size_t)fd; n < loop->by_fd_count; n++)
		if (loop->by_fd[n] && loop->by_fd[n]->in_poller)
			return loop->by_fd[n];
	return NULL;
}
