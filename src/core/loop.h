/*
 * The loop's insides: its state, and what its files ask of each other.
 *
 * What a turn has gathered and not yet run lives here and not on the stack, so that a turn
 * nested in a callback can go on with it.
 */
#ifndef ROUSE_CORE_LOOP_H
#define ROUSE_CORE_LOOP_H

#include "base/heap.h"
#include "base/list.h"
#include "base/slots.h"
#include "core/poller.h"
#include "core/remote.h"
#include "core/tasks.h"
#include "os/os.h"
#include "pool/pool.h"

#include <rouse/pool.h>

/* ---- Sources --------------------------------------------------------------- */

struct rouse__source;

/* One kind of source. */
struct rouse__source_ops {
	size_t size;
	/* What the poller reports of it, noted here; NULL where it watches no descriptor.  If it
	 * may watch one, it begins with a struct rouse__fd_source. */
	void (*ready)(rouse_loop *loop, struct rouse__source *source, unsigned events);
	int users_fd; /* rouse_fd_set_events() is for it */
	/* Out of the poller, the heap, and whatever was gathered.  It will not be called. */
	void (*unlink)(rouse_loop *loop, struct rouse__source *source);
	/* Its callback is further out on the stack and a nested turn begins: keep it from being
	 * reported until resume.  Neither fails.  NULL: nothing to do. */
	void (*suspend)(rouse_loop *loop, struct rouse__source *source);
	void (*resume)(rouse_loop *loop, struct rouse__source *source);
};

struct rouse__source {
	const struct rouse__source_ops *ops;
	uint64_t id;
	unsigned running;        /* how many of its callbacks are on the stack */
	unsigned char suspended; /* one is, and a nested turn has begun since */
	unsigned char gone;      /* one is, and it was removed since; freed when that returns */
};

/* A descriptor's source.  A hook begins with one. */
struct rouse__fd_source {
	struct rouse__source source;
	struct rouse__watch watch;
	unsigned events; /* what the user wants; watch.events is what the poller was told */
	uint64_t hung;   /* the turn that was told of a hang-up or an error last */
	rouse_fd_fn fn;
	void *data;
};

/* One of its callbacks has returned. */
void rouse__source_left(rouse_loop *loop, struct rouse__source *source);

/* ---- Callbacks on the stack ------------------------------------------------ */

struct rouse__frame {
	struct rouse__frame *outer;
	struct rouse__source *source; /* NULL: posted work, a waker, a call */
	rouse_pool pool;              /* its own, or none */
};

/* ---- The loop -------------------------------------------------------------- */

struct rouse__reported {
	uint64_t id;
	unsigned events;
};

struct rouse_loop {
	rouse_remote *remote;
	rouse_allocator allocator;
	const struct rouse__poller_ops *ops;
	struct rouse__poller *poller;
	unsigned max_batch;
	unsigned pool_policy;
	unsigned char in_pool; /* a turn's own is open */

	struct rouse__slots sources;
	struct rouse__watch **by_fd; /* who owns a number; NULL: nobody */
	size_t by_fd_count;
#ifdef _WIN32
	size_t owned; /* so many of these are not NULL */
#endif
	struct rouse__heap timers; /* armed ones that are neither due nor running */
	size_t timer_count;        /* all of them: the heap has room for each */
	struct rouse__list hooks;
	struct rouse__list wakers;

	/* Gathered. */
	struct rouse__tasks todo;  /* posted work and wakers, oldest first */
	unsigned todo_budget;      /* how many of them this turn may still run */
	struct rouse__list due;    /* timers, by deadline */
	unsigned char late_timers; /* more were due than the budget let leave the heap */
	struct rouse__reported *batch;
	unsigned batch_next, batch_count;
	struct rouse__list to_ask; /* children that may have ended, where there are no pidfds */
	unsigned ask_budget;
	/* and each hook's `work` */

	struct rouse__tasks later; /* taken off the queue, but of the next turn */

	struct rouse__slab_chain spent_posts;
	struct rouse__frame *frames;   /* the innermost callback */
	struct rouse__list *next_hook; /* of the pass of prepare or check under way */
	unsigned char no_turn; /* in such a pass, or in the loop's end: not to be nested in */
	unsigned char stop;
	unsigned char rung; /* the doorbell ended the last wait */
	unsigned char held; /* hooks may hold something until they check */

	struct rouse__list of_thread; /* in the list of loops that this thread owns */
	rouse_loop *next_abandoned;
	struct rouse__list children; /* those that are not in to_ask */
	rouse_source sigchld;        /* where there are no pidfds */

	/* As a guest; see guest.c. */
	unsigned char hosted;
	unsigned char has_fd; /* the descriptor was asked for, or the host waits for messages */
	unsigned char by_messages; /* the latter */
	unsigned char carries;     /* and carries the deadline */
	unsigned char self_rung;   /* and was rung by the loop itself */
	unsigned char bell_broken; /* that is, it should have been */
};

/* 0; ROUSE_EINVAL for NULL; ROUSE_EFORKED; ROUSE_EWRONGTHREAD. */
static inline int rouse__check_owner(const rouse_loop *loop)
{
	if (!loop)
		return ROUSE_EINVAL;
	if (rouse__remote_forked(loop->remote))
		return ROUSE_EFORKED;
	return loop->remote->owner == *ROUSE__MINE(rouse__this_thread) ? 0 : ROUSE_EWRONGTHREAD;
}

/* A callback may have forked, and this be the child. */
static inline int rouse__ours(const rouse_loop *loop)
{
	return !rouse__remote_forked(loop->remote);
}

static inline uint64_t rouse__callbacks(const rouse_loop *loop)
{
	return rouse__counted(&loop->remote->counters.counted[ROUSE__COUNTER(callbacks)]);
}

/* ---- Around every callback ------------------------------------------------- */

/* A hook's pass may be nested in a callback that lasts long, and its pool with it. */
static inline int rouse__wants_pool(const rouse_loop *loop)
{
	if (loop->pool_policy == ROUSE_POOL_PER_TURN)
		return !loop->in_pool || loop->no_turn;
	return loop->pool_policy == ROUSE_POOL_PER_CALLBACK;
}

static inline void rouse__enter(rouse_loop *loop, struct rouse__frame *frame,
                                struct rouse__source *source)
{
	frame->outer = loop->frames;
	frame->source = source;
	frame->pool.token = 0;
	loop->frames = frame;
	if (source)
		source->running++;
	if (rouse__wants_pool(loop))
		frame->pool = rouse__pool_begin();
}

/* After it the source may have been freed. */
static inline void rouse__leave(rouse_loop *loop, struct rouse__frame *frame)
{
	/* Still inside: what a release function may do is what a callback may. */
	if (frame->pool.token)
		rouse__pool_end(frame->pool);
	loop->frames = frame->outer;
	if (frame->source)
		rouse__source_left(loop, frame->source);
}

/* ---- The files --------------------------------------------------------------- */

/* source.c */
struct rouse__source *rouse__source_find(const rouse_loop *loop, rouse_source name);
/* Fails by ROUSE_ENOMEM, and by ROUSE_ECLOSED while the loop is being destroyed. */
int rouse__source_name(rouse_loop *loop, struct rouse__source *source);
void rouse__source_remove(rouse_loop *loop, struct rouse__source *source);
/* A turn begins: those further out are to be kept quiet. */
void rouse__suspend_running(rouse_loop *loop);

/* owners_array.c, owners_hash.c */
int rouse__own(rouse_loop *loop, struct rouse__watch *watch);
struct rouse__watch *rouse__owner(const rouse_loop *loop, rouse_fd fd);
void rouse__disown(rouse_loop *loop, const struct rouse__watch *watch);

/* fd.c */
int rouse__fd_check(rouse_fd fd, unsigned events);
void rouse__fd_suspend(rouse_loop *loop, struct rouse__source *source);
void rouse__fd_resume(rouse_loop *loop, struct rouse__source *source);
void rouse__fd_disown(rouse_loop *loop, struct rouse__source *source);
int rouse__fd_watch(rouse_loop *loop, struct rouse__fd_source *fd);
void rouse__fd_unwatch(rouse_loop *loop, struct rouse__fd_source *fd);
void rouse__fd_note_ready(rouse_loop *loop, struct rouse__source *source, unsigned events);
void rouse__fd_dispatch(rouse_loop *loop);

/* handle.c; only where the poller has ROUSE_CAP_HANDLE */
int rouse__handle_watch(rouse_loop *loop, struct rouse__fd_source *fd);
/* `add`: the poller's way to watch it; NULL where it has none.  The owner's thread was checked. */
int rouse__handle_add(rouse_loop *loop, void *handle, rouse__add_handle_fn *add, rouse_handle_fn fn,
                      void *data, rouse_source *ret_source);

/* timer.c; to gather there has to be one in the heap */
void rouse__timers_gather(rouse_loop *loop);
void rouse__timers_dispatch(rouse_loop *loop);

/* hook.c; there has to be one to prepare and to check */
rouse_ns rouse__hooks_prepare(rouse_loop *loop, unsigned flags);
void rouse__hooks_check(rouse_loop *loop);
int rouse__hooks_work(const rouse_loop *loop);
void rouse__hooks_dispatch(rouse_loop *loop);

/* post.c: a node off the queue; its callback gets a frame */
void rouse__task_run(rouse_loop *loop, rouse_task *task);
void rouse__task_cancel(rouse_loop *loop, rouse_task *task);
void rouse__stop_run(rouse_loop *loop, rouse_task *task);
void rouse__stop_after_fork(rouse_loop *loop);

/* life.c */
int rouse__thread_has_loops(void);

/* call.c */
void rouse__call_run(rouse_loop *loop, rouse_task *task);
void rouse__calls_abandon(void);

/* waker.c */
void rouse__waker_run(rouse_loop *loop, rouse_task *task);
void rouse__waker_cancel(rouse_task *task);
void rouse__waker_quiet(rouse_waker *waker);
void rouse__wakers_close(rouse_loop *loop);
void rouse__wakers_after_fork(rouse_loop *loop);

/* child.c */
void rouse__children_dispatch(rouse_loop *loop);
void rouse__children_after_fork(rouse_loop *loop);

/* signal.c */
/* `quiet`: no callback of the user's. */
int rouse__signal_add(rouse_loop *loop, int signo, rouse_signal_fn fn, void *data, int quiet,
                      rouse_source *ret_source);
void rouse__signal_again(rouse_loop *loop, rouse_source name);
void rouse__signals_remove(rouse_loop *loop);
void rouse__signals_after_fork(rouse_loop *loop);

/* loop.c: the steps of a turn, for guest.c too */
rouse_ns rouse__look_ahead(rouse_loop *loop, unsigned flags);
int rouse__look(rouse_loop *loop, rouse_ns deadline);
void rouse__gather(rouse_loop *loop);
/* Is something to be run? */
static inline int rouse__gathered(const rouse_loop *loop)
{
	return (loop->todo.first && loop->todo_budget) || !rouse__list_empty(&loop->due) ||
	       loop->batch_next < loop->batch_count ||
	       (!rouse__list_empty(&loop->to_ask) && loop->ask_budget) ||
	       (!rouse__list_empty(&loop->hooks) && rouse__hooks_work(loop));
}
/* There is, or hooks hold something. */
void rouse__run_gathered(rouse_loop *loop);

/* guest.c */
void rouse__guest_before_callbacks(rouse_loop *loop);
int rouse__guest_settle(rouse_loop *loop);
void rouse__guest_rearm(rouse_loop *loop);
void rouse__guest_hook_added(rouse_loop *loop);
void rouse__guest_after_fork(rouse_loop *loop);
#ifdef _WIN32
/* Of a host that waits for messages (host.h), once the poller was armed; of none, but a guest
 * still. */
void rouse__guest_of_messages(rouse_loop *loop);
void rouse__guest_of_nobody(rouse_loop *loop);
/* Something was changed that a turn has to look at. */
void rouse__guest_changed(rouse_loop *loop);
#else
static inline void rouse__guest_changed(rouse_loop *loop)
{
	(void)loop;
}
#endif

#endif
