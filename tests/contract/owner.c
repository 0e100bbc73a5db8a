#include "owner.h"

#include <stdlib.h>
#include <string.h>

struct arena arena;

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

void run_never(rouse_loop *loop, void *data)
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

void cancel_a(void *data)
{
	note_cancel(data, 'a');
}

void cancel_b(void *data)
{
	struct owner *o = data;

	note_cancel(o, 'b');
	/* As in the loop's end. */
	o->answers[0] = rouse_post(o->remote, run_never, o, cancel_a);
	o->answers[1] = rouse_wake(o->waker);
	o->answers[2] = rouse_timer_add(o->loop, 0, 0, 0, count_timer, &o->ran, NULL);
}

void *own_and_leave(void *data)
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

void begin(struct owner *o, struct env *like, void (*then)(struct owner *owner))
{
	*o = (struct owner){.like = like, .then = then};
	env_pair_open(&o->ends[0], &o->ends[1]);
}

void drop(struct owner *o)
{
	rouse_waker_unref(o->waker);
	rouse_remote_unref(o->remote);
	env_pair_close(o->ends[0]);
	env_pair_close(o->ends[1]);
}

void abandon(struct owner *o, struct env *like, void (*then)(struct owner *owner))
{
	begin(o, like, then);
	env_join(env_start(own_and_leave, o));
}

static void run_task(rouse_loop *loop, rouse_task *task)
{
	(void)loop;
	(void)task;
}

void assert_closed(struct owner *o)
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

void queue_and_leave(struct owner *o)
{
	for (const char *c = "aabaa"; *c; c++)
		if (rouse_post(o->remote, run_never, o, *c == 'a' ? cancel_a : cancel_b))
			abort();
	if (rouse_wake(o->waker) < 0 || rouse_post(o->remote, run_never, o, NULL))
		abort();
}
