/* Messages into an X event stream, from any thread, and what can end an injector. */
#include "fixture.h"
#include "core/fault.h"
#include "xvfb.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct xvfb server;

static rouse_x11_injector *create(struct fixture *f)
{
	rouse_x11_injector *injector = NULL;

	assert_int_equal(rouse_x11_injector_create(f->x11, f->window, &injector), 0);
	return injector;
}

static void x7_payload_of_64_bits(void **state)
{
	static const uint64_t payloads[] = {0,
	                                    1,
	                                    0x7fffffff,
	                                    0x80000000,
	                                    0xffffffff,
	                                    0x100000000,
	                                    0x7fffffff80000000,
	                                    0x8000000000000000,
	                                    0x800000007fffffff,
	                                    0x8000000080000000,
	                                    0xffffffffffffffff};
	struct fixture f;

	(void)state;
	fixture_open(&f, NULL);
	rouse_x11_injector *injector = create(&f);
	for (unsigned i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
		assert_int_equal(rouse_x11_injector_send(injector, payloads[i]), 0);
		fixture_until(f.loop, &f.messages, i + 1);
		assert_true(f.payload == payloads[i]);
	}
	assert_int_equal(f.events, 0);
	rouse_x11_injector_unref(injector);
	fixture_close(&f);
}

struct order {
	rouse_x11_injector *injector;
	char seen[8];
	unsigned count;
};

static void order_event(rouse_loop *loop, rouse_x11 *x11, XEvent *event, void *data)
{
	struct order *order = data;

	(void)loop, (void)x11;
	if (event->type == ClientMessage)
		order->seen[order->count++] = (char)event->xclient.data.l[0];
}

static void order_message(rouse_loop *loop, rouse_x11 *x11, uint64_t payload, void *data)
{
	struct order *order = data;

	(void)loop, (void)x11;
	order->seen[order->count++] = (char)payload;
}

static void x7_messages_are_ordered_within_the_stream(void **state)
{
	struct fixture f;
	struct order order = {0};

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	rouse_x11_options options = {.size = sizeof(options),
	                             .display = f.display,
	                             .data = &order,
	                             .event = order_event,
	                             .message = order_message};
	assert_int_equal(rouse_x11_attach(f.loop, &options, &f.x11), 0);
	rouse_x11_injector *injector = create(&f);
	fixture_send(&f, 'a');
	assert_int_equal(rouse_x11_injector_send(injector, 'b'), 0);
	assert_int_equal(rouse_x11_injector_sync(injector), 0);
	fixture_send(&f, 'c');
	assert_int_equal(rouse_x11_injector_send(injector, 'd'), 0);
	assert_int_equal(rouse_x11_injector_send(injector, 'e'), 0);
	fixture_until(f.loop, &order.count, 5);
	assert_string_equal(order.seen, "abcde");
	rouse_x11_injector_unref(injector);
	fixture_close(&f);
}

static void count_tick(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	++*(unsigned *)data;
}

static void x6_window_gone_is_an_error(void **state)
{
	struct fixture f;
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	unsigned ticks = 0;

	(void)state;
	fixture_open(&f, NULL);
	rouse_x11_injector *asked = create(&f), *read = create(&f);
	assert_int_equal(rouse_x11_injector_send(asked, 1), 0);
	assert_int_equal(rouse_x11_injector_sync(asked), 0);
	fixture_until(f.loop, &f.messages, 1);
	XDestroyWindow(f.display, f.window);
	XSync(f.display, False);
	/* Asked for. */
	assert_true(rouse_x11_injector_send(asked, 2) <= 0);
	assert_int_equal(rouse_x11_injector_sync(asked), ROUSE_ELOST);
	assert_int_equal(rouse_x11_injector_send(asked, 3), ROUSE_ELOST);
	/* Read by the loop: nobody asks, and it does not spin on the error either. */
	assert_true(rouse_x11_injector_send(read, 2) <= 0);
	assert_int_equal(rouse_loop_stats(f.loop, &before), 0);
	assert_int_equal(rouse_timer_add(f.loop, rouse_now(), 10 * MS, 0, count_tick, &ticks, NULL),
	                 0);
	fixture_until(f.loop, &ticks, 20);
	assert_int_equal(rouse_loop_stats(f.loop, &after), 0);
	assert_true(after.turns - before.turns < 100);
	assert_int_equal(rouse_x11_injector_send(read, 3), ROUSE_ELOST);
	/* The display's own errors are another matter. */
	assert_int_equal(f.errors, 0);
	assert_int_equal(f.lost, 0);
	assert_int_equal(f.messages, 1);
	rouse_x11_injector_unref(asked);
	rouse_x11_injector_unref(read);
	fixture_close(&f);
}

static void injector_refuses_bad_arguments(void **state)
{
	struct fixture f;
	rouse_x11_injector *injector = (rouse_x11_injector *)1;

	(void)state;
	fixture_open(&f, NULL);
	Window theirs = XCreateSimpleWindow(f.other, f.window, 0, 0, 9, 9, 0, 0, 0);
	XSync(f.other, False);
	assert_int_equal(rouse_x11_injector_create(NULL, f.window, &injector), ROUSE_EINVAL);
	assert_int_equal(rouse_x11_injector_create(f.x11, f.window, NULL), ROUSE_EINVAL);
	assert_int_equal(rouse_x11_injector_create(f.x11, 0, &injector), ROUSE_EINVAL);
	assert_int_equal(rouse_x11_injector_create(f.x11, DefaultRootWindow(f.display), &injector),
	                 ROUSE_EINVAL);
	assert_int_equal(rouse_x11_injector_create(f.x11, theirs, &injector), ROUSE_EINVAL);
	assert_int_equal(rouse_x11_injector_create(f.x11, f.window | UINT64_C(1) << 32, &injector),
	                 ROUSE_EINVAL);
	assert_int_equal(rouse_x11_injector_create(f.x11, f.window + 1000, &injector), ROUSE_ELOST);
	assert_ptr_equal(injector, (rouse_x11_injector *)1);
	assert_int_equal(rouse_x11_injector_send(NULL, 1), ROUSE_EINVAL);
	assert_int_equal(rouse_x11_injector_sync(NULL), ROUSE_EINVAL);
	assert_null(rouse_x11_injector_ref(NULL));
	assert_null(rouse_x11_injector_unref(NULL));
	/* A window whose request nobody has written yet. */
	f.window =
	        XCreateSimpleWindow(f.display, DefaultRootWindow(f.display), 0, 0, 9, 9, 0, 0, 0);
	rouse_x11_injector_unref(create(&f));
	/* Not even a loop's turn: the end cleans up. */
	rouse_x11_injector_unref(create(&f));
	fixture_close(&f);
}

static void f9_no_descriptors_left(void **state)
{
	struct fixture f;
	struct rlimit old, low;
	rouse_x11_injector *injector = NULL;

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	int result = rouse_x11_injector_create(f.x11, f.window, &injector);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(result, ROUSE_ELIMIT);
	assert_null(injector);
	rouse_x11_injector_unref(create(&f));
	fixture_close(&f);
}

static void f11_descriptors_of_an_injector(void **state)
{
	enum { MOST = 64 };
	struct fixture f;
	int saved[3];
	bool before[MOST], standard_used = false, inherited = false;
	unsigned ours = 0;

	(void)state;
	fixture_open(&f, NULL);
	for (int i = 0; i < 3; i++)
		saved[i] = fcntl(i, F_DUPFD_CLOEXEC, MOST);
	for (int i = 0; i < MOST; i++)
		before[i] = fcntl(i, F_GETFD) >= 0;
	for (int i = 0; i < 3; i++)
		close(i);
	rouse_x11_injector *injector = create(&f);
	for (int i = 0; i < 3; i++)
		standard_used |= fcntl(i, F_GETFD) >= 0;
	for (int i = 0; i < 3; i++)
		dup2(saved[i], i);
	for (int i = 3; i < MOST; i++) {
		int flags = fcntl(i, F_GETFD);
		if (flags < 0 || before[i])
			continue;
		ours++;
		inherited |= !(flags & FD_CLOEXEC);
	}
	for (int i = 0; i < 3; i++)
		close(saved[i]);
	assert_false(standard_used);
	assert_false(inherited);
	assert_int_equal(ours, 1);
	rouse_x11_injector_unref(injector);
	fixture_close(&f);
}

enum { SENDERS = 4, SENDS = 500 };

static void *send_many(void *data)
{
	rouse_x11_injector *injector = data;
	uintptr_t failed = 0;

	for (int i = 0; i < SENDS; i++)
		failed |= rouse_x11_injector_send(injector, 1) != 0;
	failed |= rouse_x11_injector_sync(injector) != 0;
	rouse_x11_injector_unref(injector);
	return (void *)failed;
}

static void x7_many_senders(void **state)
{
	struct fixture f;
	pthread_t threads[SENDERS];

	(void)state;
	fixture_open(&f, NULL);
	rouse_x11_injector *injector = create(&f);
	for (int i = 0; i < SENDERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, send_many,
		                                rouse_x11_injector_ref(injector)),
		                 0);
	rouse_x11_injector_unref(injector);
	fixture_until(f.loop, &f.messages, SENDERS * SENDS);
	for (int i = 0; i < SENDERS; i++) {
		void *failed;
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	fixture_settle(f.loop);
	assert_int_equal(f.messages, SENDERS * SENDS);
	fixture_close(&f);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void *unref(void *data)
{
	rouse_x11_injector_unref(data);
	return NULL;
}

static void in_thread(void *(*what)(void *data), void *data)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, what, data), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* The last reference goes first, on another thread; the source leaves on the loop's. */
static void l1_last_reference_on_another_thread(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, NULL);
	unsigned before = open_descriptors();
	rouse_x11_injector *injector = create(&f);
	assert_int_equal(open_descriptors(), before + 1);
	in_thread(unref, injector);
	fixture_settle(f.loop);
	assert_int_equal(open_descriptors(), before);
	/* And the loop before its turn. */
	in_thread(unref, create(&f));
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	assert_int_equal(rouse_loop_destroy(f.loop), 0);
	assert_int_equal(rouse_loop_create(NULL, &f.loop), 0);
	f.x11 = NULL;
	assert_int_equal(open_descriptors(), before);
	fixture_close(&f);
}

static void l2_injector_outlives_attachment_and_loop(void **state)
{
	struct fixture f;

	(void)state;
	fixture_open(&f, NULL);
	rouse_x11_injector *first = create(&f), *second = create(&f);
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	f.x11 = NULL;
	assert_int_equal(rouse_x11_injector_send(first, 1), ROUSE_ELOST);
	assert_int_equal(rouse_x11_injector_sync(first), ROUSE_ELOST);
	rouse_x11_injector_unref(first);
	fixture_close(&f);
	assert_int_equal(rouse_x11_injector_send(second, 1), ROUSE_ELOST);
	rouse_x11_injector_unref(second);
}

/* A thread held where its task is in the queue, and the doorbell not rung yet. */
struct held {
	rouse_x11_injector *injector;
	atomic_int armed;
	sem_t reached, go;
};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		;
}

static void hold_at(enum rouse__point point, void *data)
{
	struct held *held = data;
	int armed = 1;

	if (point != ROUSE__PUBLISHED || !atomic_compare_exchange_strong(&held->armed, &armed, 0))
		return;
	sem_post(&held->reached);
	wait_for(&held->go);
}

static void *unref_held(void *data)
{
	struct held *held = data;

	rouse_x11_injector_unref(held->injector);
	return NULL;
}

/* The last user has posted its task, and is going to ring; meanwhile something else wakes the
 * loop, so that the task runs, and the loop ends. */
static void l2_last_user_held_while_the_loop_ends(void **state)
{
	struct fixture f;
	struct held held = {.armed = 1};
	pthread_t thread;
	rouse_ns deadline;

	(void)state;
	fixture_open(&f, NULL);
	unsigned before = open_descriptors();
	held.injector = create(&f);
	/* A guest's queue always says that its loop sleeps: who queues, rings. */
	assert_int_equal(rouse_loop_prepare(f.loop, 0, &deadline), 0);
	fixture_settle(f.loop);
	sem_init(&held.reached, 0, 0);
	sem_init(&held.go, 0, 0);
	rouse__fault_pause(hold_at, &held);
	assert_int_equal(pthread_create(&thread, NULL, unref_held, &held), 0);
	wait_for(&held.reached);
	fixture_settle(f.loop);
	assert_int_equal(open_descriptors(), before);
	fixture_close(&f);
	sem_post(&held.go);
	assert_int_equal(pthread_join(thread, NULL), 0);
	rouse__fault_pause(NULL, NULL);
	sem_destroy(&held.reached);
	sem_destroy(&held.go);
}

struct race {
	pthread_barrier_t barrier;
	rouse_x11_injector *injector;
	int rounds;
};

static void *race_unref(void *data)
{
	struct race *race = data;

	for (int i = 0; i < race->rounds; i++) {
		pthread_barrier_wait(&race->barrier);
		if (rouse_x11_injector_send(race->injector, 1) == 0)
			(void)!rouse_x11_injector_sync(race->injector);
		rouse_x11_injector_unref(race->injector);
		pthread_barrier_wait(&race->barrier);
	}
	return NULL;
}

static void l2_last_reference_races_the_end_of_the_loop(void **state)
{
	struct race race = {.rounds = 60};
	pthread_t thread;
	struct fixture f;

	(void)state;
	fixture_open(&f, NULL);
	unsigned before = open_descriptors();
	pthread_barrier_init(&race.barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, race_unref, &race), 0);
	for (int i = 0; i < race.rounds; i++) {
		race.injector = create(&f);
		pthread_barrier_wait(&race.barrier);
		if (i % 3 == 0)
			fixture_settle(f.loop);
		if (i % 2 == 0)
			assert_int_equal(rouse_x11_detach(f.x11), 0);
		assert_int_equal(rouse_loop_destroy(f.loop), 0);
		pthread_barrier_wait(&race.barrier);
		rouse_x11_options options = fixture_options(&f);
		assert_int_equal(rouse_loop_create(NULL, &f.loop), 0);
		assert_int_equal(rouse_x11_attach(f.loop, &options, &f.x11), 0);
	}
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_barrier_destroy(&race.barrier);
	assert_int_equal(open_descriptors(), before);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x7_payload_of_64_bits),
	        cmocka_unit_test(x7_messages_are_ordered_within_the_stream),
	        cmocka_unit_test(x7_many_senders),
	        cmocka_unit_test(x6_window_gone_is_an_error),
	        cmocka_unit_test(injector_refuses_bad_arguments),
	        cmocka_unit_test(f9_no_descriptors_left),
	        cmocka_unit_test(f11_descriptors_of_an_injector),
	        cmocka_unit_test(l1_last_reference_on_another_thread),
	        cmocka_unit_test(l2_injector_outlives_attachment_and_loop),
	        cmocka_unit_test(l2_last_user_held_while_the_loop_ends),
	        cmocka_unit_test(l2_last_reference_races_the_end_of_the_loop),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
