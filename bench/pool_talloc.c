/* talloc: children of a context.  It allocates them itself, so there is no release function, and
 * none of `releases`. */
#include "pool_rows.h"

#include <stdlib.h>
#include <talloc.h>

static void *push(void)
{
	void *context = talloc_new(NULL);

	if (!context)
		abort();
	return context;
}

static void empty(unsigned times)
{
	while (times-- > 0)
		talloc_free(push());
}

static void posts(unsigned count, unsigned batch)
{
	while (count > 0) {
		void *context = push();

		for (unsigned i = 0; i < batch && count > 0; i++, count--) {
			(void)talloc_size(context, OBJECT);
			(void)talloc_size(context, OBJECT);
		}
		talloc_free(context);
	}
}

const struct pool_rows rows_talloc = {"talloc", 0, empty, NULL, posts};
