/* What the tests of pools share: cmocka, statistics, threads, and objects that count. */
#ifndef TESTS_POOL_POOL_TEST_H
#define TESTS_POOL_POOL_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif
#include <rouse/pool.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static inline rouse_pool_stats thread_stats(void)
{
	rouse_pool_stats stats = {.size = sizeof stats};

	if (rouse_pool_stats_thread(&stats))
		abort();
	return stats;
}

static inline rouse_pool_stats process_stats(void)
{
	rouse_pool_stats stats = {.size = sizeof stats};

	if (rouse_pool_stats_process(&stats))
		abort();
	return stats;
}

/* Each test on a thread that has used no pool yet, and that ends after it.  cmocka's assertions
 * work on its own thread, so these functions answer what went wrong instead. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

struct on_thread {
	void (*fn)(void);
};

static inline void *run_on_thread(void *data)
{
	((struct on_thread *)data)->fn();
	return NULL;
}

static inline void on_a_thread(void (*fn)(void))
{
	struct on_thread how = {fn};
	pthread_t thread;

	EXPECT(pthread_create(&thread, NULL, run_on_thread, &how) == 0);
	EXPECT(pthread_join(thread, NULL) == 0);
}

/* A counter of an object's: what it was released into is `order`. */
struct object {
	int released;
};

static inline void release_object(void *object)
{
	((struct object *)object)->released++;
}

#endif
