/* A forked child in a test: what it asserts, the parent sees. */
#ifndef TESTS_CONTRACT_FORKED_H
#define TESTS_CONTRACT_FORKED_H

#include "env.h"

#include <sys/types.h>

/* As fork(), with the child's failed assertions ending it, and a time limit of its own. */
pid_t forked(void);
/* In the child. */
_Noreturn void forked_passed(void);
/* In the parent: the child passed. */
void forked_wait(pid_t child);

/* It takes a thread of the child's for one of the parent's that had the same id, and gives up. */
int forked_under_tsan(void);
/* Its allocator stays locked in the child, where another thread was in the middle of it. */
int forked_under_asan(void);

/* Run in a child, and wait until it passed. */
void in_child(void (*fn)(void *data), void *data);

/* In the child, after rouse_loop_after_fork(): a host of its own for the loop. */
void forked_rehost(struct env *env);
/* Both. */
void forked_repair(struct env *env);

/* What the system says of each descriptor of this process but files and timers: where the
 * doorbell's counter stands, what a set watches and for what.  In a buffer of the callee's, two in
 * turn. */
const char *forked_descriptors(void);
unsigned forked_count_descriptors(void);

#endif
