/* The queue and the doorbell, one thread held at each point where another can come between. */
#include "env.h"

#include "core/fault.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

/* Holds the first thread that reaches the point until let go. */
struct hold {
	enum rouse__point point;
	atomic_int armed;
	sem_t reached, go;
};

static void hold_at(enum rouse__point point, void *data)
{
	struct hold *h = data;
	int armed = 1;

	if (point != h->point || !atomic_compare_exchange_strong(&h->armed, &armed, 0))
		return;
	sem_post(&h->reached);
	while (sem_wait(&h->go))
		;
}

static void arm_hold(struct hold *h, enum rouse__point point)
{
	h->point = point;
	sem_init(&h->reached, 0, 0);
	sem_init(&h->go, 0, 0);
	atomic_store(&h->armed, 1);
	rouse__fault_pause(hold_at, h);
}

static void wait_reached(struct hold *h)
{
	while (sem_wait(&h->reached))
		;
}

static void let_go(struct hold *h)
{
	sem_post(&h->go);
}

static void end_hold(struct hold *h)
{
	rouse__fault_pause(NULL, NULL);
	sem_destroy(&h->reached);
	sem_destroy(&h->go);
}

struct actor {
	struct hold hold;
	rouse_waker *waker;
	rouse_remote *remote;
	atomic_int written, wake_result, post_result;
	int wakes, posts, read;
	atomic_int done;
};

static void woken(rouse_loop *loop, void *data)
{
	struct actor *a = data;

	(void)loop;
	a->wakes++;
	a->read = atomic_load_explicit(&a->written, memory_order_relaxed);
}

static void posted(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct actor *)data)->posts++;
}

static void actor_init(struct env *env, struct actor *a)
{
	*a = (struct actor){.remote = rouse_loop_remote(env->loop)};
	assert_int_equal(rouse_waker_create(env->loop, woken, a, &a->waker), 0);
	env_drain(env);
}

static void actor_end(struct actor *a)
{
	end_hold(&a->hold);
	rouse_waker_unref(a->waker);
	rouse_remote_unref(a->remote);
}

/* ---- W3, W14: the loop is held; a wake and a post return, and are served ------------------- */

static void *wake_and_post_while_held(void *data)
{
	struct actor *a = data;

	wait_reached(&a->hold);
	atomic_store_explicit(&a->written, 1, memory_order_relaxed);
	atomic_store(&a->wake_result, rouse_wake(a->waker));
	atomic_store(&a->post_result, rouse_post(a->remote, posted, a, NULL));
	let_go(&a->hold);
	return NULL;
}

static void hold_loop_at(struct env *env, enum rouse__point point)
{
	struct actor a;
	pthread_t thread;

	actor_init(env, &a);
	/* Something that ends the wait, so that the points after it are reached. */
	if (point == ROUSE__TOOK || point == ROUSE__WOKE)
		assert_true(rouse_wake(a.waker) >= 0);
	arm_hold(&a.hold, point);
	thread = env_start(wake_and_post_while_held, &a);
	ENV_UNTIL(env, a.posts && a.read);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&a.wake_result) >= 0);
	assert_int_equal(atomic_load(&a.post_result), 0);
	env_drain(env);
	assert_int_equal(a.posts, 1);
	assert_in_range(a.wakes, 1, 2);
	actor_end(&a);
}

static void w3_between_looking_empty_and_marked_asleep(void **state)
{
	hold_loop_at(*state, ROUSE__QUEUE_LOOKED_EMPTY);
}

static void w3_between_marked_asleep_and_the_wait(void **state)
{
	hold_loop_at(*state, ROUSE__MARKED_ASLEEP);
}

static void w3_between_the_wait_and_taking(void **state)
{
	hold_loop_at(*state, ROUSE__WOKE);
}

static void w3_between_taking_a_waker_and_clearing_it(void **state)
{
	hold_loop_at(*state, ROUSE__TOOK);
}

/* A guest that rang itself takes that ring back when nothing is left; another thread's, which
 * came just before, goes with it. */
static void w3_before_a_guest_takes_its_ring_back(void **state)
{
	struct env *env = *state;
	struct actor a;
	pthread_t thread;

	actor_init(env, &a);
	/* Two things to run: the ring that covers the second. */
	for (int i = 0; i < 2; i++)
		assert_int_equal(rouse_post(a.remote, posted, &a, NULL), 0);
	arm_hold(&a.hold, ROUSE__TAKING_BACK);
	thread = env_start(wake_and_post_while_held, &a);
	ENV_UNTIL(env, a.posts == 3 && a.read);
	env_join(thread);
	actor_end(&a);
}

/* ---- W14: a producer is held; the loop, and other producers, go on ----------------------------
 */

static void *wake_held(void *data)
{
	struct actor *a = data;

	atomic_store(&a->wake_result, rouse_wake(a->waker));
	atomic_store(&a->done, 1);
	return NULL;
}

static void w14_a_waker_held_before_it_is_queued_holds_nobody(void **state)
{
	struct env *env = *state;
	struct actor a;
	pthread_t thread;

	actor_init(env, &a);
	arm_hold(&a.hold, ROUSE__SET_PENDING);
	thread = env_start(wake_held, &a);
	wait_reached(&a.hold);
	/* Pending, and not in the queue: another wake returns, and so do turn and post. */
	assert_int_equal(rouse_wake(a.waker), 0);
	assert_int_equal(rouse_post(a.remote, posted, &a, NULL), 0);
	env_drain(env);
	assert_int_equal(a.posts, 1);
	assert_int_equal(a.wakes, 0);
	let_go(&a.hold);
	ENV_UNTIL(env, a.wakes);
	pthread_join(thread, NULL);
	env_drain(env);
	assert_int_equal(a.wakes, 1);
	actor_end(&a);
}

static void w14_a_producer_held_before_it_rings_holds_nobody(void **state)
{
	struct env *env = *state;
	struct actor a;
	pthread_t thread;

	actor_init(env, &a);
	arm_hold(&a.hold, ROUSE__PUBLISHED);
	thread = env_start(wake_held, &a);
	wait_reached(&a.hold);
	assert_int_equal(rouse_post(a.remote, posted, &a, NULL), 0);
	/* Its node is in the queue.  A bracket's host looks there; one that trusts the
	 * descriptor alone must wait for the ring. */
	if (env->host == DESCRIPTOR)
		assert_true(rouse_loop_turn(env->loop, 0) >= 0);
	ENV_UNTIL(env, a.wakes && a.posts);
	assert_int_equal(atomic_load(&a.done), 0);
	let_go(&a.hold);
	pthread_join(thread, NULL);
	env_drain(env);
	assert_int_equal(a.wakes, 1);
	actor_end(&a);
}

static void w14_destroy_does_not_wait_for_a_held_producer(void **state)
{
	static const enum rouse__point points[] = {ROUSE__SET_PENDING, ROUSE__PUBLISHED};
	struct env *env = *state;

	for (int i = 0; i < 2; i++) {
		struct actor a;
		pthread_t thread;

		actor_init(env, &a);
		arm_hold(&a.hold, points[i]);
		thread = env_start(wake_held, &a);
		wait_reached(&a.hold);
		env_close(env);
		let_go(&a.hold);
		pthread_join(thread, NULL);
		if (points[i] == ROUSE__SET_PENDING)
			assert_int_equal(atomic_load(&a.wake_result), ROUSE_ECLOSED);
		assert_int_equal(a.wakes, 0);
		assert_int_equal(rouse_wake(a.waker), ROUSE_ECLOSED);
		actor_end(&a);
		env_open(env, 0);
	}
}

static void *unref_held(void *data)
{
	struct actor *a = data;

	rouse_waker_unref(a->waker);
	atomic_store(&a->done, 1);
	return NULL;
}

/* The last user queues the waker so that the loop takes it off its list; meanwhile it ends. */
static void w14_last_user_held_while_the_loop_ends(void **state)
{
	struct env *env = *state;
	struct actor a;
	pthread_t thread;

	actor_init(env, &a);
	arm_hold(&a.hold, ROUSE__PUBLISHED);
	thread = env_start(unref_held, &a);
	wait_reached(&a.hold);
	env_close(env);
	let_go(&a.hold);
	pthread_join(thread, NULL);
	end_hold(&a.hold);
	rouse_remote_unref(a.remote);
}

/* ---- W13: two loops, one wake each way at a time --------------------------------------------- */

struct ping {
	rouse_waker *mine, *theirs;
	unsigned rounds, seen;
	rouse_loop *loop;
};

static void pong(rouse_loop *loop, void *data)
{
	struct ping *p = data;

	p->seen++;
	if (p->theirs)
		(void)rouse_wake(p->theirs);
	if (p->seen == p->rounds)
		(void)rouse_loop_stop(loop);
}

struct pair {
	struct ping here, there;
	const char *poller;
	sem_t ready;
	int error;
};

static void *other_loop(void *data)
{
	struct pair *pair = data;
	rouse_loop_options options = {.size = sizeof options, .poller = pair->poller};
	rouse_loop *loop;

	pair->error = rouse_loop_create(&options, &loop);
	if (!pair->error)
		pair->error = rouse_waker_create(loop, pong, &pair->there, &pair->there.mine);
	sem_post(&pair->ready);
	if (pair->error)
		return NULL;
	pair->error = rouse_loop_run(loop);
	rouse_loop_destroy(loop);
	return NULL;
}

static void w13_depth_one_ping_pong_does_not_stall(void **state)
{
	struct env *env = *state;
	struct pair pair = {.poller = rouse_loop_poller(env->loop)};
	pthread_t thread;

	pair.here.rounds = pair.there.rounds = scaled(20000);
	sem_init(&pair.ready, 0, 0);
	assert_int_equal(rouse_waker_create(env->loop, pong, &pair.here, &pair.here.mine), 0);
	pair.there.theirs = pair.here.mine;
	thread = env_start(other_loop, &pair);
	while (sem_wait(&pair.ready))
		;
	assert_int_equal(pair.error, 0);
	pair.here.theirs = pair.there.mine;
	assert_true(rouse_wake(pair.there.mine) >= 0);
	ENV_UNTIL(env, pair.here.seen == pair.here.rounds);
	pthread_join(thread, NULL);
	assert_int_equal(pair.error, 0);
	assert_int_equal(pair.there.seen, pair.there.rounds);
	rouse_waker_unref(pair.here.mine);
	rouse_waker_unref(pair.there.mine);
	sem_destroy(&pair.ready);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test_in(w3_between_looking_empty_and_marked_asleep, UNHOSTED),
	        env_test(w3_between_marked_asleep_and_the_wait),
	        env_test_in(w3_between_the_wait_and_taking, UNHOSTED | DESCRIPTOR),
	        env_test(w3_between_taking_a_waker_and_clearing_it),
	        env_test_in(w3_before_a_guest_takes_its_ring_back, DESCRIPTOR),
	        env_test(w14_a_waker_held_before_it_is_queued_holds_nobody),
	        env_test(w14_a_producer_held_before_it_rings_holds_nobody),
	        env_test(w14_destroy_does_not_wait_for_a_held_producer),
	        env_test(w14_last_user_held_while_the_loop_ends),
	        env_test(w13_depth_one_ping_pong_does_not_stall),
	};

	return env_main(argc, argv, "protocol", tests, sizeof tests / sizeof *tests);
}
