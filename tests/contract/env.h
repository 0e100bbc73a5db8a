/*
 * One contract, many loops.
 *
 * A contract test is written once against this header and run on every poller, unhosted and as
 * the guest of an outer epoll: the program's argument names the mode.
 *
 *   epoll, poll, null  the loop waits by itself
 *   epoll-old          epoll as on a system that makes no edge for a second ring and has no
 *                      epoll_pwait2
 *   epoll-guest        an outer epoll watches rouse_loop_fd(), then turns the loop
 *   epoll-bracket      the same by prepare, check and dispatch
 *   null-bracket       the test is the host, with a virtual clock
 *   win32              the loop waits by itself; of the others Windows has null and null-bracket
 *
 * With "+wayland" behind it (epoll, poll, epoll-guest, epoll-bracket) each loop has a Wayland
 * display attached, of the compositor that is running.
 *
 * As a host the test reaches the pause point ROUSE__MARKED_ASLEEP before it waits, as an unhosted
 * loop does: so a thread that wants to act on a sleeping loop has one point to go by.
 */
#ifndef TESTS_CONTRACT_ENV_H
#define TESTS_CONTRACT_ENV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pthread.h>

#include <cmocka.h>
#include <rouse/null.h>
#include <rouse/rouse.h>

#ifdef _WIN32
#define ENV_BEST_POLLER "win32"
#else
#define ENV_BEST_POLLER "epoll"
#endif

enum host { UNHOSTED = 1, DESCRIPTOR = 2, BRACKET = 4 };

struct env {
	rouse_loop *loop;
	enum host host;
	int null; /* virtual clock, scripted descriptors */
	int outer;
	rouse_fd next_number; /* of a scripted descriptor */
	void *display;        /* attached to the loop, or NULL */
};

/* Runs the tests on the mode that the program was asked for. */
int env_main(int argc, char **argv, const char *group, const struct CMUnitTest *tests,
             size_t count);
int env_setup(void **state);
int env_teardown(void **state);

#define env_test(fn) cmocka_unit_test_setup_teardown(fn, env_setup, env_teardown)
/* One that means something in some kinds of host only; env_main() leaves it out of others. */
#define env_test_in(fn, hosts)                                                                     \
	{                                                                                          \
#fn, fn, env_setup, env_teardown, (void *)(uintptr_t)(hosts)                       \
	}

/* rouse_loop_options.pool of the loops that are opened. */
extern unsigned env_pool;

/* A second loop of the same kind, or this one created anew. */
void env_open(struct env *env, unsigned max_batch);
void env_close(struct env *env);

/* How often a guest rings itself in a turn, that has a display: before callbacks, for they may open
 * a loop of the host's, and after them for what was posted meanwhile. */
unsigned env_own_rings(const struct env *env);

/* env_wayland.c, where that is built: a display in the loop, and away with it after the loop. */
void *env_attach(rouse_loop *loop);
void env_disconnect(void *display);

/* env_posix.c, env_win32.c: the host that watches the loop's descriptor. */
void env_outer_open(struct env *env);
void env_outer_close(struct env *env);
int env_outer_wait(struct env *env, rouse_ns deadline);
/* Whether that descriptor is readable now, and until it is. */
int env_readable(struct env *env);
void env_wait_readable(struct env *env);

/* pair_posix.c, pair_win32.c: what channels are.  Made, written to and read without blocking. */
void env_pair_open(rouse_fd *fd, rouse_fd *peer);
void env_pair_write(rouse_fd peer);
/* @return how many bytes there were. */
int env_pair_drain(rouse_fd fd);
void env_pair_close(rouse_fd fd);
void env_pair_hang_up(rouse_fd fd, rouse_fd peer);

/* One turn by the mode's way, waiting at most so long (0: not at all, ROUSE_NEVER).
 * @return callbacks run. */
int env_turn(struct env *env, rouse_ns longest);

/* Turn until `condition`.  Whether that ever comes is the test; its time limit is ctest's. */
#define ENV_UNTIL(env, condition)                                                                  \
	do {                                                                                       \
		while (!(condition))                                                               \
			env_turn((env), ROUSE_NEVER);                                              \
	} while (0)

/* Turn without waiting until nothing is left.  @return callbacks run. */
int env_drain(struct env *env);

pthread_t env_start(void *(*fn)(void *), void *data);
/* Fails the test if the thread returned anything. */
void env_join(pthread_t thread);

/* Something that becomes ready: a pipe (on Windows a pair of sockets), or a scripted number. */
struct channel {
	rouse_fd fd, peer;
};
void channel_open(struct env *env, struct channel *channel);
void channel_fill(struct env *env, struct channel *channel);
void channel_empty(struct env *env, struct channel *channel);
void channel_hang_up(struct env *env, struct channel *channel);
void channel_close(struct env *env, struct channel *channel);

/* Where the next descriptor does not get the number that was closed last, a test of that is
 * skipped. */
#ifdef _WIN32
#define ENV_REUSES_NUMBERS(env)                                                                    \
	do {                                                                                       \
		if (!(env)->null)                                                                  \
			skip();                                                                    \
	} while (0)
#else
#define ENV_REUSES_NUMBERS(env) ((void)(env))
#endif

/* Callbacks that count their runs into an int. */
void count_run(rouse_loop *loop, void *data);
void count_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data);
void count_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data);

/* How much the test should do: `count` natively, less under a sanitizer or valgrind
 * (ROUSE_TEST_DIVISOR), more under stress (ROUSE_TEST_TIMES). */
unsigned scaled(unsigned count);

#endif
