#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

FILE *output_open(const char *option, const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

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
	if ((fflush(stdout) == 0 && !ferror(stdout)) || errno == EPIPE)
		return 0;
	tool_complain("cannot write to standard output: %s", strerror(errno));
	return -1;
}
