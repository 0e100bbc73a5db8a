/* A loop in the host, for the tests of guest.c, lives.c and refusals.c. */
#ifndef ROUSE_TESTS_GUEST_H
#define ROUSE_TESTS_GUEST_H

#include "display/turns.h"
#include "host.h"

struct guest {
	rouse_loop *loop; /* NULL: the test has destroyed it */
	rouse_remote *remote;
};

/* Around each test. */
int open_guest(void **state);
int close_guest(void **state);
#define guest_test(fn) cmocka_unit_test_setup_teardown(fn, open_guest, close_guest)

/* Whether that ever comes is the test; its time limit is ctest's. */
#define UNTIL(condition)                                                                           \
	do {                                                                                       \
		while (!(condition))                                                               \
			host_turn();                                                               \
	} while (0)

/* Some iterations that do not wait. */
void settle(void);

/* Callbacks that count: `data` is an unsigned; the descriptor's is read. */
void count_post(rouse_loop *loop, void *data);
void count_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data);
void count_tick(void *data);
/* Into the descriptor at `data`. */
void write_byte(void *data);

#endif
