/*
 * Who owns which descriptor, where they are any numbers: a table with open addressing.
 *
 * The first place of a number is its hash, and it stands there or in the next ones that are taken.
 * At least half of them are free.  Where one is given up, those that had to step over it move back.
 */
#include "core/loop.h"

#include "base/alloc.h"

#define FIRST_COUNT 16u

/* The count is a power of two; of a socket's number the lowest two bits say nothing. */
static size_t home(const rouse_loop *loop, rouse_fd fd)
{
	uint64_t mixed = (uint64_t)fd * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 32) & (loop->by_fd_count - 1);
}

static size_t next(const rouse_loop *loop, size_t place)
{
	return (place + 1) & (loop->by_fd_count - 1);
}

/* Where it stands, or would. */
static size_t place_of(const rouse_loop *loop, rouse_fd fd)
{
	size_t place = home(loop, fd);

	while (loop->by_fd[place] && loop->by_fd[place]->fd != fd)
		place = next(loop, place);
	return place;
}

static int grow(rouse_loop *loop)
{
	struct rouse__watch **old = loop->by_fd;
	size_t old_count = loop->by_fd_count;
	size_t count = old_count ? old_count * 2 : FIRST_COUNT;
	struct rouse__watch **table =
	        rouse__zalloc(&loop->allocator, count * sizeof(struct rouse__watch *));

	if (!table)
		return ROUSE_ENOMEM;
	loop->by_fd = table;
	loop->by_fd_count = count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			table[place_of(loop, old[i]->fd)] = old[i];
	rouse__free(&loop->allocator, old, old_count * sizeof(*old));
	return 0;
}

int rouse__own(rouse_loop *loop, struct rouse__watch *watch)
{
	size_t place;

	if (2 * (loop->owned + 1) > loop->by_fd_count && grow(loop))
		return ROUSE_ENOMEM;
	place = place_of(loop, watch->fd);
	if (!loop->by_fd[place])
		loop->owned++;
	loop->by_fd[place] = watch;
	return 0;
}

struct rouse__watch *rouse__owner(const rouse_loop *loop, rouse_fd fd)
{
	return loop->by_fd_count ? loop->by_fd[place_of(loop, fd)] : NULL;
}

/* How far from its home a place is. */
static size_t steps(const rouse_loop *loop, size_t from, size_t to)
{
	return (to - from) & (loop->by_fd_count - 1);
}

void rouse__disown(rouse_loop *loop, const struct rouse__watch *watch)
{
	size_t hole, place;

	if (rouse__owner(loop, watch->fd) != watch)
		return;
	hole = place_of(loop, watch->fd);
	for (place = next(loop, hole); loop->by_fd[place]; place = next(loop, place)) {
		size_t from = home(loop, loop->by_fd[place]->fd);

		if (steps(loop, from, place) < steps(loop, hole, place))
			continue;
		loop->by_fd[hole] = loop->by_fd[place];
		hole = place;
	}
	loop->by_fd[hole] = NULL;
	loop->owned--;
}
