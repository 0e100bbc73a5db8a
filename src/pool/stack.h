/*
 * A thread's stack of pending releases.
 *
 * Entries lie in chunks, oldest chunk first; a chunk is full before the next one is begun.  A pool
 * is a boundary among them, an entry that holds its token and a small number in place of a
 * function, and is open while that stands.  The thread's `top` (pool.h) is what the inlined
 * functions see:
 *
 *   cur    where the next entry goes
 *   end    of its chunk: there the slow path begins.  While an age is watched for, or pools are
 *          bridged, it is `cur`, so that all is slow.
 *   floor  the value of `cur` at which no pool is open; below it lie the releases that were asked
 *          for with no pool open, for the thread's end
 *   newest where the last boundary was put: a hint, since it may be gone, or be a pool further in
 *          or out than the one that is asked for
 *   serial the newest token given; on a thread without a stack, how many pools loops have open
 *
 * The two ends of neighbouring chunks are one place with two addresses.  `floor` goes along with
 * `cur` from the one to the other, so that comparing them is enough.  Before the first entry of
 * each chunk lies one that is no boundary: looking down from there finds nothing.
 *
 * Draining takes `cur` below an entry first and calls its release function then: what that one
 * adds lies above, and is next.  A release function may do all that anyone may: drain the same
 * pool, or an outer one, or move it.  A boundary that a drain on the C stack goes down to is
 * marked DRAINING, which keeps the inlined pop from it; whatever else takes such a boundary away
 * or moves it adds to `moves`, and the drain then looks for its token anew.  Nothing on the C
 * stack is pointed to: a release function that never returns leaves no more than the mark.
 */
#ifndef ROUSE_POOL_STACK_H
#define ROUSE_POOL_STACK_H

#include "pool/pool.h"

#include <stdatomic.h>

typedef struct rouse__pool_entry entry;

enum mark { OPEN = 1, DRAINING = 2, TOLD = 4, WATCHED = 8, BRIDGED = 16, MARKS = 32 };

static inline uintptr_t marks(const entry *e)
{
	return (uintptr_t)e->release;
}

static inline void set_marks(entry *e, uintptr_t marks)
{
	e->release = (rouse_release_fn)marks;
}

/* A boundary; or a release function that is NULL, for which there is nothing to do. */
static inline int is_special(const entry *e)
{
	return marks(e) < MARKS;
}

static inline int is_boundary(const entry *e)
{
	return marks(e) - 1 < MARKS - 1;
}

/* Whether one of the four below may be a boundary: a difference that borrows has its top bit set,
 * and so has one of an address in the upper half. */
static inline int one_of_four(const entry *e)
{
	uintptr_t all = (marks(e - 1) - MARKS) | (marks(e - 2) - MARKS) | (marks(e - 3) - MARKS) |
	                (marks(e - 4) - MARKS);

	return all > UINTPTR_MAX / 2;
}

/* The newest boundary from `low` up to `e`; NULL: none.  All that is pending is looked at. */
static inline entry *rouse__pool_newest(entry *low, entry *e)
{
	for (;;) {
		const entry *until;

		while (e - low >= 4 && !one_of_four(e))
			e -= 4;
		until = e - low >= 4 ? e - 4 : low;
		while (e != until)
			if (is_boundary(--e))
				return e;
		if (e == low)
			return NULL;
	}
}

struct place {
	struct chunk *chunk;
	entry *entry;
};

struct chunk {
	struct chunk *prev, *next;
	size_t index, bytes;
	/* Noted when it was full: */
	size_t live;         /* the releases in it and in those below */
	struct place newest; /* the boundary that was newest, or none */
	size_t since;        /* the releases above that */
	entry *end;
	entry guard;
	entry entries[];
};

enum counter { RELEASED, DRAINS, MISSING, SKIPPED, STALE, WRONG_THREAD, STRANDED, COUNTERS };

/* Of a token's bits, the lower ones count the pools, the others tell the thread by `index`. */
#define COUNT_BITS 46
#define MOST_THREADS ((UINT64_C(1) << (64 - COUNT_BITS)) - 1)

/*
 * One for each thread that uses pools; when that ends, for another one, which goes on counting, so
 * that no token is given twice.  The list of them only grows, so that joining it and walking
 * over it need no lock.
 */
struct rouse__pool_thread {
	struct rouse__pool_thread *next;
	uint64_t index; /* from 1 */
	atomic_uint taken;
	uint64_t serial; /* while nobody has it */
	struct rouse__pool_top *top;
	struct chunk *first, *chunk; /* and the one that `cur` is in */
	size_t chunks, used;         /* how many; the most used since the last trimming */
	size_t unowned;              /* entries below the floor */
	size_t noted;                /* the most releases of a pool that `peak` knows of here */
	unsigned char untidy;        /* rouse__pool_trim_some() has something to do */
	uint64_t moves;
	unsigned char own_drain; /* below the floor, too: nothing is missing a pool */
	unsigned char watching;
	struct stamp *stamps; /* when pools were pushed, as far as that is watched */
	size_t stamp_count, stamp_room;
	void **theirs; /* pools of another runtime's, one for each boundary that is BRIDGED */
	size_t their_count, their_room;
	unsigned end_round; /* in which they were looked after last */
	/* For other threads to read. */
	_Atomic uint64_t counters[COUNTERS], live, peak, bytes;
	_Atomic uint64_t peak_before; /* of the threads that had this before */
	uint64_t before[COUNTERS];
};

static inline uint64_t counted(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Only its own thread writes it. */
static inline void set(_Atomic uint64_t *counter, uint64_t to)
{
	atomic_store_explicit(counter, to, memory_order_relaxed);
}

static inline void count(_Atomic uint64_t *counter, uint64_t n)
{
	set(counter, counted(counter) + n);
}

/* ---- thread.c ------------------------------------------------------------------- */

/* This thread's, begun now if need be, with a chunk.  NULL: no memory, or past its end. */
struct rouse__pool_thread *rouse__pool_thread(void);
struct rouse__pool_thread *rouse__pool_threads(void);
/* 1: this thread has had its last drain. */
int rouse__pool_strand(void);
uint64_t rouse__pool_stranded(void);

/* ---- chunk.c ------------------------------------------------------------------------ */

int rouse__pool_first_chunk(struct rouse__pool_thread *t);
/* The current one is full.  0: no memory. */
int rouse__pool_next_chunk(struct rouse__pool_thread *t);
void rouse__pool_note_full(struct chunk *chunk);
static inline void rouse__pool_note_live(struct rouse__pool_thread *t, uint64_t highest,
                                         uint64_t now)
{
	set(&t->live, now);
	if (highest > counted(&t->peak))
		set(&t->peak, highest);
}
/* Spare ones, until so many are left. */
void rouse__pool_free_chunks(struct rouse__pool_thread *t, size_t keep);
void rouse__pool_free_some(struct rouse__pool_thread *t);
static inline void rouse__pool_trim_some(struct rouse__pool_thread *t)
{
	if (t->chunks > t->used + 1)
		rouse__pool_free_some(t);
	t->used = t->chunk->index + 1;
	t->untidy = t->chunks > t->used + 1;
}
void rouse__pool_finish(struct rouse__pool_thread *t);

/* From the begin of a chunk to the end of the one before. */
static inline void rouse__pool_step_down(struct rouse__pool_thread *t)
{
	struct rouse__pool_top *top = t->top;
	int at_floor = top->floor == top->cur;

	t->chunk = t->chunk->prev;
	t->noted = 0;
	t->untidy = 1;
	top->cur = top->end = t->chunk->end;
	if (at_floor)
		top->floor = top->cur;
}

/* `cur` has moved. */
static inline void rouse__pool_settle(struct rouse__pool_thread *t)
{
	t->top->end = t->watching ? t->top->cur : t->chunk->end;
}

/* ---- stack.c -------------------------------------------------------------------------- */

int rouse__pool_put(struct rouse__pool_thread *t, entry e);
/* The topmost entry off again; there is one above the floor. */
entry rouse__pool_take(struct rouse__pool_thread *t);
/* Where the pool's boundary is, 0: the newest pool's; counts the releases and the boundaries
 * above it.  1; 0: nowhere. */
int rouse__pool_find(const struct rouse__pool_thread *t, uint64_t token, struct place *ret_at,
                     size_t *ret_live, size_t *ret_pools);
int rouse__pool_not_open(struct rouse__pool_thread *t, uint64_t token);

/* ---- drain.c ------------------------------------------------------------------------------ */

/* All there is, of no pool and of each. */
size_t rouse__pool_drain_all(struct rouse__pool_thread *t, size_t most);

/* ---- missing.c, limits.c --------------------------------------------------------------- */

void rouse__pool_missing(void *caller);
void rouse__pool_report(const char *what, void *caller);
/* This pool has so many pending releases: is that allowed? */
void rouse__pool_look(entry *boundary, size_t live);
/* Is there a limit of age now, or a bridge?  Then boundaries are WATCHED, which keeps the inlined
 * pop from them, and `end` follows `cur`. */
void rouse__pool_watch(struct rouse__pool_thread *t);
/* A pool is pushed. */
void rouse__pool_stamp(struct rouse__pool_thread *t, uint64_t token);
/* It is popped, or taken away, with all that are newer. */
void rouse__pool_unstamp(struct rouse__pool_thread *t, uint64_t token);
/* Is the newest one too old?  Or this one. */
void rouse__pool_look_at_age(struct rouse__pool_thread *t, uint64_t token);

/* ---- bridge.c ------------------------------------------------------------------------------- */

/* A pool of theirs, for a boundary that is marked then.  0: no memory. */
int rouse__bridge_push(struct rouse__pool_thread *t);
/* Their newest; no boundary has the mark for it any more. */
void rouse__bridge_pop(struct rouse__pool_thread *t);
/* As a thread ends: those that there were before this round are none of ours any more. */
void rouse__bridge_leave(struct rouse__pool_thread *t);

#endif
