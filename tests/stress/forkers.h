/* Between the parent (forkers.c) and its children (forkers_child.c), which are copies of it. */
#ifndef TESTS_STRESS_FORKERS_H
#define TESTS_STRESS_FORKERS_H

#include "stress.h"

enum { PRODUCERS = 3, LETTERS = 256, WAKERS = 3, CHILDREN = 4 };

struct letter {
	rouse_task task;
	struct producer *from;
	atomic_int queued;
};

/* begun >= accepted >= what has come to its end, once all is quiet. */
struct producer {
	pthread_t thread;
	struct letter posts[LETTERS], tasks[LETTERS];
	_Atomic uint64_t begun, accepted, ran, cancelled, calls;
	_Atomic uint64_t waking[WAKERS], woke[WAKERS]; /* before a wake, after it */
	_Atomic uint64_t writing, wrote;               /* bytes into the pipe */
};

struct bell {
	rouse_waker *waker;
	uint64_t seen[PRODUCERS];
};

struct forkers {
	struct stress_loop home;
	rouse_remote *remote;
	struct producer producers[PRODUCERS];
	struct bell bells[WAKERS];
	int data_pipe[2];
	rouse_source pipe_source, ticker;
	uint64_t signals; /* runs of its source */
	uint64_t random;
	int in_child; /* and the loop is this process's own */
};

extern struct forkers forkers;

/* forkers.c */
int forkers_all_seen(void);
int forkers_letters_under_way(void);
void forkers_count_up(rouse_loop *loop, void *data);
void forkers_ticked(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data);
void forkers_signalled(rouse_loop *loop, rouse_source self, int signo, void *data);
void forkers_woken(rouse_loop *loop, void *bell);
void forkers_run_task(rouse_loop *loop, rouse_task *task);

/* forkers_child.c */
void child_be_refused(void);
void child_take_over(void);

#endif
