/*
 * What an input is played on: the library, or the model of it.
 *
 * Both have one loop at a time.  Things are numbered, in the order of their making, so that
 * both call them the same: sources from 1 (0: a name that never was one), wakers, tasks and
 * the data of posts from 0.  Without a loop its calls answer as they do for NULL.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "trace.h"

enum { SOURCES = 64, WAKERS = 16, TASKS = 4, TAGS = 8, LOOPS = 4, COUNTERS = 16 };

/* Some sources nobody has a name of. */
#define ANONYMOUS(source) ((source) % 8 == 7)

enum { PREPARES = 1, CHECKS = 2, DISPATCHES = 4, RELEASES = 8 }; /* what a hook has */

struct world {
	void (*begin)(void);
	void (*end)(void);

	int (*loop_create)(unsigned max_batch);
	int (*loop_destroy)(void);
	int (*loop_run)(void);
	int (*loop_turn)(rouse_ns deadline);
	int (*loop_stop)(void);
	int (*loop_fd)(void);
	int (*loop_prepare)(unsigned flags, rouse_ns *ret_deadline);
	int (*loop_check)(int fd_readable);
	int (*loop_dispatch)(void);
	int (*loop_take_stop)(void);
	int (*loop_stats)(uint64_t counters[COUNTERS]);
	int (*remote_stats)(uint64_t counters[COUNTERS]);
	rouse_ns (*loop_now)(void);

	int (*waker_create)(int waker, int has_fn);
	int (*wake)(int waker);
	void (*waker_ref)(int waker);
	void (*waker_unref)(int waker);
	int (*waker_close)(int waker);

	int (*post)(int tag, int fn, int has_cancel); /* two to tell apart by */
	int (*post_task)(int task);
	int (*call)(int tag);
	int (*cancel_posts)(int tag);
	int (*remote_stop)(void);

	int (*timer_add)(int source, rouse_ns deadline, rouse_ns period, rouse_ns slack);
	int (*timer_set)(int source, rouse_ns deadline, rouse_ns period, rouse_ns slack);
	int (*fd_add)(int source, rouse_fd fd, unsigned events);
	int (*fd_set_events)(int source, unsigned events);
	int (*hook_add)(int source, rouse_fd fd, unsigned events, unsigned functions);
	int (*signal_add)(int source, int signo);
	void (*raise)(int signo);
	int (*remove)(int source);

	int (*null_script)(rouse_ns at, rouse_fd fd, unsigned events);
	int (*null_advance)(rouse_ns by);
};

extern const struct world library, model;

/* The library's memory: refuse the nth allocation from now; was one refused since the last call? */
void library_refuse(unsigned nth);
int library_was_refused(void);

/* ---- What a world tells its player -------------------------------------------- */

void play(const struct world *world, const unsigned char *input, size_t size);

/* A callback of the user's begins; what it is to return. */
uint64_t player_called(enum what callback, uint64_t a, uint64_t b, uint64_t c);
/* One of the AT_...: something may happen on another thread here. */
void player_at(enum what moment);
/* The loop waits for good.  After this its doorbell was rung. */
void player_idle(void);

#endif
