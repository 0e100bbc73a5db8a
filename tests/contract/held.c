#include "held.h"

#include <pthread.h>
#include <sched.h>

struct held h;

static void hold(enum rouse__point point, void *data)
{
	(void)data;
	if (point != h.at || pthread_equal(pthread_self(), h.main))
		return;
	atomic_store(&h.reached, 1);
	while (!atomic_load(&h.go))
		sched_yield();
}

void begin(struct env *env, enum rouse__point at)
{
	h = (struct held){.env = env, .at = at, .main = pthread_self(), .result = -100};
	h.remote = rouse_loop_remote(env->loop);
	assert_int_equal(rouse_waker_create(env->loop, count_run, &h.runs, &h.waker), 0);
	env_drain(env);
	/* As far as producers know. */
	if (env->host == UNHOSTED)
		assert_true(rouse__remote_doze(env->loop->remote));
}

void finish(void)
{
	rouse__fault_pause(NULL, NULL);
	rouse_waker_unref(h.waker);
	rouse_remote_unref(h.remote);
}

pthread_t start_and_hold(void *(*fn)(void *))
{
	pthread_t thread;

	rouse__fault_pause(hold, NULL);
	thread = env_start(fn, NULL);
	while (!atomic_load(&h.reached))
		sched_yield();
	return thread;
}

void let_go(pthread_t thread)
{
	atomic_store(&h.go, 1);
	env_join(thread);
	rouse__fault_pause(NULL, NULL);
}

void cancel_held(void *data)
{
	(void)data;
	h.cancelled++;
}
