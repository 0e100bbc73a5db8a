#include "forked.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN
#endif
#endif

#ifdef WITH_TSAN
/* The child of a process with threads starts threads of its own. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "die_after_fork=0";
}
#endif

int forked_under_tsan(void)
{
#ifdef WITH_TSAN
	return 1;
#else
	return 0;
#endif
}

int forked_under_asan(void)
{
#ifdef WITH_ASAN
	return 1;
#else
	return 0;
#endif
}

enum { LIMIT = 250 /* seconds; nothing takes as long */ };

pid_t forked(void)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		setenv("CMOCKA_TEST_ABORT", "1", 1);
		alarm(LIMIT);
	}
	return child;
}

void forked_passed(void)
{
	_exit(0);
}

void forked_wait(pid_t child)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(child, &status, 0);
	while (pid < 0 && errno == EINTR);
	assert_int_equal(pid, child);
	if (WIFSIGNALED(status))
		fail_msg("the child ended by signal %d", WTERMSIG(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

void in_child(void (*fn)(void *data), void *data)
{
	pid_t child = forked();

	if (child == 0) {
		fn(data);
		forked_passed();
	}
	forked_wait(child);
}

void forked_rehost(struct env *env)
{
	struct epoll_event event = {.events = EPOLLIN};
	rouse_fd fd;

	if (env->outer < 0)
		return;
	close(env->outer);
	env->outer = epoll_create1(EPOLL_CLOEXEC);
	assert_true(env->outer >= 0);
	assert_int_equal(rouse_loop_fd(env->loop, &fd), 0);
	assert_int_equal(epoll_ctl(env->outer, EPOLL_CTL_ADD, fd, &event), 0);
}

void forked_repair(struct env *env)
{
	assert_int_equal(rouse_loop_after_fork(env->loop), 0);
	forked_rehost(env);
}

static size_t describe(const char *name, char *to, size_t room)
{
	char path[300], line[512], link[256] = "";
	size_t length = 0;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/fd/%s", name);
	if (readlink(path, link, sizeof link - 1) < 0)
		return 0;
	/* The remaining time of a timer passes by itself, and files may be others' to write. */
	if (link[0] == '/' || strstr(link, "timerfd"))
		return 0;
	snprintf(path, sizeof path, "/proc/self/fdinfo/%s", name);
	file = fopen(path, "r");
	if (!file)
		return 0;
	length += (size_t)snprintf(to, room, "%s %s\n", name, link);
	while (fgets(line, sizeof line, file) && length + sizeof line < room)
		length += (size_t)snprintf(to + length, room - length, "%s", line);
	fclose(file);
	return length;
}

const char *forked_descriptors(void)
{
	static char buffers[2][65536];
	static int turn;
	char *buffer = buffers[turn = !turn];
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t length = 0;
	char own[16];

	assert_non_null(dir);
	snprintf(own, sizeof own, "%d", dirfd(dir));
	buffer[0] = 0;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, own) != 0)
			length += describe(entry->d_name, buffer + length,
			                   sizeof buffers[0] - length);
	closedir(dir);
	return buffer;
}

unsigned forked_count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}
