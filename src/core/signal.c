/*
 * Signals as sources: each is a waker that a signal's handler wakes.
 *
 * So a signal has what a wake has: it is never lost, any thread may be the one interrupted, one
 * run may answer many, and a run is never entered again from inside.  (A signalfd would need the
 * signal blocked in every thread, and a thread that was there before would be killed by it.)
 */
#include "core/loop.h"

#include "base/alloc.h"
#include "os/os.h"

struct signal_source {
	struct rouse__source source;
	rouse_waker *waker;
	int signo;
	rouse_signal_fn fn;
	void *data;
};

static struct signal_source *signal_of(struct rouse__source *source)
{
	return ROUSE__CONTAINER(source, struct signal_source, source);
}

static void caught(void *waker)
{
	(void)rouse_wake(waker);
}

static void run(rouse_loop *loop, void *data)
{
	struct signal_source *s = data;
	struct rouse__frame frame;

	rouse__enter(loop, &frame, &s->source);
	s->fn(loop, (rouse_source){s->source.id}, s->signo, s->data);
	rouse__leave(loop, &frame);
}

static void drop_waker(rouse_waker *waker)
{
	(void)rouse_waker_close(waker);
	rouse_waker_unref(waker);
}

static void unlink_signal(rouse_loop *loop, struct rouse__source *source)
{
	struct signal_source *s = signal_of(source);

	(void)loop;
	rouse__signal_give_back(s->signo, s->waker);
	drop_waker(s->waker);
}

static const struct rouse__source_ops signal_ops = {
        .size = sizeof(struct signal_source),
        .unlink = unlink_signal,
};

int rouse_signal_add(rouse_loop *loop, int signo, rouse_signal_fn fn, void *data,
                     rouse_source *ret_source)
{
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	return fn ? rouse__signal_add(loop, signo, fn, data, 0, ret_source) : ROUSE_EINVAL;
}

int rouse__signal_add(rouse_loop *loop, int signo, rouse_signal_fn fn, void *data, int quiet,
                      rouse_source *ret_source)
{
	struct signal_source *s;
	int error;

	s = rouse__zalloc(&loop->allocator, sizeof *s);
	if (!s)
		return ROUSE_ENOMEM;
	s->source.ops = &signal_ops;
	s->signo = signo;
	s->fn = fn;
	s->data = data;
	error = rouse_waker_create(loop, run, s, &s->waker);
	if (error)
		goto no_waker;
	if (quiet)
		rouse__waker_quiet(s->waker);
	error = rouse__source_name(loop, &s->source);
	if (error)
		goto unnamed;
	error = rouse__signal_take(signo, caught, s->waker);
	if (error)
		goto refused;
	if (ret_source)
		ret_source->id = s->source.id;
	return 0;

refused:
	rouse__slots_give(&loop->sources, s->source.id);
unnamed:
	drop_waker(s->waker);
no_waker:
	rouse__free(&loop->allocator, s, sizeof *s);
	return error;
}

/* As if it had come. */
void rouse__signal_again(rouse_loop *loop, rouse_source name)
{
	caught(signal_of(rouse__source_find(loop, name))->waker);
}

static struct signal_source *signal_at(rouse_loop *loop, uint32_t slot)
{
	struct rouse__source *source = loop->sources.slots[slot].object;

	return source && source->ops == &signal_ops ? signal_of(source) : NULL;
}

void rouse__signals_remove(rouse_loop *loop)
{
	for (uint32_t i = 0; i < loop->sources.count; i++)
		if (signal_at(loop, i))
			rouse__source_remove(loop, &signal_at(loop, i)->source);
}

void rouse__signals_after_fork(rouse_loop *loop)
{
	for (uint32_t i = 0; i < loop->sources.count; i++) {
		const struct signal_source *s = signal_at(loop, i);

		if (s)
			rouse__signal_inherit(s->signo, s->waker);
	}
}
