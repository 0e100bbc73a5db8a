#include "weston.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMPOSITORS = 8, NOBODY = 65534 };
/* What sway calls its socket by itself. */
#define SOCKET "wayland-1"

static struct weston *running[COMPOSITORS];
/* What is asked for of a screen that is looked at; 0: nobody looks. */
static unsigned screen_width, screen_height;
static pid_t owner;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

bool weston_is_weston(void)
{
	const char *other = getenv("ROUSE_TEST_COMPOSITOR");

	return !other || !strcmp(other, "weston");
}

/* ---- The compositor and its guard ------------------------------------------------ */

/* sway refuses to run as root. */
static void be_nobody(void)
{
	if (getuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		_exit(1);
}

static void run_compositor(const char *folder, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);
	char config[96];
	sigset_t none;

	snprintf(config, sizeof config, "%s/config", folder);

	if (!weston_is_weston())
		be_nobody();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	if (weston_is_weston() && screen_width) {
		char width[32], height[32];

		snprintf(width, sizeof width, "--width=%u", screen_width);
		snprintf(height, sizeof height, "--height=%u", screen_height);
		execlp("weston", "weston", "--backend=headless-backend.so", "--socket=" SOCKET,
		       "--idle-time=0", "--no-config", "--use-pixman", "--debug", width, height,
		       (char *)NULL);
	} else if (weston_is_weston()) {
		execlp("weston", "weston", "--backend=headless-backend.so", "--socket=" SOCKET,
		       "--idle-time=0", "--no-config", (char *)NULL);
	} else {
		setenv("WLR_BACKENDS", "headless", 1);
		setenv("WLR_RENDERER", "pixman", 1);
		setenv("WLR_LIBINPUT_NO_DEVICES", "1", 1);
		execlp("sway", "sway", "-c", screen_width ? config : "/dev/null", (char *)NULL);
	}
	_exit(errno == ENOENT ? 77 : 1);
}

static void remove_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(folder);
}

static void child_ended(int signo)
{
	(void)signo;
}

/* Until the compositor has ended (true), or there is something to read, or it takes too long. */
static bool await_end(pid_t pid, int readable, int seconds, int *status)
{
	struct pollfd pollfd = {.fd = readable, .events = POLLIN};
	struct timespec timeout = {.tv_sec = seconds};
	sigset_t none;

	sigemptyset(&none);
	/* SIGCHLD is blocked but for the wait itself. */
	for (;;) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		if (ppoll(&pollfd, 1, seconds ? &timeout : NULL, &none) >= 0)
			return false;
	}
}

/* Says the compositor's id, and ends it when nobody is left to want it. */
static void guard(const char *folder, int alive, int told)
{
	pid_t self = getpid(), pid;
	int status = 0;
	sigset_t all;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGCHLD, child_ended);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	pid = fork();
	if (pid == 0)
		run_compositor(folder, self);
	if (pid < 0 || write(told, &pid, sizeof(pid)) != sizeof(pid)) {
		remove_folder(folder);
		_exit(1);
	}
	if (!await_end(pid, alive, 0, &status)) {
		kill(pid, SIGCONT);
		kill(pid, SIGTERM);
		if (!await_end(pid, -1, 5, &status)) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
		}
	}
	/* What it started in the folder goes with it. */
	remove_folder(folder);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

/* ---- Starting ------------------------------------------------------------------------ */

static bool answers(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, SOCKET);
	bool yes = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return yes;
}

static void stop_all(void)
{
	if (getpid() != owner)
		return;
	for (int i = 0; i < COMPOSITORS; i++)
		if (running[i])
			weston_stop(running[i]);
}

static void make_folder(struct weston *weston)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(weston->folder, sizeof(weston->folder), "%.40s/rouse-XXXXXX",
	         temporary ? temporary : "/tmp");
	/* Of mode 0700. */
	if (!mkdtemp(weston->folder))
		fail("mkdtemp");
	if (!weston_is_weston() && getuid() == 0 && chown(weston->folder, NOBODY, NOBODY))
		fail("chown");
	setenv("XDG_RUNTIME_DIR", weston->folder, 1);
	setenv("WAYLAND_DISPLAY", SOCKET, 1);
	unsetenv("WAYLAND_SOCKET");
	/* weston would else be a client of it. */
	unsetenv("DISPLAY");
}

/* For sway: a window has the whole screen, as one that asks weston for it has it. */
static void write_config(const struct weston *weston)
{
	char path[96];

	snprintf(path, sizeof path, "%s/config", weston->folder);
	FILE *file = fopen(path, "w");
	if (!file)
		fail(path);
	fprintf(file, "output * resolution %ux%u\ndefault_border none\n", screen_width,
	        screen_height);
	fclose(file);
}

/* Until it listens; false when it ended instead. */
static bool await(const struct weston *weston)
{
	for (int i = 0; i < 6000; i++) {
		if (kill(weston->pid, 0) < 0)
			return false;
		if (answers(weston->folder))
			return true;
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
	return false;
}

void weston_start(struct weston *weston)
{
	int alive[2], told[2], i = 0;

	/* A test that failed has left it running. */
	for (int j = 0; j < COMPOSITORS; j++)
		if (running[j] == weston)
			weston_stop(weston);
	memset(weston, 0, sizeof(*weston));
	make_folder(weston);
	if (screen_width)
		write_config(weston);
	if (pipe2(alive, O_CLOEXEC) || pipe2(told, O_CLOEXEC))
		fail("pipe");
	if (!owner) {
		owner = getpid();
		atexit(stop_all);
	}
	while (running[i])
		i++;
	running[i] = weston;
	weston->alive = alive[1];
	weston->guard = fork();
	if (weston->guard < 0)
		fail("fork");
	if (weston->guard == 0) {
		close(alive[1]);
		close(told[0]);
		guard(weston->folder, alive[0], told[1]);
	}
	close(alive[0]);
	close(told[1]);
	bool started = read(told[0], &weston->pid, sizeof(weston->pid)) == sizeof(weston->pid) &&
	               await(weston);
	close(told[0]);
	if (started)
		return;
	int status = 0;
	close(weston->alive);
	waitpid(weston->guard, &status, 0);
	running[i] = NULL;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		fprintf(stderr, "SKIP: no compositor\n");
		exit(77);
	}
	fprintf(stderr, "the compositor does not start\n");
	exit(1);
}

void weston_start_screen(struct weston *weston, unsigned width, unsigned height)
{
	screen_width = width;
	screen_height = height;
	weston_start(weston);
	screen_width = 0;
}

/* ---- Ends -------------------------------------------------------------------------------- */

void weston_stop(struct weston *weston)
{
	for (int i = 0; i < COMPOSITORS; i++)
		if (running[i] == weston) {
			running[i] = NULL;
			close(weston->alive);
			while (waitpid(weston->guard, NULL, 0) < 0 && errno == EINTR)
				;
		}
	weston->pid = 0;
}

void weston_kill(struct weston *weston)
{
	kill(weston->pid, SIGKILL);
	/* The guard waits for it, and ends after it. */
	weston_stop(weston);
}

void weston_freeze(const struct weston *weston)
{
	kill(weston->pid, SIGSTOP);
}

void weston_thaw(const struct weston *weston)
{
	kill(weston->pid, SIGCONT);
}
