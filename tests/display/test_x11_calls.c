/* System calls of a loop with a display, counted from outside: this program runs itself under
 * strace.  Marks in the trace are calls of getpgid() for processes that are not there. */
#include "fixture.h"
#include "xvfb.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BEGIN = 7000001, END = 7000002, WAKES = 200, IDLE_SECONDS = 10 };

static struct xvfb server;

static void mark(int number)
{
	syscall(SYS_getpgid, number);
}

/* ---- What is traced ------------------------------------------------------------ */

struct traced {
	struct fixture *f;
	bool draws;
	rouse_remote *remote;
	rouse_waker *waker;
	atomic_uint served;
	unsigned wakes;
};

static void serve(rouse_loop *loop, void *data)
{
	struct traced *t = data;

	(void)loop;
	if (t->draws)
		XClearWindow(t->f->display, t->f->window);
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

	sleep(IDLE_SECONDS);
	rouse_remote_stop(t->remote);
	return NULL;
}

static void *wake_much(void *data)
{
	struct traced *t = data;

	/* The loop has gone to sleep. */
	spin(100 * MS);
	mark(BEGIN);
	for (unsigned i = 1; i <= t->wakes; i++) {
		rouse_wake(t->waker);
		while (atomic_load(&t->served) < i)
			;
		spin(MS);
	}
	mark(END);
	rouse_remote_stop(t->remote);
	return NULL;
}

static int traced(const char *what)
{
	struct fixture f;
	struct traced t = {.f = &f, .wakes = WAKES, .draws = !strcmp(what, "draw")};
	pthread_t thread;

	fixture_open(&f, NULL);
	t.remote = rouse_loop_remote(f.loop);
	if (rouse_waker_create(f.loop, serve, &t, &t.waker))
		return 1;
	/* Everything has been done once. */
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	fixture_settle(f.loop);
	pthread_create(&thread, NULL, strcmp(what, "idle") ? wake_much : stop_later, &t);
	mark(BEGIN);
	rouse_loop_run(f.loop);
	mark(END);
	pthread_join(thread, NULL);
	rouse_waker_unref(t.waker);
	rouse_remote_unref(t.remote);
	fixture_close(&f);
	return 0;
}

/* ---- The trace ------------------------------------------------------------------- */

enum { TRACED_THREADS = 2 };

struct counts {
	unsigned waits, writes, others;
	char example[128];
	struct {
		long pid;
		bool inside;
	} threads[TRACED_THREADS];
};

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
		counts->threads[i].pid = -1;
	} else if (!strncmp(call, "epoll_", 6)) {
		counts->waits++;
	} else if (!strncmp(call, "write(", 6)) {
		counts->writes++;
	} else {
		counts->others++;
		snprintf(counts->example, sizeof(counts->example), "%.100s", call);
	}
}

static struct counts trace(const char *what)
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
	printf("%s: %u waits, %u writes, %u others %s\n", what, counts.waits, counts.writes,
	       counts.others, counts.example);
	return counts;
}

static void w20_idle_loop_with_display_makes_no_system_call(void **state)
{
	struct counts counts = trace("idle");

	(void)state;
	/* The one in which it sleeps. */
	assert_int_equal(counts.waits, 1);
	assert_int_equal(counts.writes, 0);
	assert_int_equal(counts.others, 0);
}

static void w20_wake_beside_a_display_costs_two_system_calls(void **state)
{
	struct counts counts = trace("wake");

	(void)state;
	assert_int_equal(counts.others, 0);
	assert_true(counts.writes <= WAKES);
	assert_true(counts.waits <= WAKES + 2);
	/* A loop that is still awake needs none; that is not what is measured here. */
	assert_true(counts.writes >= WAKES / 2);
}

/* And four for the flush: two of XCB's, two that keep SIGPIPE away.  None reads. */
static void w20_wake_that_draws_costs_six(void **state)
{
	struct counts counts = trace("draw");

	(void)state;
	assert_true(counts.others <= 4 * WAKES);
	assert_true(counts.others >= 2 * WAKES);
	assert_true(counts.writes <= WAKES);
	assert_true(counts.waits <= WAKES + 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w20_idle_loop_with_display_makes_no_system_call),
	        cmocka_unit_test(w20_wake_beside_a_display_costs_two_system_calls),
	        cmocka_unit_test(w20_wake_that_draws_costs_six),
	};

	if (argc > 1)
		return traced(argv[1]);
#ifdef __SANITIZE_THREAD__
	fprintf(stderr, "SKIP: the thread sanitizer makes system calls of its own\n");
	return 77;
#endif
	if (system("strace -qq -e none true >/dev/null 2>&1")) {
		fprintf(stderr, "SKIP: no strace, or it may not trace\n");
		return 77;
	}
	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
