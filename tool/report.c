#include "report.h"

#include <langinfo.h>
#include <string.h>

bool report_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void report_machine(FILE *out, const struct machine *m)
{
	const char *dot = report_utf8() ? "·" : "|";

	fprintf(out, "%s %s %s\n%u cpu%s %s clock %s %s load %.2f %.2f %.2f\n", m->kernel, dot,
	        m->processor[0] ? m->processor : "unknown processor", m->cpus,
	        m->cpus == 1 ? "" : "s", dot, m->clock_source[0] ? m->clock_source : "unknown", dot,
	        m->load[0], m->load[1], m->load[2]);
	fflush(out);
}
