/* What a guest may rely on in every host: wakes, posts, floods, timers. */
#include "guest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- W: wakes -------------------------------------------------------------------------- */

static void w4_wake_before_the_host_ever_ran(void **state)
{
	struct guest *guest = *state;
	unsigned runs = 0, before = 0;
	rouse_waker *waker;

	assert_int_equal(host_detach(), 0);
	assert_int_equal(rouse_waker_create(guest->loop, fixture_count_wake, &runs, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	assert_true(rouse_post(guest->remote, count_post, &before, NULL) >= 0);
	assert_int_equal(host_attach(guest->loop), 0);
	assert_int_equal(runs, 0);
	UNTIL(runs && before);
	settle();
	assert_int_equal(runs, 1);
	assert_int_equal(before, 1);
	rouse_waker_unref(waker);
}

static void w5_wake_then_an_iteration_that_does_not_wait_then_one_that_does(void **state)
{
	struct guest *guest = *state;
	unsigned runs = 0;
	rouse_waker *waker;

	settle();
	assert_int_equal(rouse_waker_create(guest->loop, fixture_count_wake, &runs, &waker), 0);
	for (unsigned i = 1; i <= 100; i++) {
		assert_true(rouse_wake(waker) >= 0);
		if (i % 2)
			host_poll();
		UNTIL(runs == i);
		host_poll();
		assert_int_equal(runs, i);
	}
	rouse_waker_unref(waker);
}

struct rewake {
	rouse_waker *waker;
	unsigned runs, inside;
};

static void wake_again(rouse_loop *loop, void *data)
{
	struct rewake *r = data;

	(void)loop;
	r->inside++;
	assert_int_equal(r->inside, 1);
	if (++r->runs == 1)
		assert_true(rouse_wake(r->waker) >= 0);
	r->inside--;
}

static void w6_wake_inside_its_callback_is_one_more_run(void **state)
{
	struct guest *guest = *state;
	struct rewake r = {0};

	assert_int_equal(rouse_waker_create(guest->loop, wake_again, &r, &r.waker), 0);
	assert_true(rouse_wake(r.waker) >= 0);
	UNTIL(r.runs == 2);
	settle();
	assert_int_equal(r.runs, 2);
	rouse_waker_unref(r.waker);
}

/* From another thread, each while the host sleeps, or is about to. */
struct ping {
	struct guest *guest;
	rouse_waker *waker;
	atomic_uint runs;
	unsigned count;
};

static void pong(rouse_loop *loop, void *data)
{
	(void)loop;
	atomic_fetch_add(&((struct ping *)data)->runs, 1);
}

static void *wake_each(void *data)
{
	struct ping *p = data;

	for (unsigned i = 1; i <= p->count; i++) {
		assert_true(rouse_wake(p->waker) >= 0);
		while (atomic_load(&p->runs) < i)
			;
	}
	return NULL;
}

static void w13_wakes_of_a_sleeping_host(void **state)
{
	struct ping p = {.guest = *state, .count = fixture_scaled(20000)};
	pthread_t thread;

	assert_int_equal(rouse_waker_create(p.guest->loop, pong, &p, &p.waker), 0);
	assert_int_equal(pthread_create(&thread, NULL, wake_each, &p), 0);
	UNTIL(atomic_load(&p.runs) == p.count);
	pthread_join(thread, NULL);
	rouse_waker_unref(p.waker);
}

/* ---- Q: posts ---------------------------------------------------------------------------- */

enum { THREADS = 8 };

struct poster {
	struct guest *guest;
	struct posted *posts;
	unsigned count;
};

struct posted {
	unsigned number;
	unsigned *last, *ran;
	pthread_t loops_thread;
};

static void in_order(rouse_loop *loop, void *data)
{
	struct posted *post = data;

	(void)loop;
	assert_true(pthread_equal(pthread_self(), post->loops_thread));
	assert_int_equal(post->number, *post->last + 1);
	*post->last = post->number;
	++*post->ran;
}

static void *post_all(void *data)
{
	struct poster *p = data;

	for (unsigned i = 0; i < p->count; i++)
		if (rouse_post(p->guest->remote, in_order, &p->posts[i], NULL) < 0)
			return p;
	return NULL;
}

static void q1_every_post_once_and_in_order(void **state)
{
	struct guest *guest = *state;
	struct poster posters[THREADS];
	unsigned count = fixture_scaled(20000), last[THREADS] = {0}, ran = 0;
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++) {
		posters[i] = (struct poster){guest, calloc(count, sizeof(struct posted)), count};
		for (unsigned j = 0; j < count; j++)
			posters[i].posts[j] =
			        (struct posted){j + 1, &last[i], &ran, pthread_self()};
		assert_int_equal(pthread_create(&threads[i], NULL, post_all, &posters[i]), 0);
	}
	UNTIL(ran == THREADS * count);
	for (unsigned i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
		free(posters[i].posts);
	}
	settle();
	assert_int_equal(ran, THREADS * count);
}

/* ---- Floods --------------------------------------------------------------------------------- */

struct flood {
	struct guest *guest;
	atomic_bool stop;
	atomic_uint under_way;
	pthread_t threads[2];
};

static void flooded(rouse_loop *loop, void *data)
{
	(void)loop;
	atomic_fetch_sub(&((struct flood *)data)->under_way, 1);
}

/* Always more than a turn runs, and not without end. */
static void *flood(void *data)
{
	struct flood *f = data;

	while (!atomic_load(&f->stop)) {
		if (atomic_load(&f->under_way) > 20000)
			continue;
		atomic_fetch_add(&f->under_way, 1);
		if (rouse_post(f->guest->remote, flooded, f, NULL) < 0)
			return f;
	}
	return NULL;
}

static void flood_begin(struct flood *f, struct guest *guest)
{
	f->guest = guest;
	atomic_init(&f->stop, false);
	atomic_init(&f->under_way, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&f->threads[i], NULL, flood, f), 0);
}

static void flood_end(struct flood *f)
{
	atomic_store(&f->stop, true);
	for (int i = 0; i < 2; i++) {
		void *failed;

		pthread_join(f->threads[i], &failed);
		assert_null(failed);
	}
	UNTIL(atomic_load(&f->under_way) == 0);
}

static void q3_a_flood_of_posts_starves_neither_the_host_nor_descriptors(void **state)
{
	struct guest *guest = *state;
	unsigned ticks = 0, reads = 0, timers = 0;
	struct flood f;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(rouse_fd_add(guest->loop, fds[0], ROUSE_READABLE, count_fd, &reads, NULL),
	                 0);
	assert_int_equal(rouse_timer_add(guest->loop, rouse_now(), MS, 0, fixture_count_timer,
	                                 &timers, NULL),
	                 0);
	host_tick(count_tick, &ticks);
	flood_begin(&f, guest);
	for (unsigned i = 1; i <= 50; i++) {
		unsigned before = ticks;

		write_byte(&fds[1]);
		UNTIL(reads >= i && ticks > before && timers >= i);
	}
	flood_end(&f);
	host_tick(NULL, NULL);
	/* Still watched: the loop goes first. */
	assert_int_equal(host_detach(), 0);
	assert_int_equal(rouse_loop_destroy(guest->loop), 0);
	guest->loop = NULL;
	close(fds[0]);
	close(fds[1]);
}

static void x4_a_busy_host_starves_nothing_of_the_loops(void **state)
{
	struct guest *guest = *state;
	unsigned posts = 0, timers = 0;

	host_busy(true);
	assert_int_equal(rouse_timer_add(guest->loop, rouse_now(), MS, 0, fixture_count_timer,
	                                 &timers, NULL),
	                 0);
	for (unsigned i = 1; i <= 50; i++) {
		assert_true(rouse_post(guest->remote, count_post, &posts, NULL) >= 0);
		UNTIL(posts == i && timers >= i);
	}
	assert_true(host_busy_runs > 0);
	host_busy(false);
}

/* ---- T: timers --------------------------------------------------------------------------------
 */

struct soon {
	unsigned fired, far;
	rouse_source source;
	rouse_ns added, at;
};

static void fire(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct soon *s = data;

	(void)self;
	s->fired++;
	s->at = rouse_loop_now(loop);
	assert_true(s->at >= deadline);
}

static void add_soon(rouse_loop *loop, void *data)
{
	struct soon *s = data;

	s->added = rouse_loop_now(loop);
	assert_int_equal(rouse_timer_add(loop, s->added + MS, 0, 0, fire, s, &s->source), 0);
}

static void *post_a_timer(void *data)
{
	void **both = data;

	usleep(20000);
	return rouse_post(((struct guest *)both[0])->remote, add_soon, both[1], NULL) < 0 ? data
	                                                                                  : NULL;
}

static void t1_a_timer_that_another_thread_posts_to_a_sleeping_host(void **state)
{
	struct guest *guest = *state;
	struct soon s = {0};
	void *both[] = {guest, &s}, *failed;
	pthread_t thread;
	rouse_source far;
	rouse_ns start = rouse_now();

	/* So long that it is the test's end. */
	assert_int_equal(rouse_timer_add(guest->loop, start + 3600000 * MS, 0, 0,
	                                 fixture_count_timer, &s.far, &far),
	                 0);
	assert_int_equal(pthread_create(&thread, NULL, post_a_timer, both), 0);
	UNTIL(s.fired);
	pthread_join(thread, &failed);
	assert_null(failed);
	/* From the host's own code, and the earliest is removed. */
	for (int i = 0; i < 20; i++) {
		rouse_source earliest;
		unsigned never = 0;

		s.fired = 0;
		s.added = rouse_now();
		assert_int_equal(rouse_timer_add(guest->loop, s.added + MS, 0, 0,
		                                 fixture_count_timer, &never, &earliest),
		                 0);
		assert_int_equal(
		        rouse_timer_add(guest->loop, s.added + 3 * MS, 0, 0, fire, &s, &s.source),
		        0);
		assert_int_equal(rouse_remove(guest->loop, earliest), 0);
		UNTIL(s.fired);
		assert_int_equal(never, 0);
	}
	assert_int_equal(s.far, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        guest_test(w4_wake_before_the_host_ever_ran),
	        guest_test(w5_wake_then_an_iteration_that_does_not_wait_then_one_that_does),
	        guest_test(w6_wake_inside_its_callback_is_one_more_run),
	        guest_test(w13_wakes_of_a_sleeping_host),
	        guest_test(q1_every_post_once_and_in_order),
	        guest_test(q3_a_flood_of_posts_starves_neither_the_host_nor_descriptors),
	        guest_test(x4_a_busy_host_starves_nothing_of_the_loops),
	        guest_test(t1_a_timer_that_another_thread_posts_to_a_sleeping_host),
	};

	host_init(&argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
