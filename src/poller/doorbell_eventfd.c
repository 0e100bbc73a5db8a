#include "core/doorbell.h"
#include "core/fault.h"
#include "os/os.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * read() and write() are points at which a thread can be cancelled.  A producer that ended
 * between queueing and ringing would leave a loop asleep on work, so these calls go past the
 * C library, which then knows of no such point.
 */

int rouse__doorbell_open(const rouse_allocator *allocator, int *ret_fd)
{
	int fd =
	        rouse__fd_adopt(ROUSE__SYS(ROUSE__EVENTFD, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));

	(void)allocator;
	if (fd < 0)
		return rouse__os_failed(errno);
	*ret_fd = fd;
	return 0;
}

void rouse__doorbell_close(const rouse_allocator *allocator, int fd)
{
	(void)allocator;
	close(fd);
}

int rouse__doorbell_replace(int fd)
{
	int fresh = -1, error = rouse__doorbell_open(NULL, &fresh);

	if (error)
		return error;
	error = rouse__fd_replace(fd, fresh);
	return error ? rouse__os_failed(error) : 0;
}

static int write_one(int fd)
{
	uint64_t one = 1;
	long n;

	do
		n = ROUSE__SYS(ROUSE__RING, syscall(SYS_write, fd, &one, sizeof one));
	while (n < 0 && errno == EINTR);
	return n < 0 ? errno : 0;
}

int rouse__doorbell_ring(int fd)
{
	int saved = errno;
	int error = write_one(fd);

	/* At its maximum the counter takes no more, and a refused write makes no edge.  If
	 * the second write is refused as well, then another ringer has filled it since: with
	 * an edge of its own. */
	if (error == EAGAIN) {
		rouse__doorbell_absorb(fd);
		error = write_one(fd);
		if (error == EAGAIN)
			error = 0;
	}
	errno = saved;
	return error;
}

void rouse__doorbell_absorb(int fd)
{
	uint64_t count;
	long n;

	do
		n = ROUSE__SYS(ROUSE__ABSORB, syscall(SYS_read, fd, &count, sizeof count));
	while (n < 0 && errno == EINTR);
}
