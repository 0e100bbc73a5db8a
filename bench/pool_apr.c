/* APR: cleanups. */
#include "pool_rows.h"

#include <apr_general.h>
#include <apr_pools.h>
#include <stdlib.h>

static apr_pool_t *root, *kept;

__attribute__((constructor)) static void begin(void)
{
	if (apr_initialize() || apr_pool_create(&root, NULL) || apr_pool_create(&kept, root))
		abort();
}

static apr_pool_t *push(void)
{
	apr_pool_t *pool;

	if (apr_pool_create(&pool, root))
		abort();
	return pool;
}

static apr_status_t free_object(void *object)
{
	free(object);
	return APR_SUCCESS;
}

static apr_status_t nothing(void *object)
{
	release_nothing(object);
	return APR_SUCCESS;
}

static void add(apr_pool_t *pool, void *object, apr_status_t (*release)(void *object))
{
	apr_pool_cleanup_register(pool, object, release, apr_pool_cleanup_null);
}

static unsigned add_posts(apr_pool_t *pool, unsigned count, unsigned batch)
{
	for (unsigned i = 0; i < batch && count > 0; i++, count--) {
		add(pool, malloc(OBJECT), free_object);
		add(pool, malloc(OBJECT), free_object);
	}
	return count;
}

static unsigned add_nothings(apr_pool_t *pool, unsigned count)
{
	for (unsigned i = 0; i < 64 && count > 0; i++, count--)
		add(pool, &root, nothing);
	return count;
}

static void empty(unsigned times)
{
	while (times-- > 0)
		apr_pool_destroy(push());
}

static void releases(unsigned times)
{
	while (times > 0) {
		apr_pool_t *pool = push();

		times = add_nothings(pool, times);
		apr_pool_destroy(pool);
	}
}

static void posts(unsigned count, unsigned batch)
{
	while (count > 0) {
		apr_pool_t *pool = push();

		count = add_posts(pool, count, batch);
		apr_pool_destroy(pool);
	}
}

static void empty_kept(unsigned times)
{
	while (times-- > 0)
		apr_pool_clear(kept);
}

static void releases_kept(unsigned times)
{
	while (times > 0) {
		times = add_nothings(kept, times);
		apr_pool_clear(kept);
	}
}

static void posts_kept(unsigned count, unsigned batch)
{
	while (count > 0) {
		count = add_posts(kept, count, batch);
		apr_pool_clear(kept);
	}
}

const struct pool_rows rows_apr = {"APR", 0, empty, releases, posts};
const struct pool_rows rows_apr_kept = {"APR, kept", 1, empty_kept, releases_kept, posts_kept};
