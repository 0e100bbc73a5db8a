#include "core/ready.h"

#include "core/loop.h"

#include <assert.h>

void rouse__ready(rouse_loop *loop, uint64_t id, unsigned events)
{
	struct rouse__source *source = rouse__slots_find(&loop->sources, id);

	if (source)
		source->ops->ready(loop, source, events);
}

void rouse__ready_closed(rouse_loop *loop, uint64_t id)
{
	struct rouse__source *source = rouse__slots_find(&loop->sources, id);

	assert(source);
	rouse__fd_disown(loop, source);
	source->ops->ready(loop, source, ROUSE_FDERROR);
}

void rouse__ready_rung(rouse_loop *loop)
{
	loop->rung = 1;
}
