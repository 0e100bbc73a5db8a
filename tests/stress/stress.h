/*
 * What the stress programs share.
 *
 * A program runs for ROUSE_STRESS_SECONDS (20), on the loop that its argument names: "epoll",
 * "poll", or "guest", the guest of an outer epoll.  Its random choices come from a seed, which it
 * prints and ROUSE_STRESS_SEED repeats; what the system makes of them is another matter.  At the
 * library's pause points threads now and then give their place away, at random too.
 *
 * Every fault ends the process at once, with a message, the seed and the program's own state.  So
 * does a program in which nothing has gone on for minutes: a hang.
 */
#ifndef TESTS_STRESS_STRESS_H
#define TESTS_STRESS_STRESS_H

#include <rouse/rouse.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define STRESS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STRESS_TSAN 1
#endif
#endif
#ifndef STRESS_TSAN
#define STRESS_TSAN 0
#endif

struct stress {
	const char *name, *mode;
	uint64_t seed;
	int guest;
	void (*print_state)(void); /* may be NULL; any thread, at any moment */
};

extern struct stress stress;

/* @return the exit status.  `run` does everything else. */
int stress_main(int argc, char **argv, const char *name, void (*run)(void));

/* Is the time up? */
int stress_over(void);
/* Something went on. */
void stress_alive(void);
/* Seconds after which what does not go on hangs. */
unsigned stress_patience(void);

_Noreturn void stress_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define STRESS_CHECK(condition, ...) ((condition) ? (void)0 : stress_fail(__VA_ARGS__))
/* A call that must not fail, and cannot but for the system's want. */
int stress_must(int result, const char *what);

/* Each thread, or source of choices, has a state of its own. */
uint64_t stress_random_state(void);
uint64_t stress_random(uint64_t *state);
unsigned stress_below(uint64_t *state, unsigned limit);
/* Once in so many times. */
int stress_once_in(uint64_t *state, unsigned times);

pthread_t stress_start(void *(*fn)(void *), void *data);
void stress_join(pthread_t thread);

/* Counts blocks, and fills with rubbish what was given back. */
struct stress_memory {
	rouse_allocator allocator;
	atomic_long blocks;
	int forks; /* set: stress_fork() is used */
};
void stress_memory_init(struct stress_memory *memory);
void stress_memory_check(struct stress_memory *memory); /* nothing is left */

/* How many are open. */
unsigned stress_descriptors(void);

/* fork() while no other thread is in the allocator: the C library's is prepared for a fork, those
 * of the sanitizers are not. */
int stress_fork(void);

/* A loop in the program's mode. */
struct stress_loop {
	rouse_loop *loop;
	int outer; /* the host's epoll; -1 */
};
void stress_open(struct stress_loop *loop, struct stress_memory *memory, unsigned max_batch);
/* One turn, waiting `longest` nanoseconds at most.  @return callbacks run */
int stress_turn(struct stress_loop *loop, rouse_ns longest);
/* Turn until a stop, which is used up. */
void stress_run(struct stress_loop *loop);
void stress_close(struct stress_loop *loop);

#endif
