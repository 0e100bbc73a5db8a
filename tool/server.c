#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "tool.h"

enum { STOP_MS = 3000 };

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

bool server_installed(const char *program)
{
	char path[PATH_MAX];

	return find_program(program, path, sizeof path);
}

static void become(const char *path, char *const *argv, pid_t parent, int errors,
                   int (*prepare)(void *data), void *data)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	/* A group of its own: Ctrl-C is for us, and we end the server afterwards. */
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
		_exit(127);
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(errors, 2) >= 0 &&
	    prepare(data) == 0)
		execv(path, argv);
	dprintf(errors, "%s\n", strerror(errno));
	_exit(127);
}

int server_start(struct server *s, const char *program, const char *package, char *const *argv,
                 int (*prepare)(void *data), void *data)
{
	char path[PATH_MAX];
	pid_t parent = getpid();

	*s = (struct server){.program = program, .errors = -1};
	if (!find_program(program, path, sizeof path)) {
		tool_complain("%s is not installed (apt install %s)", program, package);
		return -1;
	}
	s->errors = memfd_create("errors", MFD_CLOEXEC);
	s->pid = s->errors < 0 ? -1 : fork();
	if (s->pid == 0)
		become(path, argv, parent, s->errors, prepare, data);
	if (s->pid > 0)
		return 0;
	tool_complain("cannot start %s: %s", program, strerror(errno));
	s->pid = 0;
	server_stop(s);
	return -1;
}

bool server_ended(const struct server *s)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)s->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       info.si_pid != 0;
}

void server_said(const struct server *s, char *text, size_t size)
{
	ssize_t n = pread(s->errors, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
}

static void last_words(int errors, char *text, size_t size)
{
	struct stat stat;
	off_t end = fstat(errors, &stat) < 0 ? 0 : stat.st_size;
	ssize_t n = pread(errors, text, size - 1, end < (off_t)size ? 0 : end - (off_t)size + 1);
	char *line;

	text[n > 0 ? n : 0] = '\0';
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' '))
		text[--n] = '\0';
	line = strrchr(text, '\n');
	if (line)
		memmove(text, line + 1, strlen(line));
}

void server_does_not_start(const struct server *s)
{
	char words[200];

	last_words(s->errors, words, sizeof words);
	if (!interrupt_caught())
		tool_complain("%s does not start: %s", s->program, words[0] ? words : "no answer");
}

void server_stop(struct server *s)
{
	const struct timespec step = {0, 5000000};

	if (s->pid > 0) {
		kill(s->pid, SIGTERM);
		kill(s->pid, SIGCONT);
		for (int ms = 0; ms < STOP_MS && !server_ended(s); ms += 5)
			nanosleep(&step, NULL);
		/* While it was not waited for, nobody else can have its number. */
		kill(-s->pid, SIGKILL);
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	if (s->program && s->errors >= 0)
		close(s->errors);
	*s = (struct server){0};
}
