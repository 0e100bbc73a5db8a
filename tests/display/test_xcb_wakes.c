/* Wakes of a loop that waits on an XCB connection: none is lost. */
#include "xcb_fixture.h"
#include "xvfb.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static struct xvfb server;

enum { ROUNDS = 100000, LATE_MS = 100 };

struct acknowledged {
	struct xcb_fixture *f;
	rouse_remote *remote;
	rouse_waker *waker;
	sem_t answered;
	unsigned rounds, calls;
	unsigned late; /* not answered in time */
	unsigned hung; /* nor a long time after that */
};

static bool await_answer(sem_t *answered, unsigned ms)
{
	struct timespec end;
	int result;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += (long)(ms % 1000) * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	while ((result = sem_timedwait(answered, &end)) && errno == EINTR)
		;
	return result == 0;
}

static void *wake_and_wait(void *data)
{
	struct acknowledged *a = data;

	for (unsigned i = 0; i < a->rounds && !a->hung; i++) {
		rouse_wake(a->waker);
		if (!await_answer(&a->answered, LATE_MS)) {
			a->late++;
			a->hung += !await_answer(&a->answered, 5000);
		}
	}
	rouse_remote_stop(a->remote);
	return NULL;
}

static void answer(rouse_loop *loop, void *data)
{
	struct acknowledged *a = data;

	(void)loop;
	/* Now and then X has something to do at the same time. */
	if (++a->calls % 64 == 0)
		xcb_clear_area(a->f->connection, 1, a->f->window, 0, 0, 1, 1);
	sem_post(&a->answered);
}

static struct acknowledged run(void)
{
	const uint32_t mask = XCB_EVENT_MASK_EXPOSURE;
	struct xcb_fixture f;
	struct acknowledged a = {.f = &f, .rounds = fixture_scaled(ROUNDS)};
	pthread_t thread;

	xcb_fixture_open(&f, NULL);
	xcb_change_window_attributes(f.connection, f.window, XCB_CW_EVENT_MASK, &mask);
	xcb_map_window(f.connection, f.window);
	assert_int_equal(sem_init(&a.answered, 0, 0), 0);
	a.remote = rouse_loop_remote(f.loop);
	assert_int_equal(rouse_waker_create(f.loop, answer, &a, &a.waker), 0);
	assert_int_equal(pthread_create(&thread, NULL, wake_and_wait, &a), 0);
	assert_int_equal(rouse_loop_run(f.loop), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	printf("%u of %u late, %u hung\n", a.late, a.rounds, a.hung);
	rouse_remote_unref(a.remote);
	rouse_waker_unref(a.waker);
	sem_destroy(&a.answered);
	xcb_fixture_close(&f);
	return a;
}

static void w16_acknowledged_wakes_beside_xcb(void **state)
{
	struct acknowledged a;

	(void)state;
	/* A machine that stands still for 100 ms does so for one run, not for three. */
	for (int i = 0; i < 3; i++) {
		a = run();
		assert_int_equal(a.hung, 0);
		if (!a.late)
			break;
	}
	assert_int_equal(a.late, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w16_acknowledged_wakes_beside_xcb),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
