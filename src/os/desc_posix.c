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

int rouse__fd_replace(int fd, int by)
{
	int result, error;

	do
		result = dup3(by, fd, O_CLOEXEC);
	while (result < 0 && (errno == EINTR || errno == EBUSY));
	error = result < 0 ? errno : 0;
	close(by);
	return error;
}
