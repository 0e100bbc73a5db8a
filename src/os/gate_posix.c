#include "os/os.h"

/* The mutex is held while signalling: the waiter, whose stack this is, cannot leave before. */
void rouse__gate_open(struct rouse__gate *gate)
{
	pthread_mutex_lock(&gate->mutex);
	gate->open = 1;
	pthread_cond_signal(&gate->opened);
	pthread_mutex_unlock(&gate->mutex);
}

/* Not to be cancelled: the gate is on this thread's stack, and whoever opens it will come. */
void rouse__gate_wait(struct rouse__gate *gate)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&gate->mutex);
	while (!gate->open)
		pthread_cond_wait(&gate->opened, &gate->mutex);
	pthread_mutex_unlock(&gate->mutex);
	pthread_cond_destroy(&gate->opened);
	pthread_mutex_destroy(&gate->mutex);
	pthread_setcancelstate(state, NULL);
}
