/* What the tests of forks inherit: a loop with one of everything. */
#ifndef TESTS_CONTRACT_INHERITED_H
#define TESTS_CONTRACT_INHERITED_H

#include "forked.h"

struct everything {
	struct env *env;
	rouse_waker *waker;
	rouse_remote *remote;
	rouse_source fd, timer, hook, signal;
	struct channel channel;
	rouse_fd guest; /* of rouse_loop_fd(), before the fork */
	int woken, posted, fired, ready, hooks, signals, cancelled;
};
extern struct everything e;

void build(struct env *env);
/* Each source serves, once, and then there is nothing. */
void assert_everything_works(void);
void finish(void);

/* Each call that can return an error answers this. */
void assert_all_refused(int expected);
/* Whatever a child does in `fn`, the parent sees none of it. */
void assert_untouched(struct env *env, void (*fn)(void *data));

void cancel_post(void *data);
void ignore_signal(rouse_loop *loop, rouse_source self, int signo, void *data);

#endif
