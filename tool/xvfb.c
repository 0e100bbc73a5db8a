#include "xvfb.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "interrupt.h"
#include "tool.h"

bool xvfb_installed(void)
{
	return server_installed("Xvfb");
}

/* One entry of an Xauthority file: family, then address, display number, name and data, each
 * after its length.  Family 65535 with no number holds for every address and display. */
static int write_cookie(int fd)
{
	static const char name[] = "MIT-MAGIC-COOKIE-1";
	unsigned char entry[64] = {0xff, 0xff, 0, 0, 0, 0, 0, sizeof name - 1};
	size_t n = 8;

	memcpy(entry + n, name, sizeof name - 1);
	n += sizeof name - 1;
	entry[n++] = 0;
	entry[n++] = 16;
	if (getrandom(entry + n, 16, 0) != 16)
		return -1;
	n += 16;
	return write(fd, entry, n) == (ssize_t)n ? 0 : -1;
}

/* What the server is to keep open. */
struct kept {
	int cookie, number;
};

static int keep(void *data)
{
	const struct kept *kept = data;
	char auth[32];

	/* A server that cannot read its cookie would let every local user in. */
	snprintf(auth, sizeof auth, "/proc/self/fd/%d", kept->cookie);
	if (access(auth, R_OK) < 0 || fcntl(kept->cookie, F_SETFD, 0) < 0)
		return -1;
	return fcntl(kept->number, F_SETFD, 0) < 0 ? -1 : 0;
}

/* The display number and a newline.  Nothing else can be waited for: the pipe closes if the
 * server gives up. */
static int read_number(int fd, char *number, size_t size)
{
	size_t got = 0;
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	while (got + 1 < size && !interrupt_caught()) {
		ssize_t n;

		if (poll(&pollfd, 1, SERVER_START_MS) <= 0) {
			if (errno == EINTR)
				continue;
			return -1;
		}
		n = read(fd, number + got, size - 1 - got);
		if (n <= 0)
			return -1;
		got += (size_t)n;
		if (number[got - 1] == '\n') {
			number[got - 1] = '\0';
			return 0;
		}
	}
	return -1;
}

int xvfb_start(struct xvfb *x)
{
	char number[12], authority[32], displayfd[12];
	char *argv[] = {"Xvfb",  "-displayfd", displayfd,   "-screen", "0",        "1024x768x24",
	                "-auth", authority,    "-nolisten", "tcp",     "-noreset", NULL};
	int pipe[2] = {-1, -1}, rc = -1;
	struct kept kept;

	*x = (struct xvfb){.cookie = memfd_create("xauthority", MFD_CLOEXEC)};
	if (x->cookie < 0 || write_cookie(x->cookie) < 0 || pipe2(pipe, O_CLOEXEC) < 0) {
		tool_complain("cannot start Xvfb: %s", strerror(errno));
		xvfb_stop(x);
		return -1;
	}
	snprintf(authority, sizeof authority, "/proc/self/fd/%d", x->cookie);
	snprintf(displayfd, sizeof displayfd, "%d", pipe[1]);
	kept = (struct kept){x->cookie, pipe[1]};
	if (server_start(&x->server, "Xvfb", "xvfb", argv, keep, &kept) == 0) {
		close(pipe[1]);
		pipe[1] = -1;
		rc = read_number(pipe[0], number, sizeof number);
		if (rc == 0) {
			snprintf(x->display, sizeof x->display, ":%s", number);
			setenv("XAUTHORITY", authority, 1);
		} else {
			server_does_not_start(&x->server);
		}
	}
	close(pipe[0]);
	if (pipe[1] >= 0)
		close(pipe[1]);
	if (rc < 0)
		xvfb_stop(x);
	return rc;
}

/* A server that was killed leaves its socket.  If somebody listens there, it is another's. */
static void remove_remains(const struct xvfb *x)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (!x->display[0])
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "/tmp/.X11-unix/X%s", x->display + 1);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) < 0 &&
	    errno == ECONNREFUSED)
		unlink(address.sun_path);
	if (fd >= 0)
		close(fd);
}

void xvfb_stop(struct xvfb *x)
{
	server_stop(&x->server);
	remove_remains(x);
	if (x->cookie >= 0)
		close(x->cookie);
	*x = (struct xvfb){.cookie = -1};
}
