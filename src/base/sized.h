/* Structs that callers fill carry their size, so that either side may be the newer one. */
#ifndef ROUSE_BASE_SIZED_H
#define ROUSE_BASE_SIZED_H

#include <stddef.h>

/*
 * Copy a caller's struct into ours.  What an older caller does not have reads as zero.
 * ROUSE_EABI: a newer caller set something past our end.  ROUSE_EINVAL: shorter than `least`,
 * the size of its first version.
 */
int rouse__sized_in(void *ours, size_t our_size, const void *theirs, size_t their_size,
                    size_t least);

/* Whether the caller's tail past our end is all zero. */
int rouse__sized_tail_zero(const void *theirs, size_t their_size, size_t our_size);

#endif
