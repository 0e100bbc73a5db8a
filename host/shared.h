/* What the adapters share: each library compiles it in. */
#ifndef ROUSE_HOST_SHARED_H
#define ROUSE_HOST_SHARED_H

#include <rouse/rouse.h>

/* A loop that is attached by this library, in the list of its thread: nobody else's to see. */
struct rouse__attached {
	struct rouse__attached *next;
	rouse_loop *loop;
	rouse_source hook; /* of nothing but a release, which costs the loop nothing */
};

/* `to` becomes what the caller's options say, which may be none, and zero beyond.  `size` is that
 * of our struct, `least` that of the first version's.  ROUSE_EINVAL, ROUSE_EABI, or 0. */
int rouse__host_options(void *to, size_t size, size_t least, const void *options);

/* 0, or why the loop cannot be attached: not this thread's, or attached already. */
int rouse__host_may_attach(const rouse_loop *loop);

/* Makes the loop a guest; the descriptor is what to watch.  `release` gets `data` when this fails,
 * when rouse__host_detach() is called, or when the loop is destroyed, whichever comes first. */
int rouse__host_attach(struct rouse__attached *attached, rouse_loop *loop,
                       void (*release)(rouse_loop *loop, void *data), void *data, rouse_fd *ret_fd);
int rouse__host_detach(const struct rouse__attached *attached);

/* To be called by `release`: the thread forgets it. */
void rouse__host_released(struct rouse__attached *attached);

#endif
