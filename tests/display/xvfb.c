#include "xvfb.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVERS = 8 };
static struct xvfb *running[SERVERS];
static pid_t owner;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* One MIT-MAGIC-COOKIE-1 of family Wild: for any display of that server. */
static int make_authority(void)
{
	static const char name[] = "MIT-MAGIC-COOKIE-1";
	unsigned char record[2 + 2 + 2 + 2 + 18 + 2 + 16] = {0xff, 0xff, 0, 0, 0, 0, 0, 18};
	int fd = memfd_create("authority", 0);

	memcpy(record + 8, name, 18);
	record[27] = 16;
	if (fd < 0 || getrandom(record + 28, 16, 0) != 16 ||
	    write(fd, record, sizeof(record)) != (ssize_t)sizeof(record))
		fail("authority");
	return fd;
}

static void run_server(int displayfd, const char *authority, pid_t parent)
{
	char number[12];
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	snprintf(number, sizeof(number), "%d", displayfd);
	execlp("Xvfb", "Xvfb", "-displayfd", number, "-screen", "0", "1024x768x24", "-nolisten",
	       "tcp", "-noreset", "-auth", authority, (char *)NULL);
	_exit(errno == ENOENT ? 77 : 1);
}

static void stop_all(void)
{
	if (getpid() != owner)
		return;
	for (int i = 0; i < SERVERS; i++)
		if (running[i])
			xvfb_stop(running[i]);
}

void xvfb_start(struct xvfb *xvfb)
{
	char authority[32], answer[16] = "";
	size_t length = 0;
	int fds[2], i = 0;

	/* A test that failed has left it running. */
	for (int j = 0; j < SERVERS; j++)
		if (running[j] == xvfb)
			xvfb_stop(xvfb);
	memset(xvfb, 0, sizeof(*xvfb));
	xvfb->authority = make_authority();
	snprintf(authority, sizeof(authority), "/proc/self/fd/%d", xvfb->authority);
	if (pipe(fds))
		fail("pipe");
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	if (!owner) {
		owner = getpid();
		atexit(stop_all);
	}
	while (running[i])
		i++;
	running[i] = xvfb;

	pid_t parent = getpid();
	xvfb->pid = fork();
	if (xvfb->pid < 0)
		fail("fork");
	if (xvfb->pid == 0)
		run_server(fds[1], authority, parent);
	close(fds[1]);
	/* The number, and a newline, when the server is ready; nothing when it could not start. */
	for (;;) {
		ssize_t n = read(fds[0], answer + length, sizeof(answer) - 1 - length);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		length += (size_t)n;
		if (memchr(answer, '\n', length))
			break;
	}
	close(fds[0]);
	answer[length] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
	if (!answer[0]) {
		int status = 0;
		waitpid(xvfb->pid, &status, 0);
		xvfb->pid = 0;
		xvfb_stop(xvfb);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
			fprintf(stderr, "SKIP: no Xvfb\n");
			exit(77);
		}
		fprintf(stderr, "Xvfb does not start\n");
		exit(1);
	}
	snprintf(xvfb->display, sizeof(xvfb->display), ":%.12s", answer);
	setenv("DISPLAY", xvfb->display, 1);
	setenv("XAUTHORITY", authority, 1);
}

static void end(struct xvfb *xvfb, int how)
{
	char path[64];

	if (!xvfb->pid)
		return;
	kill(xvfb->pid, how);
	while (waitpid(xvfb->pid, NULL, 0) < 0 && errno == EINTR)
		;
	xvfb->pid = 0;
	if (how != SIGKILL)
		return;
	/* A killed server leaves these behind. */
	snprintf(path, sizeof(path), "/tmp/.X%s-lock", xvfb->display + 1);
	unlink(path);
	snprintf(path, sizeof(path), "/tmp/.X11-unix/X%s", xvfb->display + 1);
	unlink(path);
}

void xvfb_kill(struct xvfb *xvfb)
{
	end(xvfb, SIGKILL);
}

void xvfb_stop(struct xvfb *xvfb)
{
	end(xvfb, SIGTERM);
	for (int i = 0; i < SERVERS; i++)
		if (running[i] == xvfb) {
			running[i] = NULL;
			close(xvfb->authority);
		}
}
