/* What all adapters share: each library compiles it in. */
#ifndef ROUSE_DISPLAY_SHARED_H
#define ROUSE_DISPLAY_SHARED_H

#include <rouse/rouse.h>

/* An error of a loop that is not this thread's, or 0. */
int rouse__display_thread(const rouse_loop *loop);

/* `to` becomes what `from` says, and zero beyond.  `size` is that of our struct, `least` that of
 * the first version's.  ROUSE_EINVAL, ROUSE_EABI, or 0. */
int rouse__display_options(void *to, size_t size, size_t least, const void *from, size_t from_size);

/* The mutex around the process's list of attached connections.  A fork waits for it, so that the
 * child, which must detach, finds it free. */
void rouse__display_lock(void);
void rouse__display_unlock(void);

#endif
