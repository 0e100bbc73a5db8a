/*
 * A loop's own pools.  A thread that never autoreleases has no stack, and a loop on it asks
 * for no memory: its pools are then only counted, and pushed when the first object comes.
 */
#ifndef ROUSE_POOL_POOL_H
#define ROUSE_POOL_POOL_H

#include <rouse/pool.h>

/* All zero: no memory, and nothing to end. */
rouse_pool rouse__pool_begin(void);
/* Also where it is gone already. */
void rouse__pool_end(rouse_pool pool);

#endif
