/*
 * The measured loops of `rouse pool`, compiled twice: through calls, and inlined.
 */
#ifndef ROUSE_TOOL_POOL_ROWS_H
#define ROUSE_TOOL_POOL_ROWS_H

#include <stdbool.h>

struct pool_rows {
	bool available; /* Or this build cannot inline, and the rest would be calls, too. */
	void (*empty)(unsigned times);
	/* Two objects for each post, a pool around every `batch` of them. */
	void (*posts)(unsigned posts, unsigned batch);
	void (*counted)(unsigned posts, unsigned batch); /* The same with objects of the census. */
};

extern const struct pool_rows pool_rows_called, pool_rows_inlined;

#endif
