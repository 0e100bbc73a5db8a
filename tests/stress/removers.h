/*
 * stress_removers: sources of every kind are added, changed and removed by callbacks of every kind,
 * while descriptors are closed, reopened and duplicated under the loop.
 *
 * A thing is a source with what the program knows about it.  It is freed as soon as its source is
 * removed, so a callback too many is a use of freed memory, and what it knows says whether a
 * callback was due.  Now and then the program settles: nothing more is done until everything
 * that was due has been called.
 *
 *   removers.c         the loop, settling, and the helper thread
 *   removers_things.c  things: adding, removing, and their callbacks with the checks
 *   removers_acts.c    what a callback does to other things
 */
#ifndef TESTS_STRESS_REMOVERS_H
#define TESTS_STRESS_REMOVERS_H

#include "stress.h"

enum kind { FD, TIMER, HOOK, WAKER, SIGNAL, KINDS };

enum { THINGS = 40, SIGNALS = 2, STALE = 64, ALIVE = 0x600d, FIRST_HIGH = 256 };

struct thing {
	unsigned magic, slot;
	enum kind kind;
	rouse_source name;
	int running, dead;         /* removed in its own callback */
	uint64_t called, due_mark; /* runs; settling: runs when it began, if one is due */
	int is_due;

	/* FD, and the descriptor of a HOOK */
	rouse_fd fd, peer, duplicate; /* -1: none */
	unsigned events;
	int closed, told; /* by us while watched; and told so */
	uint64_t closed_turn;

	/* TIMER */
	rouse_ns due, period;

	/* HOOK */
	int work, checked;

	/* WAKER, SIGNAL */
	rouse_waker *waker;
	int helped; /* the helper may hold a reference */
	int signo, pending;
};

struct removers {
	struct stress_loop home;
	struct thing *things[THINGS];
	rouse_source stale[STALE];
	unsigned stale_next;
	uint64_t random, turn;
	int depth;    /* turns on the stack */
	int in_hook;  /* in prepare, check or release */
	int settling; /* callbacks empty what they are called for, and do nothing else */
	uint64_t callbacks[KINDS], added[KINDS], removed[KINDS];
	uint64_t acts, closes, reopened, nested, settled, errors_told;
	_Atomic uint64_t posts_sent, posts_run;
	rouse_remote *remote;
};

extern struct removers removers;

/* removers_things.c */
void thing_add(enum kind kind);
void thing_remove(struct thing *thing);
void thing_add_anew(struct thing *thing); /* a descriptor: removed, not closed, added */
struct thing *thing_any(void);            /* NULL: the slot is free */
struct thing *thing_of(enum kind kind);   /* of that kind; NULL: not found at once */
int thing_signal_watched(int signo);
void thing_set_disposition(void);

/* removers_acts.c */
void act(void);

/* removers.c */
void helper_offer(rouse_waker *waker);
void turn_nested(void);
void post_an_act(void);

#endif
