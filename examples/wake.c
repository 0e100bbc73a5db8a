/* A worker thread hands results to a loop: it writes, then wakes; the loop's callback reads.
 * Wakes coalesce, so the callback takes everything that is there. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <rouse/rouse.h>

enum { RESULTS = 1000 };

struct job {
	rouse_waker *waker;
	atomic_int done; /* written by the worker, read by the loop's thread */
	int seen;
	int runs;
};

static void *work(void *data)
{
	struct job *job = data;

	for (int i = 1; i <= RESULTS; i++) {
		atomic_store(&job->done, i);
		if (rouse_wake(job->waker) < 0)
			break;
	}
	return NULL;
}

static void woken(rouse_loop *loop, void *data)
{
	struct job *job = data;

	job->runs++;
	job->seen = atomic_load(&job->done);
	if (job->seen == RESULTS)
		rouse_loop_stop(loop);
}

int main(void)
{
	struct job job = {0};
	rouse_loop *loop;
	pthread_t thread;
	int error;

	error = rouse_loop_create(NULL, &loop);
	if (error < 0) {
		fprintf(stderr, "no loop: %s\n", rouse_strerror(error));
		return 1;
	}
	error = rouse_waker_create(loop, woken, &job, &job.waker);
	if (error == 0 && pthread_create(&thread, NULL, work, &job) == 0) {
		error = rouse_loop_run(loop);
		pthread_join(thread, NULL);
		printf("%d results in %d runs of the callback\n", job.seen, job.runs);
	}
	rouse_waker_unref(job.waker);
	rouse_loop_destroy(loop);
	return error == 0 && job.seen == RESULTS ? 0 : 1;
}
