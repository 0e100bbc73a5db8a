#include "traced.h"

#include "turns.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGIN = 7000001, END = 7000002 };

void traced_begin(void)
{
	syscall(SYS_getpgid, BEGIN);
}

void traced_end(void)
{
	syscall(SYS_getpgid, END);
}

struct traced {
	rouse_remote *remote;
	rouse_waker *waker;
	void (*draw)(void *data);
	void *data;
	atomic_uint served;
};

static void serve(rouse_loop *loop, void *data)
{
	struct traced *t = data;

	(void)loop;
	if (t->draw)
		t->draw(t->data);
	atomic_fetch_add(&t->served, 1);
}

static void spin(rouse_ns ns)
{
	rouse_ns end = rouse_now() + ns;

	while (rouse_now() < end)
		;
}

static void *stop_later(void *data)
{
	struct traced *t = data;

	sleep(TRACED_IDLE_SECONDS);
	rouse_remote_stop(t->remote);
	return NULL;
}

static void *wake_much(void *data)
{
	struct traced *t = data;

	/* The loop has gone to sleep. */
	spin(100 * MS);
	traced_begin();
	for (unsigned i = 1; i <= TRACED_WAKES; i++) {
		rouse_wake(t->waker);
		while (atomic_load(&t->served) < i)
			;
		spin(MS);
	}
	traced_end();
	rouse_remote_stop(t->remote);
	return NULL;
}

static void run(rouse_loop *loop, struct traced *t, void *(*other)(void *data))
{
	pthread_t thread;

	t->remote = rouse_loop_remote(loop);
	assert_int_equal(rouse_waker_create(loop, serve, t, &t->waker), 0);
	assert_int_equal(pthread_create(&thread, NULL, other, t), 0);
	traced_begin();
	assert_int_equal(rouse_loop_run(loop), 0);
	traced_end();
	assert_int_equal(pthread_join(thread, NULL), 0);
	rouse_waker_unref(t->waker);
	rouse_remote_unref(t->remote);
}

void traced_idle(rouse_loop *loop)
{
	struct traced t = {0};

	run(loop, &t, stop_later);
}

void traced_wakes(rouse_loop *loop, void (*draw)(void *data), void *data)
{
	struct traced t = {.draw = draw, .data = data};

	run(loop, &t, wake_much);
}

/* Calls that a marked thread began between its marks. */
static void count_line(struct counts *counts, const char *line)
{
	char *call;
	long pid = strtol(line, &call, 10);
	char begin[32], end[32];
	int i = 0;

	call += strspn(call, " ");
	snprintf(begin, sizeof(begin), "getpgid(%d", BEGIN);
	snprintf(end, sizeof(end), "getpgid(%d", END);
	while (i < TRACED_THREADS && counts->threads[i].pid && counts->threads[i].pid != pid)
		i++;
	if (i == TRACED_THREADS)
		return;
	if (!strncmp(call, begin, strlen(begin))) {
		counts->threads[i].pid = pid;
		counts->threads[i].inside = true;
	} else if (counts->threads[i].pid != pid || !counts->threads[i].inside ||
	           !strncmp(call, "<...", 4)) {
		return;
	} else if (!strncmp(call, end, strlen(end))) {
		counts->threads[i].inside = false;
	} else if (!strncmp(call, "epoll_", 6)) {
		counts->waits++;
	} else if (!strncmp(call, "write(", 6)) {
		counts->writes++;
	} else if (!strncmp(call, "recvmsg(", 8)) {
		counts->reads++;
	} else {
		counts->others++;
		snprintf(counts->example, sizeof(counts->example), "%.100s", call);
	}
}

struct counts traced_run(const char *what)
{
	struct counts counts = {0};
	char line[1024], self[1024];
	int fds[2], status;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(length > 0);
	self[length] = '\0';
	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0) {
		char output[32];

		snprintf(output, sizeof(output), "/dev/fd/%d", fds[1]);
		close(fds[0]);
		setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
		execlp("strace", "strace", "-f", "-qq", "-e", "signal=none", "-o", output, self,
		       what, (char *)NULL);
		_exit(1);
	}
	close(fds[1]);
	FILE *output = fdopen(fds[0], "r");
	while (fgets(line, sizeof(line), output))
		count_line(&counts, line);
	fclose(output);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	printf("%s: %u waits, %u writes, %u reads, %u others %s\n", what, counts.waits,
	       counts.writes, counts.reads, counts.others, counts.example);
	return counts;
}

void traced_or_skip(void)
{
#ifdef __SANITIZE_THREAD__
	fprintf(stderr, "SKIP: the thread sanitizer makes system calls of its own\n");
	exit(77);
#endif
	if (system("strace -qq -e none true >/dev/null 2>&1")) {
		fprintf(stderr, "SKIP: no strace, or it may not trace\n");
		exit(77);
	}
}
