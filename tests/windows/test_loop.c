/* Wakes, posts and timers beside a window of the library's. */
#include "subject.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- Wakes ------------------------------------------------------------------- */

static void w4_wake_before_the_first_turn(void **state)
{
	struct subject s = {0};
	rouse_waker *waker;
	unsigned wakes = 0;

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(rouse_waker_create(s.loop, fixture_count_wake, &wakes, &waker), 0);
	assert_true(rouse_wake(waker) >= 0);
	fixture_prompt_turn(s.loop);
	fixture_settle(s.loop);
	assert_int_equal(wakes, 1);
	rouse_waker_unref(waker);
	subject_close(&s);
}

static void w5_delivered_once_in_whichever_turn_is_first(void **state)
{
	struct subject s = {0};
	rouse_waker *waker;
	unsigned wakes = 0, ticks = 0;

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(rouse_waker_create(s.loop, fixture_count_wake, &wakes, &waker), 0);
	assert_int_equal(rouse_timer_add(s.loop, rouse_now() + 20 * MS, 0, 0, fixture_count_timer,
	                                 &ticks, NULL),
	                 0);
	assert_true(rouse_wake(waker) >= 0);
	assert_true(rouse_loop_turn(s.loop, 0) >= 1);
	assert_int_equal(wakes, 1);
	fixture_until(s.loop, &ticks, 1);
	assert_int_equal(wakes, 1);
	rouse_waker_unref(waker);
	subject_close(&s);
}

struct again {
	rouse_waker *waker;
	unsigned runs, wanted;
};

static void wake_again(rouse_loop *loop, void *data)
{
	struct again *again = data;

	(void)loop;
	if (++again->runs < again->wanted)
		assert_true(rouse_wake(again->waker) >= 0);
}

static void w6_wake_in_the_callback_is_one_more_run_later(void **state)
{
	struct subject s = {0};
	struct again again = {.wanted = 2};

	(void)state;
	subject_open(&s, NULL);
	assert_int_equal(rouse_waker_create(s.loop, wake_again, &again, &again.waker), 0);
	assert_true(rouse_wake(again.waker) >= 0);
	fixture_prompt_turn(s.loop);
	assert_int_equal(again.runs, 1);
	fixture_prompt_turn(s.loop);
	assert_int_equal(again.runs, 2);
	fixture_settle(s.loop);
	assert_int_equal(again.runs, 2);
	rouse_waker_unref(again.waker);
	subject_close(&s);
}

/* ---- Posts -------------------------------------------------------------------- */

enum { PRODUCERS = 8, POSTS = 1000000 };

struct producer {
	rouse_remote *remote;
	struct receipt *receipts;
	unsigned count, failed;
};

struct receipt {
	struct tally *tally;
	unsigned producer, number;
};

struct tally {
	pthread_t thread;
	unsigned run, disordered, elsewhere, next[PRODUCERS];
};

static void receive(rouse_loop *loop, void *data)
{
	struct receipt *receipt = data;
	struct tally *tally = receipt->tally;

	(void)loop;
	tally->run++;
	tally->elsewhere += !pthread_equal(pthread_self(), tally->thread);
	tally->disordered += receipt->number != tally->next[receipt->producer]++;
}

static void *produce(void *data)
{
	struct producer *p = data;

	for (unsigned i = 0; i < p->count; i++)
		p->failed += rouse_post(p->remote, receive, &p->receipts[i], NULL) != 0;
	return NULL;
}

static void q1_posts_run_once_and_in_order(void **state)
{
	struct subject s = {0};
	struct tally tally = {.thread = pthread_self()};
	struct producer producers[PRODUCERS];
	unsigned each = fixture_scaled(POSTS) / PRODUCERS;
	struct receipt *receipts = test_calloc((size_t)each * PRODUCERS, sizeof(*receipts));
	pthread_t threads[PRODUCERS];

	(void)state;
	subject_open(&s, NULL);
	/* Before the loop runs, too. */
	for (unsigned p = 0; p < PRODUCERS; p++) {
		producers[p] = (struct producer){.remote = rouse_loop_remote(s.loop),
		                                 .receipts = &receipts[p * each],
		                                 .count = each};
		for (unsigned i = 0; i < each; i++)
			receipts[p * each + i] = (struct receipt){&tally, p, i};
		assert_int_equal(pthread_create(&threads[p], NULL, produce, &producers[p]), 0);
	}
	while (tally.run < each * PRODUCERS)
		assert_true(rouse_loop_turn(s.loop, rouse_now() + LONG) >= 1);
	for (unsigned p = 0; p < PRODUCERS; p++) {
		assert_int_equal(pthread_join(threads[p], NULL), 0);
		assert_int_equal(producers[p].failed, 0);
		rouse_remote_unref(producers[p].remote);
	}
	fixture_settle(s.loop);
	assert_int_equal(tally.run, each * PRODUCERS);
	assert_int_equal(tally.disordered + tally.elsewhere, 0);
	test_free(receipts);
	subject_close(&s);
}

struct flooder {
	rouse_remote *remote;
	atomic_bool stop;
	atomic_uint under_way;
};

static void drop(rouse_loop *loop, void *data)
{
	(void)loop;
	atomic_fetch_sub(&((struct flooder *)data)->under_way, 1);
}

static void *flood(void *data)
{
	struct flooder *f = data;

	while (!atomic_load(&f->stop)) {
		/* Always more than a turn takes. */
		if (atomic_load(&f->under_way) > 8 * ROUSE_DEFAULT_BATCH)
			continue;
		atomic_fetch_add(&f->under_way, 1);
		if (rouse_post(f->remote, drop, f, NULL) < 0)
			break;
	}
	return NULL;
}

static void q3_floods_of_posts_do_not_starve_events(void **state)
{
	struct subject s = {0};
	struct flooder flooder = {0};
	pthread_t threads[2];
	unsigned worst = 0;

	(void)state;
	subject_open(&s, NULL);
	flooder.remote = rouse_loop_remote(s.loop);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, flood, &flooder), 0);
	for (unsigned i = 1; i <= 200; i++) {
		unsigned turns = 0;

		subject_send(&s, 1);
		while (s.events < i) {
			assert_true(rouse_loop_turn(s.loop, rouse_now() + LONG) >= 0);
			turns++;
		}
		worst = turns > worst ? turns : worst;
	}
	atomic_store(&flooder.stop, true);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	/* A turn has a budget of posts; that is the whole wait. */
	assert_in_range(worst, 1, 2);
	fixture_settle(s.loop);
	assert_int_equal(atomic_load(&flooder.under_way), 0);
	rouse_remote_unref(flooder.remote);
	subject_close(&s);
}

/* ---- Timers ------------------------------------------------------------------- */

struct early {
	unsigned fired;
	rouse_remote *remote;
};

static void add_timer(rouse_loop *loop, void *data)
{
	assert_int_equal(
	        rouse_timer_add(loop, rouse_now() + MS, 0, 0, fixture_count_timer, data, NULL), 0);
}

static void *post_timer(void *data)
{
	struct early *early = data;

	return rouse_post(early->remote, add_timer, &early->fired, NULL) == 0 ? data : NULL;
}

static void t1_earlier_timer_from_another_thread(void **state)
{
	struct subject s = {0};
	struct early early = {0};
	unsigned late = 0;
	pthread_t thread;
	void *posted;

	(void)state;
	subject_open(&s, NULL);
	early.remote = rouse_loop_remote(s.loop);
	assert_int_equal(
	        rouse_timer_add(s.loop, rouse_now() + LONG, 0, 0, fixture_count_timer, &late, NULL),
	        0);
	assert_int_equal(pthread_create(&thread, NULL, post_timer, &early), 0);
	fixture_until(s.loop, &early.fired, 1);
	assert_int_equal(late, 0);
	assert_int_equal(pthread_join(thread, &posted), 0);
	assert_non_null(posted);
	rouse_remote_unref(early.remote);
	subject_close(&s);
}

/* ---- Round trips ---------------------------------------------------------------- */

static void round_trip(struct subject *s)
{
	++*(unsigned *)s->data;
	server_round_trip(s);
}

static void round_trip_in_a_post(rouse_loop *loop, void *data)
{
	(void)loop;
	round_trip(data);
}

static void round_trip_in_a_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline,
                                  void *data)
{
	(void)loop, (void)self, (void)deadline;
	round_trip(data);
}

/* With an event under way each time, which it may read. */
static void y4_round_trips_in_every_callback(void **state)
{
	struct subject s = {0};
	unsigned trips = 0, before;
	rouse_remote *remote;

	(void)state;
	subject_open(&s, NULL);
	remote = rouse_loop_remote(s.loop);
	s.data = &trips;
	s.on_event = s.on_after = round_trip;
	for (unsigned i = 1; i <= 50; i++) {
		before = trips;
		subject_ask(&s, 2);
		assert_int_equal(rouse_post(remote, round_trip_in_a_post, &s, NULL), 0);
		assert_int_equal(
		        rouse_timer_add(s.loop, rouse_now(), 0, 0, round_trip_in_a_timer, &s, NULL),
		        0);
		fixture_until(s.loop, &s.events, 2 * i);
		fixture_until(s.loop, &trips, before + 4);
	}
	rouse_remote_unref(remote);
	subject_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(w4_wake_before_the_first_turn),
	        cmocka_unit_test(w5_delivered_once_in_whichever_turn_is_first),
	        cmocka_unit_test(w6_wake_in_the_callback_is_one_more_run_later),
	        cmocka_unit_test(q1_posts_run_once_and_in_order),
	        cmocka_unit_test(q3_floods_of_posts_do_not_starve_events),
	        cmocka_unit_test(t1_earlier_timer_from_another_thread),
	        cmocka_unit_test(y4_round_trips_in_every_callback),
	};

	subject_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
