#include "weston.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "tool.h"

#define SOCKET "wayland"
#define CONFIG "weston.ini"

/* False while there is something in it, again. */
static bool remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		unlinkat(dirfd(folder), entry->d_name, 0); /* Not "." and "..": they stay. */
	if (folder)
		closedir(folder);
	return rmdir(path) == 0 || (errno != ENOTEMPTY && errno != EEXIST);
}

/* What the sweeper says of the folder it made. */
struct made {
	int error;
	char folder[sizeof((struct weston *)0)->folder];
};

/*
 * A child that makes the folder and outlives this process by as long as it takes to remove it:
 * the folder never is without somebody who would.  It leaves the standard descriptors, which
 * a reader may wait for, and the terminal's group.
 */
static void sweep(struct made *made, int parent)
{
	const struct timespec step = {0, 20000000};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setpgid(0, 0);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (!mkdtemp(made->folder))
		made->error = errno;
	(void)send(parent, made, sizeof *made, 0);
	if (made->error)
		_exit(0);
	while (recv(parent, &byte, 1, 0) < 0 && errno == EINTR)
		;
	/* The compositor ends at the same time, and may be about to make its files. */
	for (int i = 0; i < 100 && !remove_folder(made->folder); i++)
		nanosleep(&step, NULL);
	_exit(0);
}

static int make_folder(struct weston *w)
{
	const char *parent = getenv("TMPDIR");
	struct made made = {0};
	int length = snprintf(made.folder, sizeof made.folder, "%s/rouse-weston-XXXXXX",
	                      parent && *parent == '/' ? parent : "/tmp");
	int ends[2];
	ssize_t n;

	if (length < 0 || (size_t)length + sizeof "/" SOCKET > sizeof made.folder) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	w->sweeper = fork();
	if (w->sweeper == 0) {
		close(ends[0]);
		sweep(&made, ends[1]);
	}
	close(ends[1]);
	w->alive = ends[0];
	if (w->sweeper < 0) {
		close(w->alive);
		return -1;
	}
	do
		n = recv(w->alive, &made, sizeof made, 0);
	while (n < 0 && errno == EINTR);
	if (n != sizeof made)
		made.error = n < 0 ? errno : ECHILD;
	if (made.error) {
		errno = made.error;
		return -1;
	}
	memcpy(w->folder, made.folder, sizeof made.folder);
	w->address.sun_family = AF_UNIX;
	snprintf(w->address.sun_path, sizeof w->address.sun_path, "%.*s/" SOCKET, length,
	         made.folder);
	return 0;
}

/* Headless, it takes 16 ms from a frame to the end of it, and only then it waits for the next one:
 * until this many of the 16.7 ms are left.  By itself it would come to 40 frames a second. */
static int write_config(const struct weston *w, char *path, size_t size)
{
	static const char config[] = "[core]\nrepaint-window=16\n";
	FILE *file;

	snprintf(path, size, "%s/" CONFIG, w->folder);
	file = fopen(path, "we");
	if (!file)
		return -1;
	fputs(config, file);
	return fclose(file);
}

static int set_environment(void *data)
{
	const struct weston *w = data;

	/* It would show itself in a window of another one. */
	unsetenv("WAYLAND_DISPLAY");
	unsetenv("WAYLAND_SOCKET");
	unsetenv("DISPLAY");
	return setenv("XDG_RUNTIME_DIR", w->folder, 1);
}

/* Nothing tells when it listens. */
static int wait_for_socket(struct weston *w)
{
	const struct timespec step = {0, 5000000};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rc = -1;

	for (int ms = 0; ms < SERVER_START_MS && fd >= 0 && !interrupt_caught(); ms += 5) {
		rc = connect(fd, (struct sockaddr *)&w->address, sizeof w->address);
		if (rc == 0 || server_ended(&w->server))
			break;
		nanosleep(&step, NULL);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

int weston_start(struct weston *w)
{
	char config[sizeof w->folder + sizeof "--config=/" CONFIG] = "--config=";
	char socket[] = "--socket=" SOCKET, backend[] = "--backend=headless-backend.so";
	char bright[] = "--idle-time=0"; /* The screen never goes dark. */
	char *const argv[] = {"weston", config, backend, socket, bright, NULL};
	size_t option = strlen(config);

	*w = (struct weston){0};
	if (make_folder(w) < 0 || write_config(w, config + option, sizeof config - option) < 0)
		tool_complain("no folder for weston: %s", strerror(errno));
	else if (server_start(&w->server, "weston", "weston", argv, set_environment, w) == 0) {
		if (wait_for_socket(w) == 0)
			return 0;
		server_does_not_start(&w->server);
	}
	weston_stop(w);
	return -1;
}

void weston_stop(struct weston *w)
{
	server_stop(&w->server);
	if (w->sweeper > 0) {
		close(w->alive);
		while (waitpid(w->sweeper, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (w->folder[0])
		remove_folder(w->folder);
	*w = (struct weston){0};
}

const char *weston_display(const struct weston *w)
{
	return w->address.sun_path;
}

void weston_version(const struct weston *w, char *text, size_t size)
{
	char said[400];
	const char *line;

	server_said(&w->server, said, sizeof said);
	line = strstr(said, "weston ");
	snprintf(text, size, "%.*s", (int)strcspn(line ? line : "weston", "\n"),
	         line ? line : "weston");
}
