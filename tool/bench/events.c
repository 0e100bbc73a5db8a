#include "bench/events.h"

#include <stdlib.h>
#include <string.h>

int events_open(struct events *e, size_t cap)
{
	*e = (struct events){.list = malloc(cap * sizeof *e->list), .cap = cap};
	if (!e->list)
		return -1;
	memset(e->list, 0xff, cap * sizeof *e->list); /* No page fault later. */
	return 0;
}

void events_close(struct events *e)
{
	free(e->list);
	*e = (struct events){0};
}

static void add(struct events *e, const struct event *event)
{
	if (e->n < e->cap)
		e->list[e->n++] = *event;
	else
		e->dropped++;
}

void events_add(struct events *e, enum event_kind kind, const char *name, const char *detail,
                uint64_t value)
{
	add(e, &(struct event){rouse_now(), kind, name, detail, value});
}

void events_add_at(struct events *e, rouse_ns at, enum event_kind kind, uint64_t value)
{
	add(e, &(struct event){at, kind, NULL, NULL, value});
}
