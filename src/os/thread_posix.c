#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>

_Thread_local uint64_t rouse__this_thread;
static _Thread_local int last_os_error;

uint64_t rouse__thread_serial(void)
{
	static _Atomic uint64_t last;

	if (!rouse__this_thread)
		rouse__this_thread = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	return rouse__this_thread;
}

int rouse__os_failed(int os_error)
{
	last_os_error = os_error;
	return os_error == ENOMEM ? ROUSE_ENOMEM : ROUSE_EOS;
}

int rouse_os_error(void)
{
	return last_os_error;
}

/* ---- A thread's end -------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int key_error;

static _Thread_local struct {
	void (*fn[ROUSE__ENDS])(int last);
	unsigned rounds;
	int armed;
} at_end;

/* The system calls destructors in no order, in rounds, as long as one sets its value anew: so other
 * destructors find this thread's loops as they were, and what they autorelease is drained in
 * the next round.  Ours is not there in the very last, in which a sanitizer takes its own leave of
 * the thread. */
static void ending(void *value)
{
	int last = ++at_end.rounds >= PTHREAD_DESTRUCTOR_ITERATIONS - 1 ||
	           pthread_setspecific(key, value) != 0;

	for (int kind = 0; kind < ROUSE__ENDS; kind++)
		if (at_end.fn[kind])
			at_end.fn[kind](last);
}

unsigned rouse__thread_end_round(void)
{
	return at_end.rounds;
}

static void make_key(void)
{
	key_error = pthread_key_create(&key, ending);
}

void rouse__not_at_thread_end(enum rouse__ends kind)
{
	at_end.fn[kind] = NULL;
	for (int other = 0; other < ROUSE__ENDS; other++)
		if (at_end.fn[other])
			return;
	if (at_end.armed)
		pthread_setspecific(key, NULL);
	at_end.armed = 0;
}

int rouse__at_thread_end(enum rouse__ends kind, void (*fn)(int last))
{
	int error;

	if (!at_end.armed) {
		pthread_once(&once, make_key);
		error = key_error ? key_error : pthread_setspecific(key, &at_end);
		if (error)
			return rouse__os_failed(error);
		at_end.armed = 1;
	}
	at_end.fn[kind] = fn;
	return 0;
}
