#include "machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* The first line of a file, without its end. */
static void read_line(const char *path, char *text, size_t size)
{
	FILE *in = fopen(path, "re");

	if (!in)
		return;
	if (fgets(text, (int)size, in))
		text[strcspn(text, "\n")] = '\0';
	else
		text[0] = '\0';
	fclose(in);
}

/* x86 calls it "model name"; elsewhere there may be no such line. */
static void read_processor(char *text, size_t size)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (in && fgets(line, sizeof line, in)) {
		char *value = strchr(line, ':');

		if (!value || strncmp(line, "model name", strlen("model name")) != 0)
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = '\0';
		snprintf(text, size, "%s", value);
		break;
	}
	if (in)
		fclose(in);
}

void machine_read(struct machine *m)
{
	struct utsname name;
	cpu_set_t cpus;

	memset(m, 0, sizeof *m);
	if (uname(&name) == 0)
		snprintf(m->kernel, sizeof m->kernel, "%.64s %.64s %.64s", name.sysname,
		         name.release, name.machine);
	read_processor(m->processor, sizeof m->processor);
	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
	          m->clock_source, sizeof m->clock_source);
	if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
		m->cpus = (unsigned)CPU_COUNT(&cpus);
	if (getloadavg(m->load, 3) != 3)
		memset(m->load, 0, sizeof m->load);
}
