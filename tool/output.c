#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "system.h"
#include "tool.h"

FILE *output_open(const char *option, const char *name)
{
	FILE *file = system_open(name);

	if (!file)
		tool_complain("--%s: cannot write '%s': %s", option, name, strerror(errno));
	return file;
}

/* Fails on what has no length, a pipe or a device, and that is all right. */
void output_empty(FILE *file)
{
	if (file && file != stdout && ftruncate(fileno(file), 0) < 0)
		errno = 0;
}

int output_finish(void)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || system_reader_left(errno))
		return 0;
	tool_complain("cannot write to standard output: %s", strerror(errno));
	return -1;
}
