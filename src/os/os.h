/* What the library asks of the system besides waiting: one plain function each. */
#ifndef ROUSE_OS_OS_H
#define ROUSE_OS_OS_H

#include "os/local.h"

#include <rouse/rouse.h>

#include <stdatomic.h>

/* How the library reaches its variables: none of them is anybody else's, and those of a thread are
 * in the static space where ROUSE_POOL_TLS says so. */
#if defined(__GNUC__) && defined(__ELF__)
#define ROUSE__OURS __attribute__((visibility("hidden")))
#else
#define ROUSE__OURS
#endif
#ifdef ROUSE_POOL_INITIAL_EXEC
#define ROUSE__TLS __attribute__((tls_model("initial-exec")))
#else
#define ROUSE__TLS
#endif

rouse_ns rouse__clock(void);

/* The number of this process among itself and its forefathers.  0: a process that never asked
 * for its number, a forked child for one. */
#ifdef _WIN32
static inline uint64_t rouse__process(void)
{
	return 1;
}
#else
extern _Atomic uint64_t *rouse__process_word ROUSE__OURS;
static inline uint64_t rouse__process(void)
{
	return atomic_load_explicit(rouse__process_word, memory_order_relaxed);
}
#endif
int rouse__process_number(uint64_t *ret_number);

/* One lock for the process, for rare things: held for a few steps, never over a callback.  In a
 * forked child it is free. */
void rouse__lock(void);
void rouse__unlock(void);

/* Unique in the process and never reused, unlike a thread's id.  Never 0. */
uint64_t rouse__thread_serial(void);
/* The same, or 0: a thread that never asked for its own, and so owns nothing. */
extern ROUSE__LOCAL uint64_t rouse__this_thread ROUSE__OURS ROUSE__TLS;

/*
 * Call `fn` on this thread as it ends, in each round of thread-specific destructors but the very
 * last; `last`: not again.  One function for each kind, the same for all threads, in this
 * order: what loops still hand over may want to be drained.
 */
enum rouse__ends { ROUSE__LOOPS_END, ROUSE__POOLS_END, ROUSE__ENDS };
int rouse__at_thread_end(enum rouse__ends kind, void (*fn)(int last));
/* Not any more: a plugin that contains this library may then be unloaded. */
void rouse__not_at_thread_end(enum rouse__ends kind);
/* In which round of its end this thread is, as far as it is told of that; 0: it lives. */
unsigned rouse__thread_end_round(void);

/* Of the environment, but not in a program that has more rights than its user; or NULL. */
const char *rouse__environment(const char *name);
/* A line on standard error; `caller`, an address that a call returns to, may be NULL. */
void rouse__complain(const char *what, void *caller);

/* The function of that name that a program linked now would call; NULL: there is none. */
typedef void (*rouse__function)(void);
rouse__function rouse__symbol(const char *name);

/*
 * Let `fn` be called with `arg` by the signal's handler.  ROUSE_EINVAL: no such signal, or it
 * cannot be put off; ROUSE_EEXIST: taken.  Given back, its disposition is what it was, unless
 * someone else changed it, and `fn` does not run any more.  One `fn` for all.
 */
int rouse__signal_take(int signo, void (*fn)(void *arg), void *arg);
void rouse__signal_give_back(int signo, const void *arg);
/* In a forked child: what was inherited is this process's, and a signal that came since counts. */
void rouse__signal_inherit(int signo, void *arg);

/* Children. */
/* 0, or an errno: it is no child of this process.  On Windows: no process, by its handle. */
int rouse__child_check(rouse_process process);
/* 1: it has ended, and was waited for, by this or by someone else; 0: not yet. */
#ifdef _WIN32
int rouse__child_ended(rouse_process process, rouse_exit *how);
#else
/* A pidfd, or -1 with errno set. */
int rouse__pidfd_open(rouse_process process);
int rouse__child_ended(rouse_process process, int pidfd, rouse_exit *how);
#endif

/* Keeps an errno, or on Windows what GetLastError() says, for rouse_os_error() and says ROUSE_EOS;
 * ENOMEM becomes ROUSE_ENOMEM. */
int rouse__os_failed(int os_error);

/* What the system says of a descriptor that is closed. */
#ifdef _WIN32
#define ROUSE__NO_DESCRIPTOR 6 /* ERROR_INVALID_HANDLE */
#else
#define ROUSE__NO_DESCRIPTOR EBADF

/*
 * Take over a descriptor that was just made: close-on-exec already, and moved above 2, so that
 * a program that runs without its standard streams never writes its output into ours.
 * Returns the number to use, or -1 with errno set and the descriptor closed.
 */
int rouse__fd_adopt(int fd);
void rouse__fd_close(int fd);

/* Let the number `fd` name what `by` names, and close `by`, also on failure.  0, or an errno. */
int rouse__fd_replace(int fd, int by);

#endif

/* A gate opens once; a thread waits until it has.  Lives on the waiting thread's stack. */
struct rouse__gate;
void rouse__gate_open(struct rouse__gate *gate);
void rouse__gate_wait(struct rouse__gate *gate);

#ifdef _WIN32
/* A lock and a condition, in the system's form for both, of which the headers are large. */
struct rouse__gate {
	void *lock, *opened;
	int open;
};
#define ROUSE__GATE_CLOSED                                                                         \
	{                                                                                          \
		NULL, NULL, 0                                                                      \
	}

/* Whoever is called by the system some day must be there: let the module be so.  0: it cannot. */
int rouse__stay_loaded(void);
#else
#include <pthread.h>
#include <time.h>

/* Where the system's seconds are too few for it, sooner. */
struct timespec rouse__timespec(rouse_ns ns);

struct rouse__gate {
	pthread_mutex_t mutex;
	pthread_cond_t opened;
	int open;
};
#define ROUSE__GATE_CLOSED                                                                         \
	{                                                                                          \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0                             \
	}
#endif

#endif
