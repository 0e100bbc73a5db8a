/* Ghosts, for tests: descriptors that were closed while watched, and that a duplicate keeps alive.
 */
#ifndef TESTS_CONTRACT_HAUNT_H
#define TESTS_CONTRACT_HAUNT_H

#include "env.h"

#include "core/fault.h"

#include <stdatomic.h>

#define MS ((rouse_ns)1000000)
/* A loop that has not found out after so many turns never will. */
enum { PATIENCE = 1000 };
/* Duplicates have numbers from here on, out of the way of those that are to be used again. */
enum { COPIES = 500 };

struct watched {
	rouse_source self;
	rouse_fd fd;
	int runs, errors, removes_itself;
};

/* Its callback fails where anything is said of it after ROUSE_FDERROR was. */
void watch(struct env *env, struct watched *w, int fd, unsigned events);

/* A pipe with something to read, watched, and its reading end duplicated and closed. */
struct ghost {
	struct watched watched;
	int copy, peer;
};

void make_honest(struct env *env, struct ghost *g);
/* Duplicate it and close it. */
void let_haunt(struct ghost *g);
/* Both. */
void make_ghost(struct env *env, struct ghost *g);
void finish_ghost(struct ghost *g);

rouse_stats stats(struct env *env);
void turn_until_told(struct env *env, const struct watched *w);
/* For what nobody is told of: until a turn has nothing to do. */
void turn_until_quiet(struct env *env);
/* Nothing is left to report, a wait lasts, and another thread ends it. */
void assert_sleeps(struct env *env);

/* How often the loop marked itself asleep, while note_nap() is the pause function. */
extern atomic_int naps;
void note_nap(enum rouse__point point, void *data);

#endif
