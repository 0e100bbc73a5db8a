/*
 * What `rouse pool` measured, as it is reported and written.
 */
#ifndef ROUSE_TOOL_POOL_RESULT_H
#define ROUSE_TOOL_POOL_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool/figure.h"

enum { POOL_BATCHES = 6, POOL_MOST_BATCH = 4096 };
extern const unsigned pool_batches[POOL_BATCHES]; /* Posts to a pool. */

enum { POOL_CALLED, POOL_INLINED, POOL_FORMS };

/* The moments at which live objects are counted where no pool was open. */
enum pool_moment {
	POOL_RUNNING, /* The main thread, after its autoreleases. */
	POOL_POPPED,  /* It has pushed and popped an empty pool. */
	POOL_DRAINED, /* It has drained by hand. */
	POOL_ENDING,  /* A thread of its own, after its autoreleases. */
	POOL_ENDED,   /* It has ended. */
	POOL_MOMENTS
};

struct pool_live {
	size_t autoreleases; /* Of each thread. */
	size_t live[POOL_MOMENTS];
	uint64_t missing[2]; /* Counted by the library: the main thread, the one that ended. */
};

/* Of the whole, at the worst moment. */
struct pool_held {
	size_t garbage;     /* Bytes of objects that wait for their release. */
	uint64_t own_bytes; /* Of the stack of pools. */
};

/* Nanoseconds.  Figures over the array are of differences within a round. */
struct pool_result {
	struct pool_live live;
	struct pool_held held[POOL_BATCHES];
	size_t left; /* Objects of pools that were popped, and were not released. */
	unsigned rounds;
	bool inlined; /* Or this build cannot. */
	struct figure empty[POOL_FORMS];
	struct figure array[POOL_BATCHES];
	struct figure posts[POOL_FORMS][POOL_BATCHES], over[POOL_FORMS][POOL_BATCHES];
	struct figure flushed, answered; /* Emits; void where there were none: */
	const char *no_emit;             /* Why, or NULL. */
};

/* How many objects should have been live at that moment. */
size_t pool_live_expected(const struct pool_live *live, enum pool_moment moment);
/* Whether something was released too early, or not at all, or not counted. */
bool pool_result_has_lost(const struct pool_result *result);

/* The figures of the published document, each printed beside ours. */
struct pool_theirs {
	const char *title;
	int live[POOL_MOMENTS]; /* Heap nodes; -1: not given. */
	double post_ns[POOL_BATCHES];
	double garbage_kib[POOL_BATCHES];
	double empty_ns;
	unsigned emit_ns[2]; /* From, to. */
};
extern const struct pool_theirs pool_theirs;

#endif
