/*
 * A Wayland display in a loop.
 *
 * Where an event can be, and how each place is seen before the loop sleeps:
 *   in the socket           whoever holds an intent to read is waiting for it: the loop, in its
 *                           poller, or the reader, a thread of ours, in a poll()
 *   in an attached queue    somebody read it: another thread, or a round trip in a callback.  An
 *                           intent is not given for a queue that is not empty
 *   in libwayland's own     errors and deleted ids.  No intent is refused for them, so each read of
 *                           ours is followed by a dispatch, whatever it brought
 * While an intent is held nobody reads without us, and so nothing gets into a queue: an intent that
 * was given while all attached queues were empty, and that is held until after the wait, leaves no
 * place in which an event could hide.
 *
 * One intent for all.  libwayland counts intents, and who reads waits until all the others have
 * read or cancelled.  Two held by one thread, one for each of two queues, would wait for each other
 * for ever.  So the attached queues of one display in one loop share one hook and one intent: it is
 * taken for the first queue, and then handed on, taken for the next one before it is given back for
 * the last.
 *
 * Who holds it.
 *   the loop     from prepare to check, if told that nothing but the wait runs in between
 *                (ROUSE_PREPARE_HOLD).  Check reads if the descriptor was ready, and else cancels,
 *                which is no system call.
 *   the reader   if the loop was ever prepared without that promise: anything may run while its
 * host sleeps, and a round trip would wait for an intent of its own thread.  The loop then does not
 * watch the descriptor for reading, holds nothing, and is woken by a waker.  wayland_reader.c.
 *   nobody       with `sole_reader`: there is no other thread that could take the bytes away, so
 *                a readable descriptor is enough to be woken by, and check reads without waiting
 * for anybody.  The same where no thread could be started; and since there somebody else may read,
 * the loop then looks again after a while, and tries again.
 *
 * Dispatching.  libwayland dispatches a queue as a whole.  What bounds a turn is that each reads
 * once (4096 bytes: libwayland's buffer), and that the queues take turns.
 *
 * Writing.  Prepare flushes, which is no system call where there is nothing to send.  Where the
 * compositor does not take it the descriptor is watched for writing, too, and the next prepare
 * after that flushes again.
 *
 * Listeners and callbacks run under dispatch, and any of them may attach and detach: what comes
 * after them looks at `gone` first, and both structs live until the last frame that uses them has
 * left.
 */
#ifndef ROUSE_DISPLAY_WAYLAND_PRIVATE_H
#define ROUSE_DISPLAY_WAYLAND_PRIVATE_H

#include <rouse/wayland.h>

#include <wayland-client-core.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct rouse__wl;

/* One attached queue. */
struct rouse_wayland {
	rouse_wayland *next;     /* of the display in this loop; changed under the reader's lock */
	rouse_wayland *next_any; /* of the process, under its mutex */
	struct rouse__wl *wl;
	rouse_wayland_options options;
	uint64_t round;    /* of dispatching: the last one that it had its turn in */
	bool told_blocked; /* what `pressure` said last */
	bool told_lost;
	bool gone; /* detached; freed when no frame is left.  As `next` */
};

/* A thread that reads a display, while it runs; and what it shares with the loop's. */
struct rouse__wl_reader {
	bool running;
	pthread_t thread;
	pthread_mutex_t lock; /* around the list of queues, and `stop` */
	bool stop;
	atomic_bool paused;           /* waits for the loop to dispatch, and holds no intent */
	int control;                  /* an eventfd: look at the above */
	struct wl_event_queue *queue; /* of no object, so that it is always empty */
};

/* A display in a loop. */
struct rouse__wl {
	rouse_loop *loop;
	struct wl_display *display;
	rouse_allocator allocator;
	rouse_source hook;
	rouse_waker *waker; /* for another look, which the hook's check and prepare take */
	pid_t process;      /* that of the loop, and not of a forked child */
	rouse_wayland *queues;
	struct rouse__wl_reader reader;
	unsigned watched; /* what the descriptor is watched for */
	unsigned depth;   /* frames of ours that user code may be under */
	uint64_t round;   /* of dispatching */
	bool holding;     /* an intent */
	bool work;        /* found by prepare, for check to tell */
	bool blocked;     /* the compositor does not take what is sent */
	bool ended;       /* out of the loop; freed when no frame is left */
};

/* wayland.c */
void rouse__wl_enter(struct rouse__wl *wl);
void rouse__wl_leave(struct rouse__wl *wl);
/* The hook's release: everything of a display in a loop ends here. */
void rouse__wl_release(rouse_loop *loop, void *data);

/* wayland_hook.c */
int rouse__wl_hook_add(struct rouse__wl *wl);
/* Give back the intent, if one is held. */
void rouse__wl_let_go(struct rouse__wl *wl);
/* Flush.  `blocked` says how that went; an error is libwayland's to keep. */
void rouse__wl_write_out(struct rouse__wl *wl);
/* An intent for all the queues, which were empty; or none, and false. */
bool rouse__wl_claim(struct rouse__wl *wl);

/* wayland_reader.c */
/* False: there is no memory for it, or no thread, or no descriptor.  True if it runs already. */
bool rouse__wl_reader_start(struct rouse__wl *wl);
/* All queues were seen empty: go on, if you do not. */
void rouse__wl_reader_resume(struct rouse__wl *wl);
/* Returns when it is gone. */
void rouse__wl_reader_stop(struct rouse__wl *wl);
/* In a forked child, where there is no such thread. */
void rouse__wl_reader_forget(struct rouse__wl *wl);

#endif
