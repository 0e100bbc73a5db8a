/* Real children for tests, which run twice: with pidfds, and as on a system that has none. */
#ifndef TESTS_CONTRACT_KIDS_H
#define TESTS_CONTRACT_KIDS_H

#include "env.h"

#include <sys/types.h>

/* What the system is taken to lack; may be remembered by the library, and so is never had again. */
extern int without_pidfds;
int setup_without_pidfds(void **state);

#define without(fn)                                                                                \
	{                                                                                          \
#fn " without pidfds", fn, setup_without_pidfds, env_teardown, NULL                \
	}

struct kid {
	rouse_source self;
	pid_t pid;
	int gate; /* a byte lets it go */
	int runs;
	rouse_exit how;
	struct kid *removes; /* in its callback: another one, or itself */
};

/* A child that waits to be let go, and then returns `code`, or ends by a signal of `-code`. */
void kid_spawn(struct kid *kid, int code);
void kid_let_go(struct kid *kid);
/* Let it go, wait until it has ended, and leave it for whoever waits for it. */
void kid_end(struct kid *kid);
/* Add it to the loop, with a callback that notes and removes. */
void kid_watch(struct env *env, struct kid *kid);
void kid_note(rouse_loop *loop, rouse_source self, rouse_process process, const rouse_exit *how,
              void *data);

/* It was told once, with this, and is gone from the loop and from the system. */
void kid_told(struct env *env, const struct kid *kid, unsigned code, int signo);
/* It is ours to wait for, and nobody has done so. */
void kid_left_to_us(const struct kid *kid);
void kid_waited_for(const struct kid *kid);
int sigchld_is_default(void);
unsigned kids_descriptors(void);

#endif
