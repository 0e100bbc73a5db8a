/*
 * The model: what the headers promise, as plainly as it can be said.
 *
 * Arrays, searched from one end to the other; no thread, no clock, no kernel.  It shares no code
 * with src/ and includes none of it.
 */
#ifndef FUZZ_MODEL_H
#define FUZZ_MODEL_H

#include "world.h"

#include <stddef.h>

enum { QUEUED = 4096, SCRIPTED = 4096, FDS = 8 };

#define COUNTER(field)                                                                             \
	((offsetof(rouse_stats, field) - offsetof(rouse_stats, turns)) / sizeof(uint64_t))

enum kind { NONE, TIMER, FD, HOOK, SIGNAL };

struct source {
	enum kind kind; /* NONE: not added, or removed */
	int running;    /* callbacks of it on the stack */
	/* A timer. */
	rouse_ns deadline, period, slack;
	uint64_t armed; /* 0: no; else its place among equals */
	uint64_t due;   /* 0: not gathered; else its place */
	/* A descriptor, or a hook's. */
	rouse_fd fd;
	unsigned events;
	uint64_t hung; /* the turn that was told of a hang-up or an error last */
	int parked;    /* a turn is nested in its callback */
	/* A hook. */
	unsigned functions;
	unsigned ready;
	int prepared, work;
	/* A signal. */
	int signo;
};

enum queued { POSTED, TASK, WAKER, STOP };

struct item {
	enum queued kind;
	int number;
	int fn, has_cancel;
};

struct queue {
	struct item items[QUEUED];
	int first, end;
};

struct change {
	rouse_ns at;
	int place;
	unsigned events;
};

struct loop {
	int closed;
	int first_source;
	unsigned max_batch;
	rouse_ns clock;

	struct queue queue; /* what producers queued */
	int seen;           /* so many of it the loop knows of: posts were cancelled there */
	struct queue taken; /* what turns took from there and have not run */
	unsigned budget;    /* how much of that may still run in this turn */
	int asleep;         /* the next producer rings */
	int bell;           /* it was rung */
	int rung;           /* and that ended the last wait */
	int stop_queued, stop;
	int held; /* hooks may hold something until they check */

	uint64_t order, due;
	int late; /* timers were due that the budget did not let gather */

	int watched[SOURCES], watches; /* in the poller's order */
	int report_from;
	struct {
		int source;
		unsigned events;
	} batch[SOURCES];
	int batch_next, batch_end;
	unsigned ready[FDS];
	struct change script[SCRIPTED];
	int changes;

	int frames;  /* callbacks on the stack */
	int no_turn; /* in prepare, check or release */
	int hosted;

	uint64_t counters[COUNTERS];
};

struct waker {
	struct loop *loop;
	int users, has_fn;
	int pending, closed, running;
	int again; /* woken in a turn nested in its callback */
};

struct model {
	struct loop *loop; /* NULL: none */
	struct loop *last; /* whose remote is held */
	struct loop loops[LOOPS];
	int loop_count;
	struct source sources[SOURCES];
	struct waker wakers[WAKERS + SOURCES]; /* the players', and a signal's each */
	int task_queued[TASKS];
};

extern struct model m;

/* model_turn.c: what the world is made of */
int model_turn(rouse_ns deadline);
int model_run(void);
int model_stop(void);
int model_take_stop(void);
int model_fd(void);
int model_prepare(unsigned flags, rouse_ns *ret_deadline);
int model_check(int fd_readable);
int model_dispatch(void);

/* model_queue.c */
int model_push(struct loop *loop, struct item item);
int model_doze(struct loop *loop); /* 1: asleep; 0: there is work */
int model_queued(const struct queue *queue);
void model_take(struct loop *loop);
int model_wake(int waker);
int model_cancel_posts(struct loop *loop, int tag);
void model_run_posted(struct loop *loop);
void model_cancel(struct loop *loop); /* all */

/* model_sources.c */
void model_arm(struct loop *loop, struct source *timer);
void model_gather_timers(struct loop *loop);
rouse_ns model_latest(const struct loop *loop);
int model_any_due(const struct loop *loop);
void model_run_timers(struct loop *loop);
rouse_ns model_prepare_hooks(struct loop *loop, unsigned flags);
void model_check_hooks(struct loop *loop);
int model_hook_with_work(const struct loop *loop); /* 0: none */
void model_run_hooks(struct loop *loop);
void model_run_fds(struct loop *loop);
void model_park(struct loop *loop);
void model_remove(struct loop *loop, int source);

/* model_poller.c */
int model_place(rouse_fd fd);
void model_watch(struct loop *loop, int source);
void model_unwatch(struct loop *loop, int source);
void model_play_script(struct loop *loop);
void model_wait(struct loop *loop, rouse_ns deadline);

#endif
