/*
 * `rouse bench`: which loops can be measured here, one after the other, and what becomes of it.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/hosts.h"
#include "bench/json.h"
#include "bench/log.h"
#include "bench/loops.h"
#include "bench/options.h"
#include "bench/progress.h"
#include "bench/report.h"
#include "bench/result.h"
#include "bench/run.h"
#include "interrupt.h"
#include "../json.h"
#include "machine.h"
#include "output.h"
#include "tool.h"

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
};

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
		tool_complain("%s went away after %.1f s; what was measured until then is reported",
		              run->kind->display->server, result.seconds);
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
	                    (run->server[0] &&
	                     json_set_server(b->document, run->kind->display, run->server) < 0))) {
		tool_complain("--json: no memory");
		b->unavailable = true;
	}
	result_release(&result);
}

static int measure(struct run *run)
{
	struct progress *progress = progress_start(run);
	int rc = run_measure(run);

	progress_stop(progress);
	run_close(run);
	return rc;
}

static void measure_loop(struct bench *b, const struct loop_kind *kind)
{
	const struct display_ops *display = kind->display;
	const char *name = display ? loops_display(display, &b->options) : NULL;
	bool own = display && display->start && !name;
	struct run run;
	int rc;

	if (own)
		name = display->start();
	if ((own && !name) || run_open(&run, kind, &b->options, name) < 0) {
		b->unavailable = true;
		if (own)
			display->stop();
		return;
	}
	rc = measure(&run);
	if (own)
		display->stop();
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
	unsigned skipped;
	int rc = options_parse(&b.options, argc, argv);

	/* Of the locale only the character set: numbers keep their point. */
	setlocale(LC_CTYPE, "");
	if (rc != 0)
		return rc;
	if (b.options.help) {
		options_help(stdout);
		return 0;
	}
	hosts_hand_over(&b.options, argc, argv);
	if (b.options.list) {
		loops_list(&b.options);
		return 0;
	}
	rc = loops_choose(&b.options, &skipped);
	if (rc == 0)
		rc = open_files(&b);
	if (rc != 0)
		return rc;
	loops_tell_skipped(&b.options, skipped, b.out);
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
