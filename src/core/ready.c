#include "core/ready.h"

#include "core/loop.h"

static struct rouse__fd_source *source_of(struct rouse__watch *watch)
{
	return ROUSE__CONTAINER(watch, struct rouse__fd_source, watch);
}

struct rouse__watch *rouse__watch_named(const rouse_loop *loop, uint64_t id)
{
	struct rouse__source *source = rouse__slots_find(&loop->sources, id);
	struct rouse__watch *watch;

	if (!source)
		return NULL;
	watch = &ROUSE__CONTAINER(source, struct rouse__fd_source, source)->watch;
	return watch->in_poller ? watch : NULL;
}

void rouse__ready(rouse_loop *loop, struct rouse__watch *watch, unsigned events)
{
	struct rouse__fd_source *fd = source_of(watch);

	if (watch->events && (events & (ROUSE_HANGUP | ROUSE_FDERROR))) {
		uint64_t turn =
		        rouse__counted(&loop->remote->counters.counted[ROUSE__COUNTER(turns)]) + 1;

		if (fd->hung && fd->hung + 1 == turn)
			rouse__count(loop->remote, hangups_ignored, 1);
		fd->hung = turn;
	}
	fd->source.ops->ready(loop, &fd->source, events);
}

void rouse__ready_closed(rouse_loop *loop, struct rouse__watch *watch)
{
	struct rouse__fd_source *fd = source_of(watch);

	rouse__fd_disown(loop, &fd->source);
	fd->source.ops->ready(loop, &fd->source, ROUSE_FDERROR);
}

void rouse__ready_rung(rouse_loop *loop)
{
	loop->rung = 1;
}
