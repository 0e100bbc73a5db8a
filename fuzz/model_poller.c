/* The model's null poller: what null.h says, and that its reports take turns. */
#include "model.h"

#include <rouse/null.h>

#include <assert.h>

/* The descriptors that a player names. */
int model_place(rouse_fd fd)
{
	if (fd < 6)
		return fd;
	return fd == ROUSE_NULL_MAX_FD ? 7 : 6;
}

void model_watch(struct loop *loop, int source)
{
	loop->watched[loop->watches++] = source;
}

void model_unwatch(struct loop *loop, int source)
{
	for (int i = 0; i < loop->watches; i++)
		if (loop->watched[i] == source) {
			loop->watched[i] = loop->watched[--loop->watches];
			return;
		}
}

static void note(struct loop *loop, int number, unsigned seen)
{
	struct source *source = &m.sources[number];
	uint64_t turn = loop->counters[COUNTER(turns)];

	if (seen & (ROUSE_HANGUP | ROUSE_FDERROR)) {
		if (source->hung && source->hung + 1 == turn)
			loop->counters[COUNTER(hangups_ignored)]++;
		source->hung = turn;
	}
	if (source->kind == HOOK) {
		source->ready |= seen;
		return;
	}
	loop->batch[loop->batch_end].source = number;
	loop->batch[loop->batch_end].events = seen;
	loop->batch_end++;
}

/* In a ring, from behind the last one that was reported. */
static unsigned report(struct loop *loop)
{
	unsigned reported = 0;
	int from = loop->report_from;

	for (int k = 0; k < loop->watches && reported < loop->max_batch; k++) {
		int i = (from + k) % loop->watches;
		const struct source *source = &m.sources[loop->watched[i]];
		unsigned wanted = source->parked ? 0 : source->events;
		unsigned seen = loop->ready[model_place(source->fd)];

		seen &= wanted ? wanted | ROUSE_HANGUP | ROUSE_FDERROR : 0;
		if (!seen)
			continue;
		note(loop, loop->watched[i], seen);
		loop->report_from = (i + 1) % loop->watches;
		reported++;
	}
	return reported;
}

void model_play_script(struct loop *loop)
{
	int played = 0;

	while (played < loop->changes && loop->script[played].at <= loop->clock) {
		loop->ready[loop->script[played].place] = loop->script[played].events;
		played++;
	}
	loop->changes -= played;
	for (int i = 0; i < loop->changes; i++)
		loop->script[i] = loop->script[i + played];
}

static void listen(struct loop *loop)
{
	loop->rung = loop->bell;
	loop->bell = 0;
}

static void look(struct loop *loop, rouse_ns deadline)
{
	rouse_ns next = deadline;

	listen(loop);
	model_play_script(loop);
	if (report(loop) || loop->rung || deadline <= loop->clock)
		return;
	if (loop->changes && loop->script[0].at < next)
		next = loop->script[0].at;
	if (next == ROUSE_NEVER) {
		player_idle();
		listen(loop);
		return;
	}
	loop->clock = next;
	model_play_script(loop);
	(void)report(loop);
}

void model_wait(struct loop *loop, rouse_ns deadline)
{
	loop->batch_next = loop->batch_end = 0;
	loop->counters[COUNTER(turns)]++;
	look(loop, deadline);
	if ((unsigned)loop->batch_end == loop->max_batch)
		loop->counters[COUNTER(fds_over)]++;
}
