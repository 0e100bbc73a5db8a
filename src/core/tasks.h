/* A list of nodes that were taken off the queue, oldest first. */
#ifndef ROUSE_CORE_TASKS_H
#define ROUSE_CORE_TASKS_H

#include <rouse/rouse.h>

struct rouse__tasks {
	rouse_task *first, **end;
};

static inline void rouse__tasks_init(struct rouse__tasks *tasks)
{
	tasks->first = NULL;
	tasks->end = &tasks->first;
}

/* One or more, linked; or NULL. */
static inline void rouse__tasks_append(struct rouse__tasks *tasks, rouse_task *more)
{
	*tasks->end = more;
	while (*tasks->end)
		tasks->end = &(*tasks->end)->next;
}

static inline void rouse__tasks_move(struct rouse__tasks *to, struct rouse__tasks *from)
{
	if (!from->first)
		return;
	*to->end = from->first;
	to->end = from->end;
	rouse__tasks_init(from);
}

/* There is one. */
static inline rouse_task *rouse__tasks_pop(struct rouse__tasks *tasks)
{
	rouse_task *task = tasks->first;

	tasks->first = task->next;
	if (!tasks->first)
		tasks->end = &tasks->first;
	return task;
}

#endif
