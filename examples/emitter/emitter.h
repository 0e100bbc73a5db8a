/*
 * A daemon that answers keys with keys, in three threads:
 *
 *   main     in the loop of its display, and nothing else: signals, and where the keys are
 *   tap      in a loop of its own: records what is pressed and released (RECORD)
 *   worker   no loop: owns the state, and emits keys (XTEST)
 *
 * Slow work has detached threads, which end.  News travels one way, into the worker's queue.  No
 * Display is used by two threads.
 *
 * Who drains what is autoreleased: a loop, each turn; a thread that ends, as it ends; and nobody on
 * the worker, which does neither: there the function that emits has a pool of its own.
 */
#ifndef EMITTER_H
#define EMITTER_H

#include <rouse/rouse.h>

#include <X11/Xlib.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- object.c: objects that are counted ------------------------------------------ */

void *object_create(size_t size);
void object_release(void *object);
long objects_live(void);

/* ---- emit.c: emits keys, on whichever thread owns it -------------------------------- */

struct emitter {
	Display *display;
	XID own; /* the resource base of that connection, by which RECORD names its client */
	bool without_pool;
	unsigned long emitted;
};

struct event;

struct event *event_create(KeyCode key, bool down);
/* Says what is missing. */
bool emitter_open(struct emitter *emitter);
void emitter_close(struct emitter *emitter);
/* False: no memory, and nothing was emitted.  Exported, so that a warning can name it. */
__attribute__((visibility("default"))) bool emit_key(struct emitter *emitter, KeyCode key,
                                                     bool down);

/* ---- queue.c: what the worker is told, in order -------------------------------------- */

struct message {
	enum { MESSAGE_KEY, MESSAGE_RULE } kind;
	KeyCode key; /* it went down or up; or a rule's keys are at these places now (0: nowhere) */
	KeyCode to;
	bool down;
	unsigned rule;
	struct message *next; /* the queue's */
};

/* It grows, and putting never waits: a tap that does not read makes the server lose keys (tap.c).
 */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct message *first, **last;
	bool closed;
};

void queue_init(struct queue *queue);
void queue_finish(struct queue *queue);
/* Where there is no memory, says so. */
void queue_put(struct queue *queue, struct message message);
/* Waits for a message; false: closed and empty. */
bool queue_take(struct queue *queue, struct message *message);
void queue_close(struct queue *queue);

/* ---- worker.c ------------------------------------------------------------------------ */

enum { MAX_RULES = 16 };

/* When `from` goes down or up, so does `to`.  0: slow work instead, when it goes down. */
struct rule {
	KeyCode from, to;
	KeyCode held; /* what is down because of this rule */
};

struct worker {
	struct queue queue;
	struct emitter *emitter;
	pthread_t thread;
	/* The thread's own, until it has ended. */
	struct rule rules[MAX_RULES];
	long live; /* objects, when there was nothing left to do */
};

bool worker_start(struct worker *worker, struct emitter *emitter);
/* Returns when everything that was queued is done and no key is held down any more. */
void worker_stop(struct worker *worker);

/* ---- tap.c --------------------------------------------------------------------------- */

struct tap {
	struct queue *queue;
	XID own;
	pthread_t thread;
	sem_t started;
	rouse_remote *remote; /* NULL: it did not start, and has said why */
	/* The thread's own, until it has ended. */
	Display *control, *data;
	unsigned long context;
	struct {
		int type; /* 0: the last request was not the emitter's, or has had its event */
		KeyCode key;
	} asked;
	bool held[256]; /* by the emitter */
	unsigned long others, ignored;
};

/* Returns when it records. */
bool tap_start(struct tap *tap, struct queue *queue, XID own);
/* Returns when everything that was recorded is queued. */
void tap_stop(struct tap *tap);

/* ---- slow.c -------------------------------------------------------------------------- */

/* Looks at the whole screen and says how bright it is. */
void slow_look(void);
/* Returns when all slow work has ended, and its threads have drained. */
void slow_wait(void);

/* ---- measure.c ----------------------------------------------------------------------- */

/* What stays alive of 2,000 posts. */
bool measure(struct emitter *emitter, KeyCode key);

/* ---- main.c -------------------------------------------------------------------------- */

/* The connection to the X server has ended, and with it the program. */
int server_gone(Display *display) __attribute__((noreturn));

#endif
