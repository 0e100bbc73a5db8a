/* What the tests of every display share: turns of a loop, and bytes in a socket. */
#ifndef ROUSE_TESTS_TURNS_H
#define ROUSE_TESTS_TURNS_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <rouse/rouse.h>

#include <stdbool.h>

#define MS UINT64_C(1000000)
/* Longer than anything takes; a test that sleeps on an event waits this long, and fails. */
#define LONG (10000 * MS)
/* What is not a hang. */
#define SOON (5000 * MS)

/* Fewer under a sanitizer, and by ROUSE_TEST_DIVISOR. */
unsigned fixture_scaled(unsigned count);

/* Turn until *what >= least; fails when that is not soon. */
void fixture_until(rouse_loop *loop, const unsigned *what, unsigned least);
/* As many turns as run something; never waits. */
void fixture_settle(rouse_loop *loop);
/* Exactly one turn that could wait long, and does not. */
void fixture_prompt_turn(rouse_loop *loop);

/* Callbacks that count: `data` is an unsigned. */
void fixture_count_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data);
void fixture_count_wake(rouse_loop *loop, void *data);

/* How many bytes wait in the socket; until there are so many. */
int fixture_bytes(int fd);
void fixture_await_bytes_of(int fd, int least);

#endif
