#ifndef STUB_PTHREAD_H
#define STUB_PTHREAD_H

#include <sched.h>
#include <signal.h>
#include <sys/types.h>
#include <time.h>

#define STUB_PTHREAD(name, size)                                                                   \
	typedef struct {                                                                           \
		long signature;                                                                    \
		char opaque[size];                                                                 \
	} name
STUB_PTHREAD(pthread_attr_t, 56);
STUB_PTHREAD(pthread_cond_t, 40);
STUB_PTHREAD(pthread_condattr_t, 8);
STUB_PTHREAD(pthread_mutex_t, 56);
STUB_PTHREAD(pthread_mutexattr_t, 8);
STUB_PTHREAD(pthread_once_t, 8);
typedef unsigned long pthread_key_t;
typedef struct stub_thread *pthread_t;

/* clang-format off */
#define PTHREAD_COND_INITIALIZER {0x3CB0B1BB, {0}}
#define PTHREAD_MUTEX_INITIALIZER {0x32AAABA7, {0}}
#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}
/* clang-format on */
#define PTHREAD_CANCEL_DISABLE 0

int pthread_atfork(void (*)(void), void (*)(void), void (*)(void));
int pthread_cond_broadcast(pthread_cond_t *);
int pthread_cond_destroy(pthread_cond_t *);
int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int pthread_equal(pthread_t, pthread_t);
int pthread_join(pthread_t, void **);
int pthread_key_create(pthread_key_t *, void (*)(void *));
int pthread_key_delete(pthread_key_t);
int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutex_lock(pthread_mutex_t *);
int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_once(pthread_once_t *, void (*)(void));
pthread_t pthread_self(void);
int pthread_setcancelstate(int, int *);
int pthread_setspecific(pthread_key_t, const void *);
int pthread_sigmask(int, const sigset_t *, sigset_t *);

#endif
