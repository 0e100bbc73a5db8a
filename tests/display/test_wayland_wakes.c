/* Wakes of a loop that waits on a Wayland display. */
#include "weston.h"
#include "wl_fixture.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct weston server;

enum { ROUNDS = 20000, LATE_MS = 100 };

struct acknowledged {
	rouse_remote *remote;
	rouse_waker *waker;
	sem_t answered;
	unsigned rounds;
	unsigned late; /* not answered in time */
	unsigned hung; /* nor a long time after that */
	rouse_ns *took;
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
		rouse_ns start = rouse_now();

		rouse_wake(a->waker);
		if (!await_answer(&a->answered, LATE_MS)) {
			a->late++;
			a->hung += !await_answer(&a->answered, 5000);
		}
		a->took[i] = rouse_now() - start;
	}
	rouse_remote_stop(a->remote);
	return NULL;
}

static void answer(rouse_loop *loop, void *data)
{
	(void)loop;
	sem_post(&((struct acknowledged *)data)->answered);
}

static int by_size(const void *a, const void *b)
{
	const rouse_ns x = *(const rouse_ns *)a, y = *(const rouse_ns *)b;

	return (x > y) - (x < y);
}

static void run(struct wl_fixture *f, const char *what)
{
	struct acknowledged a = {.rounds = fixture_scaled(ROUNDS)};
	pthread_t thread;

	a.took = calloc(a.rounds, sizeof(*a.took));
	assert_int_equal(sem_init(&a.answered, 0, 0), 0);
	a.remote = rouse_loop_remote(f->loop);
	assert_int_equal(rouse_waker_create(f->loop, answer, &a, &a.waker), 0);
	assert_int_equal(pthread_create(&thread, NULL, wake_and_wait, &a), 0);
	assert_int_equal(rouse_loop_run(f->loop), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	qsort(a.took, a.rounds, sizeof(*a.took), by_size);
	printf("%s: median %.1f us, %u of %u late, %u hung\n", what,
	       (double)a.took[a.rounds / 2] / 1000, a.late, a.rounds, a.hung);
	/* A machine that stands still does so now and then, and not for long. */
	assert_int_equal(a.hung, 0);
	assert_true(a.late <= 3);
	rouse_remote_unref(a.remote);
	rouse_waker_unref(a.waker);
	sem_destroy(&a.answered);
	free(a.took);
}

static void ask_again(struct wl_fixture *f)
{
	wl_fixture_ask(f);
}

static void w18_wakes_beside_a_frozen_compositor(void **state)
{
	struct wl_fixture f;

	(void)state;
	wl_fixture_open(&f, NULL, NULL);
	run(&f, "idle");
	weston_freeze(&server);
	run(&f, "frozen");
	/* And with requests that it does not take. */
	while (rouse_wayland_flush(f.wayland) == 0)
		wl_fixture_ask(&f);
	run(&f, "frozen and blocked");
	weston_thaw(&server);
	fixture_until(f.loop, &f.events, 1);
	f.on_event = ask_again;
	wl_fixture_ask(&f);
	run(&f, "busy");
	f.on_event = NULL;
	assert_int_equal(f.lost, 0);
	wl_fixture_close(&f);
}

static void y7_a_million_wakes_take_no_memory(void **state)
{
	unsigned wakes = fixture_scaled(1000000), served = 0;
	struct wl_fixture f;
	rouse_waker *waker;
	size_t used = 0;

	(void)state;
	wl_fixture_open(&f, NULL, NULL);
	assert_int_equal(rouse_waker_create(f.loop, fixture_count_wake, &served, &waker), 0);
	for (unsigned i = 0; i < wakes; i++) {
		assert_true(rouse_wake(waker) >= 0);
		assert_true(rouse_loop_turn(f.loop, ROUSE_NEVER) >= 0);
		if (i == wakes / 10)
			used = mallinfo2().uordblks;
	}
	assert_int_equal(served, wakes);
	assert_true(mallinfo2().uordblks <= used);
	rouse_waker_unref(waker);
	wl_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w18_wakes_beside_a_frozen_compositor),
	        cmocka_unit_test(y7_a_million_wakes_take_no_memory),
	};

	alarm(280);
	weston_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
