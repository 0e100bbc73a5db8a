#include "pool/rows.h"

#include <stdlib.h>

#include <rouse/pool.h>

#include "pool/objects.h"

/* What was asked for in CMakeLists.txt; the header may know better. */
#ifdef ROUSE_POOL_INLINE
#define ROWS pool_rows_inlined
#ifdef rouse_pool_push
#define AVAILABLE true
#else
#define AVAILABLE false
#endif
#else
#define ROWS pool_rows_called
#define AVAILABLE true
#endif

static void empty(unsigned times)
{
	while (times-- > 0) {
		rouse_pool pool = rouse_pool_push();

		/* An empty pool must not be optimized away. */
		__asm__ volatile("" : "+r"(pool.token) : : "memory");
		rouse_pool_pop(pool);
	}
}

/* One text for what is timed and what is counted. */
#define POSTS(posts, batch, make, release)                                                         \
	while ((posts) > 0) {                                                                      \
		rouse_pool pool = rouse_pool_push();                                               \
                                                                                                   \
		for (unsigned i = 0; i < (batch) && (posts) > 0; i++, (posts)--) {                 \
			rouse_autorelease(make, release);                                          \
			rouse_autorelease(make, release);                                          \
		}                                                                                  \
		rouse_pool_pop(pool);                                                              \
	}

static void posts(unsigned left, unsigned batch)
{
	POSTS(left, batch, malloc(POOL_OBJECT), free)
}

static void counted(unsigned left, unsigned batch)
{
	POSTS(left, batch, pool_object_make(), pool_object_release)
}

const struct pool_rows ROWS = {AVAILABLE, empty, posts, counted};
