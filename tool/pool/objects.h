/*
 * Objects that are counted one by one as they are made and released: what is live, and what was
 * held at the worst moment, is read off and not computed.
 *
 * One thread at a time: who hands over to another joins it.
 */
#ifndef ROUSE_TOOL_POOL_OBJECTS_H
#define ROUSE_TOOL_POOL_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

enum { POOL_OBJECT = 287 }; /* Bytes; a post has two. */

struct pool_census {
	size_t live;        /* Objects. */
	size_t peak;        /* The most that were live at once. */
	size_t peak_bytes;  /* Of those objects, as requested. */
	uint64_t own_bytes; /* What the stack of pools itself held then. */
};

/* Forgets the peak. */
void pool_census_begin(void);
struct pool_census pool_census(void);

/* NULL without memory. */
void *pool_object_make(void);
void pool_object_release(void *object);

#endif
