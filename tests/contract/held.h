/* A thread that is held where a fork would rather not find it. */
#ifndef TESTS_CONTRACT_HELD_H
#define TESTS_CONTRACT_HELD_H

#include "forked.h"

#include "core/fault.h"
#include "core/loop.h" /* it has an h of its own: before ours */

#include <stdatomic.h>

struct held {
	struct env *env;
	rouse_waker *waker;
	rouse_remote *remote;
	rouse_task task;
	enum rouse__point at;
	pthread_t main;
	atomic_int reached, go;
	int result, runs, cancelled;
};
extern struct held h;

/* A waker and a remote of the test's loop, which producers take for asleep. */
void begin(struct env *env, enum rouse__point at);
void finish(void);

/* Start a thread, which is at its point when this returns, and stays there until it is let go. */
pthread_t start_and_hold(void *(*fn)(void *));
void let_go(pthread_t thread);

/* Counts what is cancelled. */
void cancel_held(void *data);

#endif
