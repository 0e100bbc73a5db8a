#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int rouse__fd_adopt(int fd)
{
	int high, error;

	if (fd < 0 || fd > 2)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	error = errno;
	close(fd);
	errno = error;
	return high;
}

void rouse__fd_close(int fd)
{
	close(fd);
}

/* macOS has none; what a thread forks and executes between the two calls inherits the number. */
#ifdef ROUSE_KQUEUE
static int replace(int by, int fd)
{
	int result = dup2(by, fd);

	return result < 0 ? result : fcntl(fd, F_SETFD, FD_CLOEXEC);
}
#else
static int replace(int by, int fd)
{
	return dup3(by, fd, O_CLOEXEC);
}
#endif

int rouse__fd_replace(int fd, int by)
{
	int result, error;

	do
		result = replace(by, fd);
	while (result < 0 && (errno == EINTR || errno == EBUSY));
	error = result < 0 ? errno : 0;
	close(by);
	return error;
}
