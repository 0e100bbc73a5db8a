/* The doorbell of a system with kqueue: a kqueue with a user event, which the poller of that name
 * watches its descriptors in, too.  To "poll" it is readable while it is rung. */
#include "core/doorbell.h"
#include "core/fault.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

static int control(int fd, int flags, unsigned fflags)
{
	struct kevent event;
	int result;

	EV_SET(&event, 0, EVFILT_USER, flags, fflags, 0, NULL);
	do
		result = ROUSE__SYS(ROUSE__RING, kevent(fd, &event, 1, NULL, 0, NULL));
	while (result < 0 && errno == EINTR);
	return result < 0 ? errno : 0;
}

int rouse__doorbell_open(const rouse_allocator *allocator, int *ret_fd)
{
	int error, fd = rouse__fd_adopt(ROUSE__SYS(ROUSE__EVENTFD, kqueue()));

	(void)allocator;
	if (fd < 0)
		return rouse__os_failed(errno);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC))
		error = errno;
	else
		error = control(fd, EV_ADD | EV_CLEAR, 0);
	if (error) {
		close(fd);
		return rouse__os_failed(error);
	}
	*ret_fd = fd;
	return 0;
}

void rouse__doorbell_close(const rouse_allocator *allocator, int fd)
{
	(void)allocator;
	close(fd);
}

/* A forked child does not inherit it: the number is free, or somebody else's by now. */
int rouse__doorbell_replace(int fd)
{
	int fresh = -1, error;

	if (fcntl(fd, F_GETFD) >= 0)
		return rouse__os_failed(EBUSY);
	error = rouse__doorbell_open(NULL, &fresh);
	if (error || fresh == fd)
		return error;
	error = rouse__fd_replace(fd, fresh);
	return error ? rouse__os_failed(error) : 0;
}

int rouse__doorbell_ring(int fd)
{
	int saved = errno;
	int error = control(fd, 0, NOTE_TRIGGER);

	errno = saved;
	/* It is being absorbed: who does that looks at the queue afterwards. */
	return error == ENOENT ? 0 : error;
}

/* The event is forgotten with what was triggered, and made anew. */
void rouse__doorbell_absorb(int fd)
{
	(void)control(fd, EV_DELETE, 0);
	(void)control(fd, EV_ADD | EV_CLEAR, 0);
}
