/* An idle guest makes no system call, nor has its host make one; and what a wake of it costs. */
#include "display/traced.h"
#include "display/turns.h"
#include "host.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

struct guest {
	rouse_loop *loop;
	rouse_remote *remote;
	rouse_waker *waker;
	atomic_uint served;
	bool done;
};

static void end(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct guest *)data)->done = true;
}

static void serve(rouse_loop *loop, void *data)
{
	(void)loop;
	atomic_fetch_add(&((struct guest *)data)->served, 1);
}

static void *end_later(void *data)
{
	struct guest *guest = data;

	sleep(TRACED_IDLE_SECONDS);
	return rouse_post(guest->remote, end, guest, NULL) < 0 ? data : NULL;
}

static void spin(rouse_ns ns)
{
	rouse_ns until = rouse_now() + ns;

	while (rouse_now() < until)
		;
}

static void *wake_much(void *data)
{
	struct guest *guest = data;

	spin(100 * MS);
	for (unsigned i = 1; i <= TRACED_WAKES; i++) {
		rouse_wake(guest->waker);
		while (atomic_load(&guest->served) < i)
			;
		spin(MS);
	}
	return rouse_post(guest->remote, end, guest, NULL) < 0 ? data : NULL;
}

static void run(void *(*other)(void *data))
{
	static struct guest guest;
	pthread_t thread;
	void *failed;

	host_open();
	assert_int_equal(rouse_loop_create(NULL, &guest.loop), 0);
	guest.remote = rouse_loop_remote(guest.loop);
	assert_int_equal(rouse_waker_create(guest.loop, serve, &guest, &guest.waker), 0);
	assert_int_equal(host_attach(guest.loop), 0);
	for (int i = 0; i < 10; i++)
		host_poll();
	assert_int_equal(pthread_create(&thread, NULL, other, &guest), 0);
	traced_begin();
	while (!guest.done)
		host_turn();
	traced_end();
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_int_equal(host_detach(), 0);
	rouse_waker_unref(guest.waker);
	rouse_remote_unref(guest.remote);
	assert_int_equal(rouse_loop_destroy(guest.loop), 0);
	host_close();
}

static unsigned all(const struct counts *counts)
{
	return counts->waits + counts->reads + counts->writes + counts->others;
}

/* Of the host's thread: its wait, and our look.  The figure in docs/embedding.md. */
enum { CALLS_OF_A_WAKE = 2 };

static void w20_an_idle_host_with_a_guest(void **state)
{
	struct counts counts = traced_run("idle");

	(void)state;
	/* Of what ends it. */
	assert_true(all(&counts) <= CALLS_OF_A_WAKE + host_kind.looks);
}

static void w20_wakes_of_a_sleeping_host(void **state)
{
	struct counts counts = traced_run("wakes");

	(void)state;
	/* And the end; now and then the host is found awake. */
	assert_true(all(&counts) <= (TRACED_WAKES + 5) * (CALLS_OF_A_WAKE + host_kind.looks));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w20_an_idle_host_with_a_guest),
	        cmocka_unit_test(w20_wakes_of_a_sleeping_host),
	};

	host_init(&argc, argv);
	if (argc == 2) {
		run(strcmp(argv[1], "idle") ? wake_much : end_later);
		return 0;
	}
	traced_or_skip();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
