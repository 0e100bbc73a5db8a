#include "pool/report.h"

#include <inttypes.h>

#include <rouse/version.h>

#include "../report.h"

enum { WIDTH = 32 };

/* Three digits or so: more would only be noise. */
static void print_ns(char *text, double ns)
{
	double size = ns < 0 ? -ns : ns;

	snprintf(text, WIDTH, "%.*f", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, ns);
}

/* "17.5 (17.2 to 18.0)"; with a sign where it comes on top of something. */
static const char *spread(char *text, const char *sign, const struct figure *f)
{
	char low[WIDTH], median[WIDTH], high[WIDTH];

	if (f->n == 0) {
		snprintf(text, WIDTH, "-");
		return text;
	}
	print_ns(low, f->low);
	print_ns(median, f->median);
	print_ns(high, f->high);
	snprintf(text, WIDTH, "%s%.7s (%.7s to %.7s)", median[0] == '-' ? "" : sign, median, low,
	         high);
	return text;
}

void pool_report_head(FILE *out, const struct pool_options *o, const struct machine *m)
{
	const char *dot = report_utf8() ? "·" : "|";

	fprintf(out, "rouse pool %s %s %u round%s %s %u posts of each row in each\n",
	        ROUSE_VERSION_STRING, dot, o->rounds, o->rounds == 1 ? "" : "s", dot, o->posts);
	report_machine(out, m);
}

/* ---- No pool ------------------------------------------------------------------------------ */

static const char *const moments[POOL_MOMENTS] = {
        [POOL_RUNNING] = "main thread, which keeps running",
        [POOL_POPPED] = "  an empty push and pop later",
        [POOL_DRAINED] = "  after rouse_pool_drain_thread()",
        [POOL_ENDING] = "another thread, before it ends",
        [POOL_ENDED] = "  after it has ended",
};

void pool_report_live(FILE *out, const struct pool_live *live)
{
	fprintf(out, "\n%zu autoreleases with no pool: live objects\n\n", live->autoreleases);
	fprintf(out, "  %-34s %10s %10s\n", "", "here", "theirs");
	for (int i = 0; i < POOL_MOMENTS; i++) {
		fprintf(out, "  %-34s %+10ld", moments[i], (long)live->live[i]);
		if (pool_theirs.live[i] >= 0)
			fprintf(out, " %+10d", pool_theirs.live[i]);
		fputc('\n', out);
	}
	fprintf(out, "  counted as missing a pool: %" PRIu64 " and %" PRIu64 "\n", live->missing[0],
	        live->missing[1]);
	fflush(out);
}

/* ---- Posts --------------------------------------------------------------------------------- */

static void print_times(FILE *out, const struct pool_result *r)
{
	fprintf(out,
	        "\ntwo objects, 574 bytes, for each post: ns per post, median (quartiles)\n\n"
	        "  %-11s %-19s %-19s %-19s %6s\n",
	        "pool every", "plain array", "pool, called", "pool, inlined", "theirs");
	for (int b = 0; b < POOL_BATCHES; b++) {
		char array[WIDTH], called[WIDTH], inlined[WIDTH];

		fprintf(out, "  %5u %-5s %-19s %-19s %-19s %6.1f\n", pool_batches[b],
		        pool_batches[b] == 1 ? "post" : "posts", spread(array, "", &r->array[b]),
		        spread(called, "", &r->posts[POOL_CALLED][b]),
		        spread(inlined, "", &r->posts[POOL_INLINED][b]), pool_theirs.post_ns[b]);
	}
}

static void print_held(FILE *out, const struct pool_result *r)
{
	fprintf(out,
	        "\nthe pools' share of that, and what is held when one is full\n\n"
	        "  %-11s %-43s %13s %6s\n"
	        "  %-11s %-21s %-21s %6s %6s %6s\n",
	        "", "ns over the array", "garbage, KiB", "own,", "pool every", "called", "inlined",
	        "here", "theirs", "KiB");
	for (int b = 0; b < POOL_BATCHES; b++) {
		char called[WIDTH], inlined[WIDTH];

		fprintf(out, "  %5u %-5s %-21s %-21s %6.1f %6.1f %6.1f\n", pool_batches[b],
		        pool_batches[b] == 1 ? "post" : "posts",
		        spread(called, "+", &r->over[POOL_CALLED][b]),
		        spread(inlined, "+", &r->over[POOL_INLINED][b]),
		        (double)r->held[b].garbage / 1024, pool_theirs.garbage_kib[b],
		        (double)r->held[b].own_bytes / 1024);
	}
}

static void print_empty(FILE *out, const struct pool_result *r)
{
	char called[WIDTH], inlined[WIDTH];

	fprintf(out,
	        "\nan empty push and pop: ns\n\n"
	        "  called %s    inlined %s    theirs %.1f\n",
	        spread(called, "", &r->empty[POOL_CALLED]),
	        spread(inlined, "", &r->empty[POOL_INLINED]), pool_theirs.empty_ns);
}

/* ---- Emits --------------------------------------------------------------------------------- */

static void print_emit(FILE *out, const struct pool_result *r)
{
	char text[WIDTH];

	fprintf(out,
	        "\none emit, a key event through XTEST into a private Xvfb: ns by the clock\n\n");
	if (r->no_emit) {
		fprintf(out, "  left out: %s\n", r->no_emit);
		return;
	}
	fprintf(out, "  %-28s %-24s %s\n", "XTestFakeKeyEvent, XFlush",
	        spread(text, "", &r->flushed), "written, not answered");
	fprintf(out, "  %-28s %-24s %s\n", "XTestFakeKeyEvent, XSync",
	        spread(text, "", &r->answered), "the server has answered");
	fprintf(out, "  %-28s %u to %u\n", "theirs: CGEventPost", pool_theirs.emit_ns[0],
	        pool_theirs.emit_ns[1]);
}

/* The form that a user can choose. */
static void print_share(FILE *out, const struct pool_result *r)
{
	int form = r->inlined ? POOL_INLINED : POOL_CALLED;
	const struct figure *over = &r->over[form][0];
	char ns[WIDTH];

	if (over->n == 0 || r->flushed.n == 0)
		return;
	print_ns(ns, over->median);
	fprintf(out, "\nA pool around each post takes %s ns (%s): %.2f %% of the shorter emit.\n",
	        ns, r->inlined ? "inlined" : "called", 100 * over->median / r->flushed.median);
}

static void print_lost(FILE *out, const struct pool_result *r)
{
	const struct pool_live *live = &r->live;

	for (int i = 0; i < POOL_MOMENTS; i++) {
		size_t expected = pool_live_expected(live, (enum pool_moment)i);

		if (live->live[i] != expected)
			fprintf(out, "LOST: %zu objects are live where %zu should be: %s\n",
			        live->live[i], expected,
			        moments[i] + (moments[i][0] == ' ' ? 2 : 0));
	}
	for (int i = 0; i < 2; i++)
		if (live->missing[i] != live->autoreleases)
			fprintf(out, "LOST: %" PRIu64 " of %zu autoreleases were counted\n",
			        live->missing[i], live->autoreleases);
	if (r->left > 0)
		fprintf(out, "LOST: %zu objects outlived the pools that were to release them\n",
		        r->left);
}

void pool_report_rounds(FILE *out, const struct pool_options *o, const struct pool_result *r)
{
	if (r->rounds < o->rounds)
		fprintf(out, "\ncut short: %u of %u rounds\n", r->rounds, o->rounds);
	print_times(out, r);
	if (!r->inlined)
		fputs("  nothing is inlined: the library keeps its variable "
		      "(ROUSE_POOL_TLS=call)\n",
		      out);
	print_held(out, r);
	print_empty(out, r);
	print_emit(out, r);
	print_share(out, r);
	fprintf(out,
	        "\ntheirs: \"%s\", on Apple hardware; its live objects are heap nodes.\n"
	        "What carries over to other machines is the pools' share, not the times.\n",
	        pool_theirs.title);
	print_lost(out, r);
	fflush(out);
}
