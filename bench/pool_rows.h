/* The measured loops of pool.c, compiled twice: through calls, and inlined. */
#ifndef BENCH_POOL_ROWS_H
#define BENCH_POOL_ROWS_H

struct pool_rows {
	const char *name;
	/* Each does so much, and may be repeated. */
	void (*empty)(unsigned times);                 /* push, pop */
	void (*releases)(unsigned times);              /* autorelease, release, 64 to a pool */
	void (*posts)(unsigned posts, unsigned batch); /* two objects each */
};

extern const struct pool_rows rows_called, rows_inlined;

enum { OBJECT = 287 }; /* bytes */
void release_nothing(void *object);

#endif
