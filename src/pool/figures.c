/* What is told of a thread's stack, and of all of them. */
#include "pool/stack.h"

#include "base/sized.h"

#include <stdlib.h>
#include <string.h>

static void each_live(const struct rouse__pool_thread *t, void (*tell)(const entry *e, void *ctx),
                      void *ctx)
{
	const struct chunk *c = t ? t->first : NULL;

	for (; c; c = c == t->chunk ? NULL : c->next) {
		const entry *end = c == t->chunk ? t->top->cur : c->end;

		for (const entry *e = c->entries; e < end; e++)
			if (!is_boundary(e))
				tell(e, ctx);
	}
}

/* ---- Figures ------------------------------------------------------------------------- */

static void add_counters(rouse_pool_stats *to, const struct rouse__pool_thread *t,
                         const uint64_t *before)
{
	uint64_t *fields[COUNTERS] = {
	        [RELEASED] = &to->released, [DRAINS] = &to->drains,
	        [MISSING] = &to->missing,   [SKIPPED] = &to->skipped,
	        [STALE] = &to->stale,       [WRONG_THREAD] = &to->wrong_thread,
	        [STRANDED] = &to->stranded,
	};

	for (int i = 0; i < COUNTERS; i++)
		*fields[i] += counted(&t->counters[i]) - (before ? before[i] : 0);
	to->bytes += counted(&t->bytes);
}

static void count_live(const entry *e, void *live)
{
	(void)e;
	++*(uint64_t *)live;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* This thread's is counted, others' are what they last said. */
static uint64_t live_of(const struct rouse__pool_thread *t)
{
	uint64_t live = 0;

	if (t != ROUSE__MINE(rouse__pool_top_1)->thread)
		return counted(&t->live);
	each_live(t, count_live, &live);
	return live;
}

static int check(const rouse_pool_stats *stats)
{
	if (!stats || stats->size < sizeof stats->size)
		return ROUSE_EINVAL;
	return rouse__sized_tail_zero(stats, stats->size, sizeof *stats) ? 0 : ROUSE_EABI;
}

static int hand_out(rouse_pool_stats *to, rouse_pool_stats *from)
{
	size_t size = to->size;

	from->size = size;
	memcpy(to, from, size < sizeof *from ? size : sizeof *from);
	return 0;
}

int rouse_pool_stats_thread(rouse_pool_stats *stats)
{
	const struct rouse__pool_thread *t = ROUSE__MINE(rouse__pool_top_1)->thread;
	rouse_pool_stats now = {0};
	int error = check(stats);

	if (error)
		return error;
	if (t) {
		add_counters(&now, t, t->before);
		now.live = live_of(t);
		now.peak = larger(counted(&t->peak), now.live);
	}
	return hand_out(stats, &now);
}

int rouse_pool_stats_process(rouse_pool_stats *stats)
{
	rouse_pool_stats now = {0};
	int error = check(stats);

	if (error)
		return error;
	for (const struct rouse__pool_thread *t = rouse__pool_threads(); t; t = t->next) {
		uint64_t live = live_of(t);

		add_counters(&now, t, NULL);
		now.live += live;
		now.peak = larger(now.peak, larger(live, counted(&t->peak)));
		now.peak = larger(now.peak, counted(&t->peak_before));
	}
	now.stranded += rouse__pool_stranded();
	return hand_out(stats, &now);
}

/* ---- What is live ----------------------------------------------------------------------- */

struct group {
	rouse_release_fn release;
	size_t live;
};

struct tally {
	struct group *groups;
	size_t used, room;
	int failed;
};

static int most_first(const void *a, const void *b)
{
	size_t x = ((const struct group *)a)->live, y = ((const struct group *)b)->live;

	return (x < y) - (x > y);
}

static void tally(const entry *e, void *ctx)
{
	struct tally *all = ctx;

	for (size_t i = 0; i < all->used; i++)
		if (all->groups[i].release == e->release) {
			all->groups[i].live++;
			return;
		}
	if (all->used == all->room) {
		size_t room = all->room ? all->room * 2 : 16;
		struct group *grown = realloc(all->groups, room * sizeof *grown);

		all->failed |= !grown;
		if (!grown)
			return;
		all->groups = grown;
		all->room = room;
	}
	all->groups[all->used++] = (struct group){e->release, 1};
}

int rouse_pool_walk(void (*group)(rouse_release_fn release, size_t live, void *ctx), void *ctx)
{
	struct tally all = {0};

	if (!group)
		return ROUSE_EINVAL;
	each_live(ROUSE__MINE(rouse__pool_top_1)->thread, tally, &all);
	if (all.used)
		qsort(all.groups, all.used, sizeof *all.groups, most_first);
	for (size_t i = 0; !all.failed && i < all.used; i++)
		group(all.groups[i].release, all.groups[i].live, ctx);
	free(all.groups);
	return all.failed ? ROUSE_ENOMEM : 0;
}
