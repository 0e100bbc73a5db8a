/* GLib: a GPtrArray with a free function, which frees the oldest first. */
#include "pool_rows.h"

#include <glib.h>
#include <stdlib.h>

static unsigned add_posts(GPtrArray *array, unsigned count, unsigned batch)
{
	for (unsigned i = 0; i < batch && count > 0; i++, count--) {
		g_ptr_array_add(array, malloc(OBJECT));
		g_ptr_array_add(array, malloc(OBJECT));
	}
	return count;
}

static unsigned add_nothings(GPtrArray *array, unsigned count)
{
	for (unsigned i = 0; i < 64 && count > 0; i++, count--)
		g_ptr_array_add(array, &array);
	return count;
}

static void empty(unsigned times)
{
	while (times-- > 0)
		g_ptr_array_unref(g_ptr_array_new_with_free_func(free));
}

static void releases(unsigned times)
{
	while (times > 0) {
		GPtrArray *array = g_ptr_array_new_with_free_func(release_nothing);

		times = add_nothings(array, times);
		g_ptr_array_unref(array);
	}
}

static void posts(unsigned count, unsigned batch)
{
	while (count > 0) {
		GPtrArray *array = g_ptr_array_new_with_free_func(free);

		count = add_posts(array, count, batch);
		g_ptr_array_unref(array);
	}
}

static void empty_kept(unsigned times)
{
	GPtrArray *array = g_ptr_array_new_with_free_func(free);

	while (times-- > 0)
		g_ptr_array_set_size(array, 0);
	g_ptr_array_unref(array);
}

static void releases_kept(unsigned times)
{
	GPtrArray *array = g_ptr_array_new_with_free_func(release_nothing);

	while (times > 0) {
		times = add_nothings(array, times);
		g_ptr_array_set_size(array, 0);
	}
	g_ptr_array_unref(array);
}

static void posts_kept(unsigned count, unsigned batch)
{
	GPtrArray *array = g_ptr_array_new_with_free_func(free);

	while (count > 0) {
		count = add_posts(array, count, batch);
		g_ptr_array_set_size(array, 0);
	}
	g_ptr_array_unref(array);
}

const struct pool_rows rows_glib = {"GPtrArray", 0, empty, releases, posts};
const struct pool_rows rows_glib_kept = {"GPtrArray, kept", 1, empty_kept, releases_kept,
                                         posts_kept};
