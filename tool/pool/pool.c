/*
 * `rouse pool`: the published figures of autorelease pools, measured again on this machine.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rouse/pool.h>

#include "interrupt.h"
#include "../json.h"
#include "machine.h"
#include "output.h"
#include "pool/emit.h"
#include "pool/json.h"
#include "pool/live.h"
#include "pool/measure.h"
#include "pool/options.h"
#include "pool/report.h"
#include "tool.h"

struct pool_run {
	struct pool_options options;
	struct machine machine;
	struct pool_result result;
	FILE *out; /* For people: standard error where standard output is for the JSON. */
	FILE *json;
	bool unavailable; /* Something that should have been there was not. */
};

static int open_files(struct pool_run *p)
{
	const char *name = p->options.json;

	p->out = stdout;
	if (name && strcmp(name, "-") == 0) {
		p->out = stderr;
		p->json = stdout;
	} else if (name && !(p->json = output_open("json", name))) {
		return TOOL_USAGE;
	}
	output_empty(p->json);
	return 0;
}

/* Between rounds: on a terminal that does not take it the next one waits, and none is disturbed. */
static void tell_progress(const struct pool_options *o, unsigned round)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (round < o->rounds)
		dprintf(STDERR_FILENO, "\rround %u of %u\033[K", round + 1, o->rounds);
	else
		dprintf(STDERR_FILENO, "\r\033[K");
}

/* The server has to be there before the rounds, and may be gone in one. */
static struct pool_emitter *open_emitter(struct pool_run *p)
{
	struct pool_emitter *emitter = NULL;

	p->result.no_emit = pool_emit_missing();
	if (p->result.no_emit)
		return NULL;
	emitter = pool_emit_open();
	if (emitter) {
		pool_emit_server(emitter, p->machine.server, sizeof p->machine.server);
		return emitter;
	}
	p->result.no_emit =
	        interrupt_caught() ? "interrupted" : "the private X server did not start";
	p->unavailable = true;
	return NULL;
}

static void measure_rounds(struct pool_run *p)
{
	struct pool_emitter *emitter = open_emitter(p);
	struct pool_measure *measure = pool_measure_open(&p->options, emitter);
	int rc = 0;

	if (!measure) {
		tool_complain("no memory for the rounds");
		p->unavailable = true;
		pool_emit_close(emitter);
		return;
	}
	pool_measure_held(&p->result);
	for (unsigned round = 0; round < p->options.rounds && rc == 0; round++) {
		tell_progress(&p->options, round);
		rc = pool_measure_round(measure);
	}
	tell_progress(&p->options, p->options.rounds);
	if (rc < 0 && !interrupt_caught()) {
		tool_complain("the X server went away; what was measured until then is reported");
		p->unavailable = true;
	}
	pool_measure_figures(measure, &p->result);
	pool_measure_close(measure);
	pool_emit_close(emitter);
	pool_report_rounds(p->out, &p->options, &p->result);
}

static int finish(struct pool_run *p)
{
	json_t *document;

	if (p->json) {
		document = pool_json(&p->machine, &p->options, &p->result);
		if (!document)
			tool_complain("--json: no memory");
		if (!document || json_finish(document, p->json, p->options.json) < 0)
			p->unavailable = true;
	}
	if (output_finish() < 0)
		p->unavailable = true;
	if (interrupt_caught())
		return TOOL_INTERRUPTED;
	if (pool_result_has_lost(&p->result))
		return TOOL_LOST;
	return p->unavailable ? TOOL_UNAVAILABLE : TOOL_MEASURED;
}

int pool_main(int argc, char **argv)
{
	struct pool_run p = {.unavailable = false};
	int rc = pool_options_parse(&p.options, argc, argv);

	/* Of the locale only the character set: numbers keep their point. */
	setlocale(LC_CTYPE, "");
	if (rc != 0)
		return rc;
	if (p.options.help) {
		pool_options_help(stdout);
		return 0;
	}
	rc = open_files(&p);
	if (rc != 0)
		return rc;
	machine_read(&p.machine);
	interrupt_install();
	pool_report_head(p.out, &p.options, &p.machine);
	/* Here pools are missing on purpose, whatever the environment asks for. */
	(void)rouse_pool_set_missing(ROUSE_MISSING_COUNT, NULL, NULL);
	if (pool_live_measure(&p.result.live) < 0)
		return TOOL_UNAVAILABLE;
	pool_report_live(p.out, &p.result.live);
	if (!interrupt_caught())
		measure_rounds(&p);
	return finish(&p);
}
