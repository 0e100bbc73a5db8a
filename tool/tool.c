#include "tool.h"

#include <stdarg.h>
#include <stdio.h>

void tool_complain(const char *format, ...)
{
	va_list args;

	fputs("rouse: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}
