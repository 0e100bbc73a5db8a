#include "bench/report.h"

#include <string.h>

#include <rouse/version.h>

#include "bench/outside.h"
#include "../report.h"

enum { COLUMNS = 12, WIDTH = 20 };

/* A table of short texts; each column is as wide as its widest cell. */
struct table {
	char cell[MECH_MAX + 1][COLUMNS][WIDTH];
	size_t rows;
};

static const char *const titles[COLUMNS] = {"mechanism", "n",   "lost", "coal.", "min", "p50",
                                            "95 %",      "p90", "p99",  "95 %",  "max", "cold"};

/* Four digits or so: more would only be noise. */
static void print_us(char *text, size_t size, bool exists, uint64_t ns)
{
	if (!exists)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%.*f", ns < 100000 ? 1 : 0, (double)ns / 1e3);
}

static void print_interval(char *text, size_t size, bool exists, const struct interval *i)
{
	char lower[WIDTH], upper[WIDTH];

	print_us(lower, sizeof lower, exists, i->lower);
	print_us(upper, sizeof upper, exists, i->upper);
	if (exists)
		snprintf(text, size, "%.8s%s-%.8s%s", lower, i->has_lower ? "" : "*", upper,
		         i->has_upper ? "" : "*");
	else
		snprintf(text, size, "-");
}

static void add_row(struct table *t, const struct mech_result *m)
{
	const struct summary *s = &m->summary;
	char(*cell)[WIDTH] = t->cell[t->rows++];
	bool any = s->n > 0;

	snprintf(cell[0], WIDTH, "%s", m->name);
	snprintf(cell[1], WIDTH, "%zu", m->n);
	snprintf(cell[2], WIDTH, "%zu", m->lost);
	snprintf(cell[3], WIDTH, "%zu", m->coalesced);
	print_us(cell[4], WIDTH, any, s->min);
	print_us(cell[5], WIDTH, any, s->p50);
	print_interval(cell[6], WIDTH, any, &s->p50_ci);
	print_us(cell[7], WIDTH, any, s->p90);
	print_us(cell[8], WIDTH, any, s->p99);
	print_interval(cell[9], WIDTH, any, &s->p99_ci);
	print_us(cell[10], WIDTH, any, s->max);
	print_us(cell[11], WIDTH, s->has_cold, s->cold);
}

static void print_table(FILE *out, const struct table *t)
{
	for (size_t row = 0; row < t->rows; row++) {
		fputs("  ", out);
		for (size_t column = 0; column < COLUMNS; column++) {
			int width = 0;

			for (size_t i = 0; i < t->rows; i++) {
				int length = (int)strlen(t->cell[i][column]);

				width = length > width ? length : width;
			}
			/* Bounds stand close to what they bound, on its right. */
			if (column == 0 || column == 6 || column == 9)
				fprintf(out, "%s%-*s", column == 0 ? "" : " ", width,
				        t->cell[row][column]);
			else
				fprintf(out, "  %*s", width, t->cell[row][column]);
		}
		fputc('\n', out);
	}
}

static const struct mech_result *find(const struct result *r, const char *name)
{
	for (size_t i = 0; i < r->mechs; i++)
		if (strcmp(r->mech[i].name, name) == 0 && r->mech[i].summary.p50 > 0)
			return &r->mech[i];
	return NULL;
}

static void print_ratios(FILE *out, const struct result *r)
{
	static const char *const others[] = {
	        "eventfd",       "clientmessage",   "sync",       "wakeup",    "idle",
	        "async",         "invoke",          "emptyevent", "pushevent", "pushevent-loop",
	        "postevent",     "performselector", "descriptor", "handle",    "postmessage",
	        "threadmessage", "setevent"};
	const struct mech_result *own = find(r, "rouse-wake");
	const char *before = "  p50 of rouse-wake: ";

	for (size_t i = 0; own && i < sizeof others / sizeof others[0]; i++) {
		const struct mech_result *other = find(r, others[i]);

		if (!other)
			continue;
		fprintf(out, "%s%.2f of %s's", before,
		        (double)own->summary.p50 / (double)other->summary.p50, others[i]);
		before = ", ";
	}
	if (strcmp(before, ", ") == 0)
		fputc('\n', out);
}

static void print_remarks(FILE *out, const struct run *run, const struct result *r)
{
	bool bounded = true;

	for (size_t i = 0; i < r->mechs; i++) {
		const struct mech_result *m = &r->mech[i];
		const struct summary *s = &m->summary;

		if (s->n > 0 && !(s->p50_ci.has_lower && s->p50_ci.has_upper &&
		                  s->p99_ci.has_lower && s->p99_ci.has_upper))
			bounded = false;
		if (m->failed > 0 && !run->lost_server)
			fprintf(out, "  %zu calls of %s failed: %s\n", m->failed, m->name,
			        rouse_strerror(m->error));
		if (m->meter->strays > 0)
			fprintf(out, "  %zu answers of %s had a stamp that was not sent\n",
			        m->meter->strays, m->name);
		if (m->lost > m->rescued)
			fprintf(out, "  LOST: %zu of %zu wakeups of %s were never answered\n",
			        m->lost - m->rescued, m->lost + m->n, m->name);
		if (m->rescued > 0)
			fprintf(out,
			        "  LOST: %zu of %zu wakeups of %s woke nobody: later ones of "
			        "others were served before them\n",
			        m->rescued, m->lost + m->n, m->name);
	}
	if (!bounded)
		fputs("  * too few samples for this bound at 95 % (p99 takes 368): the outermost "
		      "one "
		      "stands here\n",
		      out);
}

void report_head(FILE *out, const struct options *o, const struct machine *m)
{
	const char *dot = report_utf8() ? "·" : "|";

	fprintf(out, "rouse bench %s %s %u s a loop %s %u wakeups a second each",
	        ROUSE_VERSION_STRING, dot, o->seconds, dot, o->rate);
	if (o->busy_us > 0)
		fprintf(out, " %s busy %u us", dot, o->busy_us);
	if (o->load > 0)
		fprintf(out, " %s load %u", dot, o->load);
	fputc('\n', out);
	report_machine(out, m);
}

void report_run(FILE *out, const struct run *run, const struct result *r)
{
	struct table table = {.rows = 1};

	for (size_t i = 0; i < COLUMNS; i++)
		snprintf(table.cell[0][i], WIDTH, "%s", titles[i]);
	for (size_t i = 0; i < r->mechs; i++)
		add_row(&table, &r->mech[i]);
	fprintf(out, "\n%s, %g s%s%s%s%s%s: microseconds\n", r->loop, r->seconds,
	        r->cut_short ? " (cut short)" : "", r->library[0] ? ", " : "", r->library,
	        run->server[0] ? ", " : "", run->server);
	print_table(out, &table);
	fputc('\n', out);
	histogram_print(out, r, report_utf8());
	fprintf(out, "  %s at %u Hz: %zu ticks, %zu missed\n", outside_ticker, r->ticks.hz,
	        r->ticks.n, r->ticks.missed);
	if (r->has_frames)
		fprintf(out, "  %s: %zu, %.1f a second\n", run->kind->display->drawn, r->frames,
		        r->seconds > 0 ? (double)r->frames / r->seconds : 0);
	print_ratios(out, r);
	if (run->note[0])
		fprintf(out, "  %s\n", run->note);
	print_remarks(out, run, r);
	fflush(out);
}
