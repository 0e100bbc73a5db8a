#include "pool_rows.h"

#include <rouse/pool.h>

#include <stdlib.h>

#ifdef ROUSE_POOL_INLINE
#define ROWS rows_inlined
#define NAME "inlined"
#else
#define ROWS rows_called
#define NAME "called"
#endif

static void empty(unsigned times)
{
	while (times-- > 0) {
		rouse_pool pool = rouse_pool_push();

		__asm__ volatile("" : "+r"(pool.token) : : "memory");
		rouse_pool_pop(pool);
	}
}

static void releases(unsigned times)
{
	while (times > 0) {
		rouse_pool pool = rouse_pool_push();

		for (unsigned i = 0; i < 64 && times > 0; i++, times--)
			rouse_autorelease(&pool, release_nothing);
		rouse_pool_pop(pool);
	}
}

static void posts(unsigned count, unsigned batch)
{
	while (count > 0) {
		rouse_pool pool = rouse_pool_push();

		for (unsigned i = 0; i < batch && count > 0; i++, count--) {
			rouse_autorelease(malloc(OBJECT), free);
			rouse_autorelease(malloc(OBJECT), free);
		}
		rouse_pool_pop(pool);
	}
}

const struct pool_rows ROWS = {NAME, 0, empty, releases, posts};
