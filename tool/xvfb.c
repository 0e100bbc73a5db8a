#include "xvfb.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "tool.h"

enum { START_MS = 20000, STOP_MS = 3000 };

static bool find_program(const char *name, char *path, size_t size)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t length = strcspn(at, ":");
		int n = snprintf(path, size, "%.*s/%s", (int)length, at, name);

		if (length > 0 && n > 0 && (size_t)n < size && access(path, X_OK) == 0)
			return true;
		at += length;
		at += *at == ':';
	}
	return false;
}

bool xvfb_installed(void)
{
	char path[PATH_MAX];

	return find_program("Xvfb", path, sizeof path);
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

/* In the child.  `numbers` are the descriptors it is to keep. */
static void become_xvfb(const char *path, pid_t parent, int cookie, int number, int errors)
{
	char auth[32], display[16];
	char *argv[] = {"Xvfb",  "-displayfd", display,     "-screen", "0",        "1024x768x24",
	                "-auth", auth,         "-nolisten", "tcp",     "-noreset", NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	/* A group of its own: Ctrl-C is for us, and we end the server afterwards. */
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(127);
	snprintf(auth, sizeof auth, "/proc/self/fd/%d", cookie);
	snprintf(display, sizeof display, "%d", number);
	/* A server that cannot read its cookie would let every local user in. */
	if (access(auth, R_OK) < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(errors, 2) < 0 || fcntl(cookie, F_SETFD, 0) < 0 || fcntl(number, F_SETFD, 0) < 0) {
		dprintf(errors, "%s\n", strerror(errno));
		_exit(127);
	}
	execv(path, argv);
	dprintf(2, "%s\n", strerror(errno));
	_exit(127);
}

/* The display number and a newline.  Nothing else can be waited for: the pipe closes if the
 * server gives up. */
static int read_number(int fd, char *number, size_t size)
{
	size_t got = 0;
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	while (got + 1 < size && !interrupt_caught()) {
		ssize_t n;

		if (poll(&pollfd, 1, START_MS) <= 0) {
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

/* What the server said last, for the complaint. */
static void last_words(int errors, char *text, size_t size)
{
	ssize_t n;
	off_t end = lseek(errors, 0, SEEK_END);
	off_t from = end > (off_t)size - 1 ? end - (off_t)size + 1 : 0;
	char *line;

	n = pread(errors, text, size - 1, from);
	text[n > 0 ? n : 0] = '\0';
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = '\0';
	line = strrchr(text, '\n');
	if (line)
		memmove(text, line + 1, strlen(line));
}

int xvfb_start(struct xvfb *x)
{
	char path[PATH_MAX], number[12], words[200] = "", authority[32];
	int errors = memfd_create("xvfb-errors", MFD_CLOEXEC), numbers[2] = {-1, -1};
	pid_t parent = getpid();

	*x = (struct xvfb){.cookie = memfd_create("xauthority", MFD_CLOEXEC)};
	if (!find_program("Xvfb", path, sizeof path)) {
		tool_complain("Xvfb is not installed (apt install xvfb)");
		goto fail;
	}
	if (x->cookie < 0 || errors < 0 || write_cookie(x->cookie) < 0 ||
	    pipe2(numbers, O_CLOEXEC) < 0) {
		tool_complain("cannot start Xvfb: %s", strerror(errno));
		goto fail;
	}
	x->pid = fork();
	if (x->pid == 0)
		become_xvfb(path, parent, x->cookie, numbers[1], errors);
	close(numbers[1]);
	numbers[1] = -1;
	if (x->pid < 0 || read_number(numbers[0], number, sizeof number) < 0) {
		last_words(errors, words, sizeof words);
		if (!interrupt_caught())
			tool_complain("Xvfb does not start: %s", words[0] ? words : "no answer");
		goto fail;
	}
	snprintf(x->display, sizeof x->display, ":%s", number);
	snprintf(authority, sizeof authority, "/proc/self/fd/%d", x->cookie);
	setenv("XAUTHORITY", authority, 1);
	close(numbers[0]);
	close(errors);
	return 0;
fail:
	for (int i = 0; i < 2; i++)
		if (numbers[i] >= 0)
			close(numbers[i]);
	if (errors >= 0)
		close(errors);
	xvfb_stop(x);
	return -1;
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
	const struct timespec step = {0, 5000000};

	if (x->pid > 0) {
		pid_t gone = 0;

		kill(x->pid, SIGTERM);
		kill(x->pid, SIGCONT);
		for (int ms = 0; ms < STOP_MS && gone == 0; ms += 5) {
			gone = waitpid(x->pid, NULL, WNOHANG);
			if (gone == 0)
				nanosleep(&step, NULL);
		}
		if (gone == 0) {
			kill(x->pid, SIGKILL);
			waitpid(x->pid, NULL, 0);
		}
		remove_remains(x);
	}
	if (x->cookie >= 0)
		close(x->cookie);
	*x = (struct xvfb){.cookie = -1};
}
