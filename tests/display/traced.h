/* System calls of a program's threads, counted from outside: it runs itself under strace.  Marks in
 * the trace are calls of getpgid() for processes that are not there. */
#ifndef ROUSE_TESTS_TRACED_H
#define ROUSE_TESTS_TRACED_H

#include <rouse/rouse.h>

#include <stdbool.h>

enum { TRACED_THREADS = 2, TRACED_WAKES = 200, TRACED_IDLE_SECONDS = 10 };

struct counts {
	unsigned waits, writes, reads, others; /* reads: of a connection, by recvmsg() */
	char example[128];                     /* one of the others */
	struct {
		long pid;
		bool inside;
	} threads[TRACED_THREADS];
};

/* In the traced program: what this thread calls from here on counts, and no longer. */
void traced_begin(void);
void traced_end(void);

/* The loop runs, counted, and nothing happens. */
void traced_idle(rouse_loop *loop);
/* Another thread wakes it TRACED_WAKES times, each time that it sleeps; both are counted.  `draw`,
 * or NULL, is called in each wake. */
void traced_wakes(rouse_loop *loop, void (*draw)(void *data), void *data);

/* Run this program with the argument `what`, and count. */
struct counts traced_run(const char *what);
/* Exits with 77 where nothing can be traced. */
void traced_or_skip(void);

#endif
