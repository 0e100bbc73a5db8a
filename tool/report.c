#include "report.h"

#include "system.h"

bool report_utf8(void)
{
	return system_utf8();
}

void report_machine(FILE *out, const struct machine *m)
{
	const char *dot = report_utf8() ? "·" : "|";

	fprintf(out, "%s %s %s\n%u cpu%s %s clock %s", m->kernel, dot,
	        m->processor[0] ? m->processor : "unknown processor", m->cpus,
	        m->cpus == 1 ? "" : "s", dot, m->clock_source[0] ? m->clock_source : "unknown");
	if (!m->no_load)
		fprintf(out, " %s load %.2f %.2f %.2f", dot, m->load[0], m->load[1], m->load[2]);
	fputc('\n', out);
	fflush(out);
}
