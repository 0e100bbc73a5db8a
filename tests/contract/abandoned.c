/* A thread that ends with a loop of its own: whoever still holds something of it gets an answer. */
#include "env.h"

#include "core/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* This sanitizer takes what a thread leaves on its stack for objects, where it unwinds. */
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN
#endif
#endif
#ifdef WITH_ASAN
#define UNWINDS() skip()
#else
#define UNWINDS() ((void)0)
#endif

/* What an abandoned loop keeps is kept for good: it comes from here, so that a check for leaks sees
 * none.  Never given again, so that a late touch of what was freed is seen as one. */
static struct arena {
	_Alignas(max_align_t) unsigned char bytes[32 << 20];
	atomic_size_t used;
	atomic_uint live;
} arena;

static void *arena_alloc(size_t size, void *ctx)
{
	size_t rounded = (size + 63) & ~(size_t)63, at = atomic_fetch_add(&arena.used, rounded);

	(void)ctx;
	if (at + rounded > sizeof arena.bytes)
		return NULL;
	atomic_fetch_add(&arena.live, 1);
	return arena.bytes + at;
}

static void arena_free(void *ptr, size_t size, void *ctx)
{
	(void)ctx;
	memset(ptr, 0xdd, size);
	atomic_fetch_sub(&arena.live, 1);
}

/* ---- A thread that leaves its loop behind ------------------------------------------- */

struct owner {
	struct env *like; /* which poller, which kind of host */
	pthread_t thread;
	rouse_loop *loop;
	rouse_waker *waker;
	rouse_remote *remote;
	void (*then)(struct owner *owner); /* the last thing that it does */
	int ends[2];
	rouse_source fd, timer;
	char order[16];
	int cancelled, elsewhere, ran, woken, answers[3], destroyed;
	atomic_int flag;
};

static void run_never(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct owner *)data)->ran++;
}

static void wake_never(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct owner *)data)->woken++;
}

static void note_cancel(struct owner *o, char c)
{
	o->elsewhere += !pthread_equal(pthread_self(), o->thread);
	o->order[o->cancelled++] = c;
}

static void cancel_a(void *data)
{
	note_cancel(data, 'a');
}

static void cancel_b(void *data)
{
	struct owner *o = data;

	note_cancel(o, 'b');
	/* As in the loop's end. */
	o->answers[0] = rouse_post(o->remote, run_never, o, cancel_a);
	o->answers[1] = rouse_wake(o->waker);
	o->answers[2] = rouse_timer_add(o->loop, 0, 0, 0, count_timer, &o->ran, NULL);
}

static void *own_and_leave(void *data)
{
	static const rouse_allocator allocator = {arena_alloc, arena_free, NULL};
	struct owner *o = data;
	const rouse_loop_options options = {.size = sizeof options,
	                                    .poller = rouse_loop_poller(o->like->loop),
	                                    .allocator = &allocator,
	                                    .max_batch = 2};
	rouse_ns deadline;
	rouse_fd fd;

	o->thread = pthread_self();
	if (rouse_loop_create(&options, &o->loop))
		return o;
	if (o->like->host == DESCRIPTOR && rouse_loop_fd(o->loop, &fd))
		return o;
	if (o->like->host == BRACKET && rouse_loop_prepare(o->loop, 0, &deadline))
		return o;
	o->remote = rouse_loop_remote(o->loop);
	if (rouse_waker_create(o->loop, wake_never, o, &o->waker) ||
	    rouse_timer_add(o->loop, ROUSE_NEVER, 0, 0, count_timer, &o->ran, &o->timer) ||
	    rouse_fd_add(o->loop, o->like->null ? 7 : o->ends[0], ROUSE_READABLE, count_fd, &o->ran,
	                 &o->fd))
		return o;
	if (o->then)
		o->then(o);
	return NULL;
}

static void begin(struct owner *o, struct env *like, void (*then)(struct owner *owner))
{
	*o = (struct owner){.like = like, .then = then};
	assert_int_equal(pipe2(o->ends, O_CLOEXEC), 0);
}

static void drop(struct owner *o)
{
	rouse_waker_unref(o->waker);
	rouse_remote_unref(o->remote);
	close(o->ends[0]);
	close(o->ends[1]);
}

static void abandon(struct owner *o, struct env *like, void (*then)(struct owner *owner))
{
	begin(o, like, then);
	env_join(env_start(own_and_leave, o));
}

static void run_task(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
}

static void assert_closed(struct owner *o)
{
	rouse_task task = {.run = run_task};
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_wake(o->waker), ROUSE_ECLOSED);
	assert_int_equal(rouse_post(o->remote, run_never, o, NULL), ROUSE_ECLOSED);
	assert_int_equal(rouse_post_task(o->remote, &task), ROUSE_ECLOSED);
	assert_int_equal(rouse_call(o->remote, run_never, o), ROUSE_ECLOSED);
	assert_int_equal(rouse_remote_stop(o->remote), ROUSE_ECLOSED);
	assert_int_equal(rouse_remote_stats(o->remote, &stats), 0);
	assert_int_equal(rouse_waker_close(o->waker), ROUSE_EWRONGTHREAD);
	assert_int_equal(o->ran + o->woken, 0);
}

static void l10_others_are_told_that_it_is_closed(void **state)
{
	struct owner o;

	abandon(&o, *state, NULL);
	assert_closed(&o);
	drop(&o);
}

/* ---- What was queued ---------------------------------------------------------------- */

static void queue_and_leave(struct owner *o)
{
	for (const char *c = "aabaa"; *c; c++)
		if (rouse_post(o->remote, run_never, o, *c == 'a' ? cancel_a : cancel_b))
			abort();
	if (rouse_wake(o->waker) < 0 || rouse_post(o->remote, run_never, o, NULL))
		abort();
}

static void l10_what_was_queued_is_cancelled_once_as_the_thread_ends(void **state)
{
	rouse_stats stats = {.size = sizeof stats};
	struct owner o;

	abandon(&o, *state, queue_and_leave);
	assert_string_equal(o.order, "aabaa");
	assert_int_equal(o.elsewhere, 0);
	assert_int_equal(o.answers[0], ROUSE_ECLOSED);
	assert_int_equal(o.answers[1], ROUSE_ECLOSED);
	assert_true(o.answers[2] == ROUSE_ECLOSED || o.answers[2] == ROUSE_EWRONGTHREAD);
	assert_int_equal(rouse_remote_stats(o.remote, &stats), 0);
	assert_int_equal(stats.posts_cancelled, 6);
	assert_int_equal(stats.posts_run, 0);
	assert_closed(&o);
	drop(&o);
}

static void leave_from_inside(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	pthread_exit(NULL);
}

/* Two are gathered with the one that ends the thread, more are queued. */
static void queue_and_leave_inside(struct owner *o)
{
	if (rouse_post(o->remote, leave_from_inside, o, cancel_a))
		abort();
	for (int i = 0; i < 5; i++)
		if (rouse_post(o->remote, run_never, o, i == 2 ? cancel_b : cancel_a))
			abort();
	if (rouse_wake(o->waker) < 0)
		abort();
	(void)rouse_loop_turn(o->loop, 0);
	abort();
}

static void l10_a_thread_that_ends_in_a_callback(void **state)
{
	struct owner o;

	UNWINDS();
	abandon(&o, *state, queue_and_leave_inside);
	assert_string_equal(o.order, "aabaa");
	assert_int_equal(o.elsewhere, 0);
	assert_closed(&o);
	drop(&o);
}

static atomic_int asleep;

static void note_sleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP)
		atomic_store(&asleep, 1);
}

static void wait_for_ever(struct owner *o)
{
	while (rouse_loop_turn(o->loop, ROUSE_NEVER) >= 0)
		;
}

static void l10_a_thread_that_is_cancelled_in_its_wait(void **state)
{
	struct owner o;
	pthread_t thread;
	void *result;

	UNWINDS();
	atomic_store(&asleep, 0);
	rouse__fault_pause(note_sleep, NULL);
	begin(&o, *state, wait_for_ever);
	thread = env_start(own_and_leave, &o);
	while (!atomic_load(&asleep))
		sched_yield();
	rouse__fault_pause(NULL, NULL);
	assert_int_equal(pthread_cancel(thread), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_closed(&o);
	drop(&o);
}

/* ---- Who waits for it --------------------------------------------------------------- */

static void note_published(enum rouse__point point, void *data)
{
	struct owner *o = data;

	if (point == ROUSE__PUBLISHED && !pthread_equal(pthread_self(), o->thread))
		atomic_store(&o->flag, 2);
}

static void leave_once_called(struct owner *o)
{
	rouse__fault_pause(note_published, o);
	atomic_store(&o->flag, 1);
	while (atomic_load(&o->flag) != 2)
		sched_yield();
}

static void l10_a_call_that_waits_for_it_returns(void **state)
{
	struct owner o;
	pthread_t thread;

	begin(&o, *state, leave_once_called);
	thread = env_start(own_and_leave, &o);
	while (!atomic_load(&o.flag))
		sched_yield();
	assert_int_equal(rouse_call(o.remote, run_never, &o), ROUSE_ECLOSED);
	env_join(thread);
	assert_closed(&o);
	drop(&o);
}

static void wait_to_be_called(struct owner *o)
{
	atomic_store(&o->flag, 1);
	wait_for_ever(o);
}

static void l10_a_call_that_it_ends_in_returns(void **state)
{
	struct owner o;
	pthread_t thread;

	UNWINDS();
	begin(&o, *state, wait_to_be_called);
	thread = env_start(own_and_leave, &o);
	while (!atomic_load(&o.flag))
		sched_yield();
	assert_int_equal(rouse_call(o.remote, leave_from_inside, &o), ROUSE_ECLOSED);
	env_join(thread);
	assert_closed(&o);
	drop(&o);
}

static void *wake_until_closed(void *data)
{
	struct owner *o = data;
	int result;

	while ((result = rouse_wake(o->waker)) >= 0)
		sched_yield();
	if (result != ROUSE_ECLOSED)
		return o;
	while ((result = rouse_post(o->remote, run_never, o, cancel_a)) >= 0)
		;
	return result == ROUSE_ECLOSED ? NULL : o;
}

static void publish_and_go(struct owner *o)
{
	atomic_store(&o->flag, 1);
	while (atomic_load(&o->flag) != 2)
		sched_yield();
}

static void l1_abandoned_while_others_wake_it(void **state)
{
	unsigned rounds = scaled(60);

	for (unsigned round = 0; round < rounds; round++) {
		struct owner o;
		pthread_t thread, wakers[2];

		begin(&o, *state, publish_and_go);
		thread = env_start(own_and_leave, &o);
		while (!atomic_load(&o.flag))
			sched_yield();
		for (int i = 0; i < 2; i++)
			wakers[i] = env_start(wake_until_closed, &o);
		atomic_store(&o.flag, 2);
		env_join(thread);
		for (int i = 0; i < 2; i++)
			env_join(wakers[i]);
		assert_closed(&o);
		drop(&o);
	}
}

/* ---- The loop itself ---------------------------------------------------------------- */

static void ignore_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)signo;
	(void)data;
}

static void ignore_child(rouse_loop *loop, rouse_source self, rouse_process process,
                         const rouse_exit *how, void *data)
{
	(void)loop;
	(void)self;
	(void)process;
	(void)how;
	(void)data;
}

/* How many of the loop's own functions answer something else than that this is not its thread. */
static int other_answers(struct owner *o)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};
	rouse_stats stats = {.size = sizeof stats};
	rouse_source out;
	rouse_waker *waker;
	rouse_ns deadline;
	rouse_fd fd;
	const int answers[] = {
	        rouse_loop_run(o->loop),
	        rouse_loop_turn(o->loop, 0),
	        rouse_loop_stop(o->loop),
	        rouse_loop_fd(o->loop, &fd),
	        rouse_loop_prepare(o->loop, 0, &deadline),
	        rouse_loop_check(o->loop, 1),
	        rouse_loop_dispatch(o->loop),
	        rouse_loop_take_stop(o->loop),
	        rouse_loop_after_fork(o->loop),
	        rouse_waker_create(o->loop, NULL, NULL, &waker),
	        rouse_waker_close(o->waker),
	        rouse_cancel_posts(o->loop, o),
	        rouse_fd_add(o->loop, o->ends[1], ROUSE_WRITABLE, count_fd, &o->ran, &out),
	        rouse_fd_set_events(o->loop, o->fd, 0),
	        rouse_timer_add(o->loop, 0, 0, 0, count_timer, &o->ran, &out),
	        rouse_timer_set(o->loop, o->timer, 0, 0, 0),
	        rouse_signal_add(o->loop, SIGUSR2, ignore_signal, NULL, &out),
	        rouse_child_add(o->loop, 1, ignore_child, NULL, &out),
	        rouse_hook_add(o->loop, &hook, NULL, &out),
	        rouse_remove(o->loop, o->fd),
	        rouse_loop_stats(o->loop, &stats),
	        rouse_loop_destroy(o->loop),
	};
	int others = 0;

	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		if (answers[i] == ROUSE_EWRONGTHREAD)
			continue;
		print_error("answer %zu is %d\n", i, answers[i]);
		others++;
	}
	return others;
}

struct successor {
	struct owner *owner;
	int same, others;
};

static void *succeed(void *data)
{
	struct successor *s = data;

	s->same = pthread_equal(pthread_self(), s->owner->thread) != 0;
	s->others = other_answers(s->owner);
	return NULL;
}

static void l10_its_functions_know_no_other_thread_whatever_its_id(void **state)
{
	struct owner o;
	struct successor s = {.owner = &o};

	abandon(&o, *state, NULL);
	assert_int_equal(other_answers(&o), 0);
	/* The system gives the id to the next thread, sooner or later. */
	for (int i = 0; i < 100 && !s.same; i++) {
		env_join(env_start(succeed, &s));
		assert_int_equal(s.others, 0);
	}
	if (!s.same)
		print_message("no thread had the same id\n");
	assert_closed(&o);
	assert_int_equal(rouse_loop_poller(o.loop) != NULL, 1);
	drop(&o);
}

/* Its thread's next loop is as good as any. */
static void *own_twice(void *data)
{
	struct owner *o = data;

	if (own_and_leave(&o[0]) || own_and_leave(&o[1]))
		return o;
	return rouse_loop_destroy(o[0].loop) ? o : NULL;
}

static void l10_one_is_destroyed_and_one_is_left(void **state)
{
	struct owner o[2];

	for (int i = 0; i < 2; i++)
		begin(&o[i], *state, queue_and_leave);
	env_join(env_start(own_twice, o));
	for (int i = 0; i < 2; i++) {
		assert_string_equal(o[i].order, "aabaa");
		assert_int_equal(rouse_wake(o[i].waker), ROUSE_ECLOSED);
		drop(&o[i]);
	}
	env_drain(*state);
}

static void *own_both(void *data)
{
	struct owner *o = data;

	return own_and_leave(&o[0]) || own_and_leave(&o[1]) ? o : NULL;
}

static void l10_several_of_one_thread(void **state)
{
	struct owner o[2];

	for (int i = 0; i < 2; i++)
		begin(&o[i], *state, queue_and_leave);
	env_join(env_start(own_both, o));
	for (int i = 0; i < 2; i++) {
		assert_string_equal(o[i].order, "aabaa");
		assert_closed(&o[i]);
		drop(&o[i]);
	}
}

/* ---- A destructor of the user's ----------------------------------------------------- */

static pthread_key_t early_key, late_key;

static void destroy_late(void *data)
{
	struct owner *o = data;

	o->destroyed = rouse_loop_destroy(o->loop);
}

static void *own_with_a_destructor(void *data)
{
	struct owner *o = data;

	if (pthread_setspecific(early_key, o))
		return o;
	return own_and_leave(o);
}

static void *own_with_a_late_destructor(void *data)
{
	struct owner *o = data;

	return own_and_leave(o) || pthread_setspecific(late_key, o) ? o : NULL;
}

/* In whichever order the two run, each post has one end, and nothing is touched twice. */
static void l10_destroyed_as_the_thread_ends(void **state)
{
	assert_int_equal(pthread_key_create(&late_key, destroy_late), 0);
	for (int late = 0; late < 2; late++) {
		struct owner o;

		begin(&o, *state, queue_and_leave);
		env_join(env_start(late ? own_with_a_late_destructor : own_with_a_destructor, &o));
		assert_true(o.destroyed == 0 || o.destroyed == ROUSE_EWRONGTHREAD);
		assert_string_equal(o.order, "aabaa");
		assert_int_equal(rouse_wake(o.waker), ROUSE_ECLOSED);
		drop(&o);
	}
	assert_int_equal(pthread_key_delete(late_key), 0);
}

/* ---- Its signal --------------------------------------------------------------------- */

static void watch_a_signal(struct owner *o)
{
	if (rouse_signal_add(o->loop, SIGRTMIN + 5, ignore_signal, NULL, NULL))
		abort();
}

static void l10_a_signal_it_watched_is_given_back(void **state)
{
	struct env *env = *state;
	struct sigaction now;
	rouse_source source;
	struct owner o;

	abandon(&o, env, watch_a_signal);
	assert_closed(&o);
	/* Given back, and free for others. */
	assert_int_equal(sigaction(SIGRTMIN + 5, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, SIG_DFL);
	assert_int_equal(rouse_signal_add(env->loop, SIGRTMIN + 5, ignore_signal, NULL, &source),
	                 0);
	raise(SIGRTMIN + 5);
	while (env_turn(env, ROUSE_NEVER) == 0)
		;
	assert_int_equal(rouse_remove(env->loop, source), 0);
	drop(&o);
}

/* What could be given back was: queue, wakers and remotes leave no more than the loop's own. */
static void l10_the_last_reference_frees_what_others_share(void **state)
{
	unsigned before = atomic_load(&arena.live), left;
	struct owner o;

	abandon(&o, *state, NULL);
	left = atomic_load(&arena.live) - before;
	for (int i = 0; i < 10; i++)
		rouse_waker_ref(o.waker);
	for (int i = 0; i < 10; i++)
		rouse_waker_unref(o.waker);
	assert_closed(&o);
	assert_int_equal(atomic_load(&arena.live) - before, left);
	drop(&o);
	/* The waker, at least. */
	assert_true(atomic_load(&arena.live) - before < left);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(l10_others_are_told_that_it_is_closed),
	        env_test(l10_what_was_queued_is_cancelled_once_as_the_thread_ends),
	        env_test(l10_a_thread_that_ends_in_a_callback),
	        env_test(l10_a_thread_that_is_cancelled_in_its_wait),
	        env_test(l10_a_call_that_waits_for_it_returns),
	        env_test(l10_a_call_that_it_ends_in_returns),
	        env_test(l1_abandoned_while_others_wake_it),
	        env_test(l10_its_functions_know_no_other_thread_whatever_its_id),
	        env_test(l10_one_is_destroyed_and_one_is_left),
	        env_test(l10_several_of_one_thread),
	        env_test(l10_destroyed_as_the_thread_ends),
	        env_test(l10_a_signal_it_watched_is_given_back),
	        env_test(l10_the_last_reference_frees_what_others_share),
	};

	/* Before the library can have made a key of its own. */
	if (pthread_key_create(&early_key, destroy_late))
		return EXIT_FAILURE;
	return env_main(argc, argv, "abandoned", tests, sizeof tests / sizeof *tests);
}
