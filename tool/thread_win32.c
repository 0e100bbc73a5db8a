#include "thread.h"

int thread_start(pthread_t *ret_thread, void *(*fn)(void *), void *data)
{
	return pthread_create(ret_thread, NULL, fn, data);
}
