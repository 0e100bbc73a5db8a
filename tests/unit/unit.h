/* What the tests of this room share: cmocka, every poller in turn, and an allocator that counts. */
#ifndef ROUSE_TESTS_UNIT_H
#define ROUSE_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rouse/rouse.h>

#include <stdatomic.h>

#define MS UINT64_C(1000000)
/* Nothing takes this long; what does is a hang. */
#define HANG (20000 * MS)
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Counts the blocks, remembers their sizes, and fails once when asked to. */
struct counting {
	rouse_allocator allocator;
	atomic_uint made, outstanding, wrong;
	unsigned fail_at; /* the number of the allocation that fails, from 1; 0: none does */
};

void counting_init(struct counting *c);
/* The n-th allocation from now on fails. */
void counting_fail(struct counting *c, unsigned n);
/* Nothing is left, and each block came back with its size. */
void counting_check(struct counting *c);

/* A loop on a poller, NULL being the best one; `c` may be NULL. */
rouse_loop *loop_on(const char *poller, struct counting *c);
rouse_stats stats_of(const rouse_loop *loop);
/* Whether rouse_fd_add() takes descriptors of the system. */
int has_descriptors(const rouse_loop *loop);

unsigned open_descriptors(void);
/* Run on a thread of its own until it has returned. */
void on_another_thread(void (*fn)(void *data), void *data);

/* For sources that are never to run, or where it does not matter. */
void ignore_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data);
void ignore_handle(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data);
void ignore_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data);
/* These count into an int. */
void count_call(rouse_loop *loop, void *data);
void count_cancel(void *data);

/* Each poller's name in turn. */
#define EACH_POLLER(name)                                                                          \
	const char *name = rouse_poller_name(0);                                                   \
	for (unsigned index_ = 0; (name = rouse_poller_name(index_)); index_++)
/* And of those on which a loop can be a guest. */
#define EACH_GUEST(name) EACH_POLLER(name) if (can_be_guest(name))
int can_be_guest(const char *poller);

#endif
