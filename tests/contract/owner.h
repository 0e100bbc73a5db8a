/* A thread that ends with a loop of its own, for tests of what is left of that. */
#ifndef TESTS_CONTRACT_OWNER_H
#define TESTS_CONTRACT_OWNER_H

#include "env.h"

#include <stdatomic.h>
#include <stddef.h>

/* What an abandoned loop keeps is kept for good: it comes from here, so that a check for leaks sees
 * none.  Never given again, so that a late touch of what was freed is seen as one. */
struct arena {
	_Alignas(max_align_t) unsigned char bytes[32 << 20];
	atomic_size_t used;
	atomic_uint live;
};
extern struct arena arena;

struct owner {
	struct env *like; /* which poller, which kind of host */
	pthread_t thread;
	rouse_loop *loop;
	rouse_waker *waker;
	rouse_remote *remote;
	void (*then)(struct owner *owner); /* the last thing that it does */
	rouse_fd ends[2];
	rouse_source fd, timer;
	char order[16];
	int cancelled, elsewhere, ran, woken, answers[3], destroyed;
	atomic_int flag;
};

void begin(struct owner *o, struct env *like, void (*then)(struct owner *owner));
/* The thread: a loop in batches of two, a waker, a timer and a descriptor, and then `then`. */
void *own_and_leave(void *data);
/* All of it: begin, run the thread, wait for its end. */
void abandon(struct owner *o, struct env *like, void (*then)(struct owner *owner));
/* Let go of what outlives the thread. */
void drop(struct owner *o);

/* Whatever others still ask of it, it is closed, and nothing of it ever ran. */
void assert_closed(struct owner *o);

/* For `then`: what is queued, and never runs. */
void queue_and_leave(struct owner *o);
void run_never(rouse_loop *loop, void *data);
/* They note their letter in the order; b also asks what a closed loop answers. */
void cancel_a(void *data);
void cancel_b(void *data);

#endif
