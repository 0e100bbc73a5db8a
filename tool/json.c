#include "json.h"

#include <errno.h>
#include <string.h>

#include "system.h"
#include "tool.h"

/* Null where there is no such fact, as below. */
static json_t *text_if(const char *text)
{
	return text[0] ? json_string(text) : json_null();
}

static json_t *load_if(const struct machine *m)
{
	return m->no_load ? json_null()
	                  : json_pack("[f, f, f]", m->load[0], m->load[1], m->load[2]);
}

json_t *json_machine(const struct machine *m)
{
	return json_pack("{s: o, s: o, s: o, s: i, s: o, s: o, s: n}", "kernel", text_if(m->kernel),
	                 "processor", text_if(m->processor), "clock_source",
	                 text_if(m->clock_source), "cpus", (int)m->cpus, "load", load_if(m),
	                 "x_server", text_if(m->server), "compositor");
}

int json_write(const json_t *document, FILE *out)
{
	/* 15 digits give back every nanosecond of a run without the noise of binary fractions. */
	if (json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) < 0 ||
	    fputc('\n', out) == EOF)
		return -1;
	return fflush(out) == 0 ? 0 : -1;
}

int json_finish(json_t *document, FILE *out, const char *name)
{
	int rc = json_write(document, out);

	json_decref(document);
	if (rc < 0 && system_reader_left(errno))
		rc = 0;
	if (rc < 0)
		tool_complain("--json: cannot write '%s': %s", name, strerror(errno));
	if (out != stdout && fclose(out) != 0 && rc == 0) {
		tool_complain("--json: cannot write '%s': %s", name, strerror(errno));
		rc = -1;
	}
	return rc;
}
