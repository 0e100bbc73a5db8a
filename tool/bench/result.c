#include "bench/result.h"

#include <math.h>

#include "tool.h"

int result_of(struct run *run, struct result *r)
{
	*r = (struct result){.loop = run->kind->name,
	                     .library = run->library,
	                     .seconds = run->options->seconds,
	                     .ticks = run->ticks,
	                     .has_frames = run->kind->display && run->kind->display->frames > 0,
	                     .frames = run->frames,
	                     .events = &run->events,
	                     .stats = run->stats,
	                     .cut_short = run->interrupted || run->lost_server};
	if (r->cut_short) {
		double gone = run->end > run->begin ? (double)(run->end - run->begin) : 0;

		r->seconds = round(gone / 1e6) / 1e3;
	}
	for (; r->mechs < run->mechs; r->mechs++) {
		struct mech *m = &run->mech[r->mechs];
		struct mech_result *out = &r->mech[r->mechs];

		*out = (struct mech_result){
		        .name = m->ops->name,
		        .n = atomic_load_explicit(&m->meter.answered, memory_order_acquire),
		        .rescued = atomic_load_explicit(&m->meter.rescued, memory_order_acquire),
		        .coalesced = m->meter.coalesced,
		        .failed = m->failed,
		        .error = m->error,
		        .meter = &m->meter,
		};
		out->lost = run_unanswered(run, m) + out->rescued;
		if (samples_summarize(m->meter.latency, out->n, &out->summary) < 0) {
			tool_complain("no memory for the samples");
			result_release(r);
			return -1;
		}
	}
	return 0;
}

void result_release(struct result *r)
{
	for (size_t i = 0; i < r->mechs; i++)
		samples_release(&r->mech[i].summary);
	r->mechs = 0;
}

bool result_has_lost(const struct result *r)
{
	for (size_t i = 0; i < r->mechs; i++)
		if (r->mech[i].lost > 0)
			return true;
	return false;
}
