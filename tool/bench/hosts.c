#include "bench/hosts.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/loops.h"

extern char **environ;

/* From this program's folder: installed, and built. */
static const char *const places[] = {ROUSE_TOOL_HOSTS, "rouse-hosts"};

static const char *broken;

const char *hosts_broken(void)
{
	return broken;
}

static bool find(char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length <= 0)
		return false;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		int n = snprintf(path, size, "%s/%s", self, places[i]);

		if (n > 0 && (size_t)n < size && access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* A program whose libraries are not there does not come as far as its main(). */
static bool starts(char *path)
{
	char version[] = "--version";
	char *argv[] = {path, version, NULL};
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return false;
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, path, &actions, NULL, argv, environ) == 0)
		waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&actions);
	return status == 0;
}

/* Some of these loops are of other libraries, and this program has none of those. */
static bool wants_another(const struct options *o)
{
	bool wanted = false;

	for (size_t i = LOOP_GLIB; i < LOOP_COUNT; i++) {
		if (!loops_missing(&loop_kinds[i]))
			return false;
		wanted = wanted || o->loops & 1u << i;
	}
	return wanted || o->list;
}

void hosts_hand_over(const struct options *o, int argc, char **argv)
{
	char path[PATH_MAX];
	char command[] = "rouse";
	char **args;

	if (!wants_another(o) || !find(path, sizeof path))
		return;
	args = calloc((size_t)argc + 2, sizeof *args);
	if (args && starts(path)) {
		args[0] = command;
		memcpy(args + 1, argv, (size_t)argc * sizeof *args);
		execv(path, args);
	}
	free(args);
	broken = "rouse-hosts does not start; are the libraries of all its loops installed?";
}
