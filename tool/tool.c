#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tool_complain(const char *format, ...)
{
	va_list args;

	fputs("rouse: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

int tool_number(const char *option, const char *text, unsigned min, unsigned max, unsigned *ret)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < min ||
	    value > max) {
		tool_complain("--%s wants a whole number from %u to %u, not '%s'", option, min, max,
		              text);
		return TOOL_USAGE;
	}
	*ret = (unsigned)value;
	return 0;
}
