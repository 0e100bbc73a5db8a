#include "bench/log.h"

#include <inttypes.h>
#include <stdlib.h>

#include "bench/outside.h"

/* A wakeup of `mech`, its index-th answer, or an event. */
struct line {
	rouse_ns at;
	const struct mech_result *mech;
	size_t index;
};

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* Of one moment and one source: in the order they were noted. */
	return (x->index > y->index) - (x->index < y->index);
}

static void print_summary(FILE *out, const struct mech_result *m)
{
	const struct summary *s = &m->summary;

	fprintf(out, "stats mech=%s n=%zu lost=%zu coalesced=%zu", m->name, m->n, m->lost,
	        m->coalesced);
	if (s->has_cold)
		fprintf(out, " cold=%.3f", (double)s->cold / 1e3);
	if (s->n > 0)
		fprintf(out, " min=%.3f p50=%.3f p90=%.3f p99=%.3f max=%.3f", (double)s->min / 1e3,
		        (double)s->p50 / 1e3, (double)s->p90 / 1e3, (double)s->p99 / 1e3,
		        (double)s->max / 1e3);
	fputc('\n', out);
}

static void print_stats(FILE *out, const char *head, const struct result *r)
{
	const rouse_stats *s = &r->stats;

	for (size_t i = 0; i < r->mechs; i++) {
		fputs(head, out);
		print_summary(out, &r->mech[i]);
	}
	fprintf(out, "%sstats mech=%s hz=%u n=%zu missed=%zu\n", head, outside_ticker, r->ticks.hz,
	        r->ticks.n, r->ticks.missed);
	fprintf(out,
	        "%sstats turns=%" PRIu64 " callbacks=%" PRIu64 " wakes_sent=%" PRIu64
	        " wakes_served=%" PRIu64 " wakes_spurious=%" PRIu64 " wakes_failed=%" PRIu64
	        " posts_run=%" PRIu64 " log_dropped=%zu\n",
	        head, s->turns, s->callbacks, s->wakes_sent, s->wakes_served, s->wakes_spurious,
	        s->wakes_failed, s->posts_run, r->events->dropped);
}

static void print_event(FILE *out, const char *head, const struct event *e, uint64_t us,
                        const struct result *r)
{
	switch (e->kind) {
	case EVENT_STEP:
		fprintf(out, "%sstep name=%s", head, e->name);
		if (e->detail)
			fprintf(out, " of=%s", e->detail);
		fputc('\n', out);
		break;
	case EVENT_WINDOW:
		fprintf(out, "%swindow_created window=0x%" PRIx64 "\n", head, e->value);
		break;
	case EVENT_TICK:
		fprintf(out, "%sfd_tick t=%" PRIu64 " expirations=%" PRIu64 " src=%s\n", head, us,
		        e->value, outside_ticker);
		break;
	case EVENT_EXPOSE:
		fprintf(out, "%sexpose count=%" PRIu64 "\n", head, e->value);
		break;
	case EVENT_FRAME:
		fprintf(out, "%sframe_callback time=%" PRIu64 "\n", head, e->value);
		break;
	case EVENT_PAINT:
		fprintf(out, "%swm_paint n=%" PRIu64 "\n", head, e->value);
		break;
	case EVENT_X_ERROR:
		fprintf(out, "%sx_error code=%" PRIu64 "\n", head, e->value);
		break;
	case EVENT_STATS:
		print_stats(out, head, r);
		break;
	case EVENT_TEARDOWN:
		fprintf(out, "%steardown\n", head);
		break;
	}
}

int log_write(FILE *out, const struct result *r, rouse_ns start)
{
	size_t n = 0, total = r->events->n;
	struct line *lines;

	for (size_t i = 0; i < r->mechs; i++)
		total += r->mech[i].n;
	lines = malloc(total * sizeof *lines + 1);
	if (!lines)
		return -1;
	for (size_t i = 0; i < r->events->n; i++)
		lines[n++] = (struct line){r->events->list[i].at, NULL, i};
	for (size_t i = 0; i < r->mechs; i++)
		for (size_t k = 0; k < r->mech[i].n; k++)
			lines[n++] = (struct line){r->mech[i].meter->at[k], &r->mech[i], k};
	qsort(lines, n, sizeof *lines, compare);

	for (size_t i = 0; i < n; i++) {
		const struct line *line = &lines[i];
		uint64_t us = (line->at - start) / 1000;
		char head[64];

		snprintf(head, sizeof head, "%" PRIu64 " %s ", us, r->loop);
		if (line->mech)
			fprintf(out, "%swakeup latency_us=%.3f mech=%s coalesced=%" PRIu32 "\n",
			        head, (double)line->mech->meter->latency[line->index] / 1e3,
			        line->mech->name, line->mech->meter->together[line->index]);
		else
			print_event(out, head, &r->events->list[line->index], us, r);
	}
	free(lines);
	return fflush(out) == 0 && !ferror(out) ? 0 : -1;
}
