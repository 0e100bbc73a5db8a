/*
 * What bench_pool measures, a file for each library: ours, compiled twice, and what it is compared
 * with.
 *
 * A pool is opened and closed for each batch, and others may be open outside it.  Where a library
 * is faster if one pool is kept and emptied instead, there is a row of that, too.  A job that
 * a row does not have is NULL.
 */
#ifndef BENCH_POOL_ROWS_H
#define BENCH_POOL_ROWS_H

struct pool_rows {
	const char *name;
	int kept; /* one pool, emptied: there is none inside another */
	/* Each does so much, and may be repeated. */
	void (*empty)(unsigned times);                 /* push, pop */
	void (*releases)(unsigned times);              /* autorelease, release, 64 to a pool */
	void (*posts)(unsigned posts, unsigned batch); /* two objects each, a pool a batch */
};

extern const struct pool_rows rows_called, rows_inlined, /* pool_rows.c */
        rows_array, rows_free,                           /* pool_plain.c */
        rows_apr, rows_apr_kept, rows_talloc, rows_glib, rows_glib_kept,
        rows_gnustep; /* where there is such a library */

enum { OBJECT = 287, MOST_BATCH = 4096 }; /* bytes; posts */

/* The release function of `releases`, for all. */
void release_nothing(void *object);

#endif
