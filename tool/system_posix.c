#include "system.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool.h"

/* A missing standard descriptor would be handed out for the next file or eventfd, and the
 * report would be written into that. */
static int fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

int system_begin(void)
{
	if (fill_standard_descriptors() < 0)
		return -1;
	/* A reader that went away is an error of one write, not the end of the process. */
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

FILE *system_open(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

bool system_reader_left(int error)
{
	return error == EPIPE;
}

bool system_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

const char *system_error(int code)
{
	return strerror(code);
}

void system_sleep_until(rouse_ns at)
{
	struct timespec when = {.tv_sec = (time_t)(at / TOOL_NS_PER_SEC),
	                        .tv_nsec = (long)(at % TOOL_NS_PER_SEC)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}
