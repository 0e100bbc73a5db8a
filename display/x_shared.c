#include "x_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

/* ---- Attaching ----------------------------------------------------------- */

bool rouse__x_gone(xcb_connection_t *connection)
{
	struct pollfd pollfd = {.fd = xcb_get_file_descriptor(connection)};

	return xcb_connection_has_error(connection) ||
	       (poll(&pollfd, 1, 0) == 1 && (pollfd.revents & (POLLHUP | POLLERR | POLLNVAL)));
}

void rouse__x_disconnect(xcb_connection_t *connection, pid_t owner)
{
	if (getpid() != owner) {
		int fd = xcb_get_file_descriptor(connection);
		int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

		if (nothing < 0) {
			close(fd);
			return;
		}
		dup3(nothing, fd, O_CLOEXEC);
		close(nothing);
	}
	xcb_disconnect(connection);
}

/* ---- Writing ------------------------------------------------------------- */

static sigset_t only_sigpipe(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	return set;
}

/* Two system calls in all.  Only a thread that has SIGPIPE blocked can have one pending that is
 * not ours: there the second one asks for it, and there is no mask to give back. */
void rouse__x_hush(struct rouse__x_hushed *hushed)
{
	const sigset_t set = only_sigpipe();
	sigset_t pending;

	pthread_sigmask(SIG_BLOCK, &set, &hushed->mask);
	hushed->blocked = sigismember(&hushed->mask, SIGPIPE) == 1;
	hushed->pending =
	        hushed->blocked && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void rouse__x_unhush(const struct rouse__x_hushed *hushed, bool broke)
{
	const sigset_t set = only_sigpipe();
	const struct timespec now = {0};

	/* One that was pending before is not ours to take; a second one of ours is one with it. */
	if (broke && !hushed->pending)
		while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
			;
	if (!hushed->blocked)
		pthread_sigmask(SIG_SETMASK, &hushed->mask, NULL);
}

/* ---- Reading ------------------------------------------------------------- */

/* A host that does not hold may itself use the connection before it comes back; and a hook that is
 * suspended, which is not asked to hold, is not told of the end of the sleep. */
void rouse__x_sleeps(struct rouse__x_sleep *sleep, xcb_connection_t *connection, unsigned flags)
{
	sleep->asleep = (flags & ROUSE_PREPARE_HOLD) != 0;
	sleep->read = xcb_total_read(connection);
}

void rouse__x_wakes(struct rouse__x_sleep *sleep, xcb_connection_t *connection)
{
	/* XCB forgets the number when the connection breaks. */
	if (sleep->asleep && xcb_total_read(connection) > sleep->read)
		sleep->broken++;
	sleep->asleep = false;
}
