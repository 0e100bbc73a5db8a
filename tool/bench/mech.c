#include "bench/mech.h"

#include "bench/host.h"
#include "bench/options.h"

bool mech_exists(const struct mech_ops *ops, const struct loop_kind *kind)
{
	return (!ops->display || ops->display == kind->display) &&
	       (!ops->host || ops->host == kind->host);
}

size_t mech_count(unsigned bits, const struct loop_kind *kind)
{
	size_t count = 0;

	for (size_t i = 0; mech_table[i]; i++)
		if (bits & 1u << i && mech_exists(mech_table[i], kind))
			count++;
	return count;
}

/* After the time was taken: it is not measured. */
static rouse_ns reach_turn(const struct mech *m)
{
	rouse_stats stats = {.size = sizeof stats};

	if (rouse_loop_stats(m->loop, &stats) < 0)
		return 0;
	return turns_reach(m->turns, stats.turns);
}

static void bear_witness(const struct mech *m)
{
	struct turns *t = m->turns;

	/* One less: a waker is in the queue too. */
	if (t->posts && meter_open_stamps(t->posts) >= ROUSE_DEFAULT_BATCH - 1)
		return;
	if (m->meter.taken == 0)
		return;
	turns_answered(t, m->meter.stamp[m->meter.taken - 1]);
	if (m->host) {
		turns_reach(&m->host->turns, m->host->waits);
		turns_answered(&m->host->turns, m->meter.stamp[m->meter.taken - 1]);
	}
}

void mech_answer_all(struct mech *m, rouse_ns now)
{
	meter_answer_all(&m->meter, now, reach_turn(m));
	bear_witness(m);
}

void mech_answer_unjudged(struct mech *m, rouse_ns now)
{
	reach_turn(m);
	meter_answer_all(&m->meter, now, 0);
	bear_witness(m);
}

void mech_answer_by_host(struct mech *m, rouse_ns now)
{
	meter_answer_all(&m->meter, now, turns_reach(&m->host->turns, m->host->waits));
}

void mech_answer_stamps(struct mech *m, const rouse_ns *stamps, size_t count, rouse_ns now)
{
	reach_turn(m);
	meter_answer_stamps(&m->meter, stamps, count, now);
	bear_witness(m);
}

void mech_fire(struct mech *m, rouse_ns stamp)
{
	int rc;

	meter_fire(&m->meter, stamp);
	rc = m->ops->fire(m, stamp);
	if (rc < 0) {
		m->failed++;
		m->error = rc;
	}
}
