#include "bench/host/stamps.h"

#include <stdlib.h>

int stamps_open(struct mech *m)
{
	struct stamps *s = malloc(sizeof *s + m->meter.cap * sizeof s->stamp[0]);

	if (!s)
		return ROUSE_ENOMEM;
	for (size_t i = 0; i < m->meter.cap; i++)
		s->stamp[i] = (struct stamp){.m = m};
	s->next = 0;
	m->handle = s;
	return 0;
}

struct stamp *stamps_take(struct mech *m, rouse_ns at)
{
	struct stamps *s = m->handle;
	struct stamp *stamp = &s->stamp[s->next++];

	stamp->at = at;
	return stamp;
}

void stamps_answer(struct stamp *stamp, rouse_ns now)
{
	stamp->answered = true;
	meter_answer_stamps(&stamp->m->meter, &stamp->at, 1, now);
}

void stamps_refuse(const struct stamp *stamp)
{
	if (stamp->answered)
		stamp->m->meter.strays++;
}
