#include "thread.h"

#include <signal.h>

int thread_start(pthread_t *ret_thread, void *(*fn)(void *), void *data)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(ret_thread, NULL, fn, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
