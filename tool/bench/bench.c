/*
 * `rouse bench`: which loops can be measured here, one after the other, and what becomes of it.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "../json.h"
#include "bench/json.h"
#include "bench/log.h"
#include "machine.h"
#include "bench/options.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "output.h"
#include "bench/result.h"
#include "bench/run.h"
#include "tool.h"
#include "xvfb.h"

struct bench {
	struct options options;
	struct machine machine;
	rouse_ns start;
	FILE *out; /* For people: standard error where standard output is for the JSON. */
	FILE *log, *json;
	json_t *document;
	/* What happened, for the exit status. */
	bool lost;
	bool unavailable;
	unsigned skipped; /* Bits as in options.loops. */
};

static bool have_poller(const char *name)
{
	const char *have;

	for (unsigned i = 0; (have = rouse_poller_name(i)) != NULL; i++)
		if (!name || strcmp(have, name) == 0)
			return true;
	return false;
}

/* The display to use, or NULL: then a private server is to be started. */
static const char *given_display(const struct options *o)
{
	const char *display = o->display ? o->display : getenv("DISPLAY");

	return display && *display ? display : NULL;
}

/* NULL if the loop can be measured, else why it cannot. */
static const char *why_not(const struct loop_kind *kind, const struct options *o)
{
	if (!have_poller(kind->poller))
		return "the library has no such poller here";
	if (!kind->x11)
		return NULL;
	if (!mech_clientmessage.open)
		return "this build has no X11 (install libx11-dev libx11-xcb-dev libxcb1-dev)";
	if (!given_display(o) && !xvfb_installed())
		return "no $DISPLAY, and Xvfb is not installed (apt install xvfb)";
	return NULL;
}

static int print_list(const struct options *o)
{
	puts("loops:");
	for (size_t i = 0; i < LOOP_COUNT; i++) {
		const struct loop_kind *kind = &loop_kinds[i];
		const char *why = why_not(kind, o);

		printf("  %-14s %s", kind->name, kind->summary);
		if (why)
			printf("; not available: %s", why);
		else if (kind->x11 && !given_display(o))
			printf("; starts a private Xvfb");
		else if (kind->x11)
			printf("; uses the display '%s'", given_display(o));
		putchar('\n');
	}
	puts("mechanisms:");
	for (size_t i = 0; mech_table[i]; i++) {
		printf("  %-14s %s", mech_table[i]->name, mech_table[i]->summary);
		if (mech_table[i]->x11 && why_not(&loop_kinds[LOOP_X11], o))
			printf("; not available, as x11 is not");
		else if (mech_table[i]->x11)
			printf("; on x11 only");
		putchar('\n');
	}
	return 0;
}

/* Drops the loops that are not to be had, or fails if one was asked for by name. */
static int choose_loops(struct bench *b)
{
	struct options *o = &b->options;

	for (size_t i = 0; i < LOOP_COUNT; i++) {
		const struct loop_kind *kind = &loop_kinds[i];
		const char *why = o->loops & 1u << i ? why_not(kind, o) : NULL;

		if (o->loops & 1u << i && mech_count(o->mechs, kind->x11) == 0)
			o->loops &= ~(1u << i);
		if (!why)
			continue;
		if (o->loops_named || (kind->x11 && (o->display || o->load > 0))) {
			tool_complain("%s is not available: %s", kind->name, why);
			return TOOL_UNAVAILABLE;
		}
		b->skipped |= 1u << i;
		o->loops &= ~(1u << i);
	}
	if (o->loops == 0) {
		tool_complain("there is nothing to measure here");
		return TOOL_UNAVAILABLE;
	}
	return 0;
}

static void tell_skipped(const struct bench *b)
{
	for (size_t i = 0; i < LOOP_COUNT; i++) {
		if (!(b->skipped & 1u << i))
			continue;
		if (loop_kinds[i].x11)
			fputs("SKIP: no X11 display\n", b->out);
		else
			fprintf(b->out, "SKIP: no %s\n", loop_kinds[i].name);
	}
	fflush(b->out);
}

/* Before anything is measured: a mistake shows at once.  What an earlier run left is given up only
 * when nothing stands in the way of this one. */
static int open_files(struct bench *b)
{
	const struct options *o = &b->options;
	bool json_to_stdout = o->json && strcmp(o->json, "-") == 0;

	b->out = json_to_stdout ? stderr : stdout;
	if (o->log && !(b->log = output_open("log", o->log)))
		return TOOL_USAGE;
	if (json_to_stdout)
		b->json = stdout;
	else if (o->json && !(b->json = output_open("json", o->json)))
		return TOOL_USAGE;
	output_empty(b->log);
	output_empty(b->json);
	return 0;
}

/* Everything that is said of a run that was measured. */
static void tell(struct bench *b, struct run *run)
{
	struct result result;

	if (result_of(run, &result) < 0) {
		b->unavailable = true;
		return;
	}
	report_run(b->out, run, &result);
	if (run->lost_server) {
		tool_complain(
		        "the X server went away after %.1f s; what was measured until then is "
		        "reported",
		        result.seconds);
		b->unavailable = true;
	}
	b->lost |= result_has_lost(&result);
	if (b->log && log_write(b->log, &result, b->start) < 0) {
		tool_complain("--log: cannot write '%s'", b->options.log);
		b->unavailable = true;
		fclose(b->log);
		b->log = NULL;
	}
	if (b->document && (json_add_run(b->document, &result) < 0 ||
	                    (run->server[0] && json_set_server(b->document, run->server) < 0))) {
		tool_complain("--json: no memory");
		b->unavailable = true;
	}
	result_release(&result);
}

static void measure_loop(struct bench *b, const struct loop_kind *kind)
{
	struct xvfb xvfb = {.cookie = -1};
	const char *display = kind->x11 ? given_display(&b->options) : NULL;
	struct progress *progress;
	struct run run;
	int rc;

	if (kind->x11 && !display) {
		if (xvfb_start(&xvfb) < 0) {
			b->unavailable = true;
			return;
		}
		display = xvfb.display;
	}
	if (run_open(&run, kind, &b->options, display) < 0) {
		b->unavailable = true;
		xvfb_stop(&xvfb);
		return;
	}
	progress = progress_start(&run);
	rc = run_measure(&run);
	progress_stop(progress);
	run_close(&run);
	xvfb_stop(&xvfb);
	if (rc == 0)
		tell(b, &run);
	else
		b->unavailable = true;
	run_release(&run);
}

static int finish(struct bench *b)
{
	if (b->json && json_finish(b->document, b->json, b->options.json) < 0)
		b->unavailable = true;
	if (b->log)
		fclose(b->log);
	if (output_finish() < 0)
		b->unavailable = true;
	if (interrupt_caught())
		return TOOL_INTERRUPTED;
	if (b->lost)
		return TOOL_LOST;
	return b->unavailable ? TOOL_UNAVAILABLE : TOOL_MEASURED;
}

int bench_main(int argc, char **argv)
{
	struct bench b = {.start = rouse_now()};
	int rc = options_parse(&b.options, argc, argv);

	/* Of the locale only the character set: numbers keep their point. */
	setlocale(LC_CTYPE, "");
	if (rc != 0)
		return rc;
	if (b.options.help) {
		options_help(stdout);
		return 0;
	}
	if (b.options.list)
		return print_list(&b.options);
	rc = choose_loops(&b);
	if (rc == 0)
		rc = open_files(&b);
	if (rc != 0)
		return rc;
	tell_skipped(&b);
	machine_read(&b.machine);
	if (b.json)
		b.document = json_document(&b.machine, &b.options);
	if (b.json && !b.document) {
		tool_complain("--json: no memory");
		return TOOL_UNAVAILABLE;
	}
	interrupt_install();
	report_head(b.out, &b.options, &b.machine);
	for (size_t i = 0; i < LOOP_COUNT && !interrupt_caught(); i++)
		if (b.options.loops & 1u << i)
			measure_loop(&b, &loop_kinds[i]);
	return finish(&b);
}
