/* A loop's beginning and end. */
#include "core/loop.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "os/os.h"

#include <string.h>

#define MAX_BATCH 65536u

static const struct rouse__poller_ops *poller_named(const char *name)
{
	const struct rouse__poller_ops *ops;

	for (unsigned i = 0; (ops = rouse__poller_at(i)); i++)
		if (!name || !strcmp(name, ops->name))
			return ops;
	return NULL;
}

static int check_options(rouse_loop_options *ours, const rouse_loop_options *theirs)
{
	int error = 0;

	memset(ours, 0, sizeof *ours);
	if (theirs)
		error = rouse__sized_in(ours, sizeof *ours, theirs, theirs->size, sizeof *ours);
	if (error)
		return error;
	if (ours->max_batch > MAX_BATCH || ours->pool > ROUSE_POOL_NONE)
		return ROUSE_EINVAL;
	if (!ours->max_batch)
		ours->max_batch = ROUSE_DEFAULT_BATCH;
	if (!ours->allocator)
		ours->allocator = &rouse__malloc;
	if (!ours->allocator->alloc || !ours->allocator->free)
		return ROUSE_EINVAL;
	return 0;
}

/* What a turn took and did not run is older than what the queue still held. */
static void cancel_queued(rouse_loop *loop)
{
	while (loop->todo.first)
		rouse__task_cancel(loop, rouse__tasks_pop(&loop->todo));
}

/* Cancel and release are the user's: they may use the loop, but neither turn nor destroy it,
 * and its closed queue keeps them from adding anything. */
static void close_queue(rouse_loop *loop)
{
	loop->no_turn = 1;
	rouse__tasks_move(&loop->todo, &loop->later);
	rouse__tasks_append(&loop->todo, rouse__remote_close(loop->remote));
	rouse__wakers_close(loop);
	cancel_queued(loop);
}

/* ---- The owner's end ----------------------------------------------------------- */

static ROUSE__LOCAL struct rouse__list of_this_thread;
/* Their memory stays, and is not lost: under the process's lock. */
static rouse_loop *abandoned;

int rouse__thread_has_loops(void)
{
	const struct rouse__list *loops = ROUSE__MINE(of_this_thread);

	return loops->next && !rouse__list_empty(loops);
}

/* What others wait for, and what they would still hand over, ends with the thread. */
static void abandon(rouse_loop *loop)
{
	struct rouse__frame frame;

	rouse__list_unlink(&loop->of_thread);
	if (rouse__remote_forked(loop->remote))
		return;
	rouse__enter(loop, &frame, NULL);
	close_queue(loop);
	rouse__signals_remove(loop);
	rouse__leave(loop, &frame);
	rouse__lock();
	loop->next_abandoned = abandoned;
	abandoned = loop;
	rouse__unlock();
}

/* In the last round, so that other destructors find the loops as they were. */
static void thread_ends(int last)
{
	struct rouse__list *loops = ROUSE__MINE(of_this_thread);

	if (!last)
		return;
	while (!rouse__list_empty(loops))
		abandon(ROUSE__CONTAINER(loops->next, rouse_loop, of_thread));
	rouse__calls_abandon();
}

static int own(rouse_loop *loop)
{
	struct rouse__list *loops = ROUSE__MINE(of_this_thread);
	int error = rouse__at_thread_end(ROUSE__LOOPS_END, thread_ends);

	if (error)
		return error;
	if (!loops->next)
		rouse__list_init(loops);
	rouse__list_append(loops, &loop->of_thread);
	return 0;
}

/* ---- Create and destroy ---------------------------------------------------------- */

int rouse_loop_create(const rouse_loop_options *options, rouse_loop **ret_loop)
{
	rouse_loop_options with;
	struct rouse__poller_config config;
	const struct rouse__poller_ops *ops;
	rouse_loop *loop;
	int error;

	if (!ret_loop)
		return ROUSE_EINVAL;
	error = check_options(&with, options);
	if (error)
		return error;
	ops = poller_named(with.poller);
	if (!ops)
		return ROUSE_ENOTSUP;

	loop = rouse__zalloc(with.allocator, sizeof *loop);
	if (!loop)
		return ROUSE_ENOMEM;
	loop->allocator = *with.allocator;
	loop->max_batch = with.max_batch;
	loop->pool_policy = with.pool;
	loop->ops = ops;
	rouse__slots_init(&loop->sources);
	rouse__list_init(&loop->hooks);
	rouse__list_init(&loop->wakers);
	rouse__list_init(&loop->due);
	rouse__list_init(&loop->children);
	rouse__list_init(&loop->of_thread);
	rouse__list_init(&loop->to_ask);
	rouse__tasks_init(&loop->todo);
	rouse__tasks_init(&loop->later);

	error = ROUSE_ENOMEM;
	loop->batch = rouse__alloc(&loop->allocator, loop->max_batch * sizeof *loop->batch);
	if (!loop->batch)
		goto no_batch;
	error = rouse__remote_create(&loop->allocator, &loop->remote);
	if (error)
		goto no_remote;
	loop->remote->loop = loop;
	loop->remote->stop.run = rouse__stop_run;
	config = (struct rouse__poller_config){
	        .allocator = &loop->allocator,
	        .doorbell = loop->remote->doorbell,
	        .max_batch = loop->max_batch,
	};
	error = ops->create(&config, &loop->poller);
	if (error)
		goto no_poller;
	error = own(loop);
	if (error)
		goto not_owned;
	*ret_loop = loop;
	return 0;

not_owned:
	ops->destroy(loop->poller);
no_poller:
	rouse_remote_unref(loop->remote);
no_remote:
	rouse__free(&loop->allocator, loop->batch, loop->max_batch * sizeof *loop->batch);
no_batch:
	rouse__free(with.allocator, loop, sizeof *loop);
	return error;
}

static void remove_sources(rouse_loop *loop)
{
	for (uint32_t i = 0; i < loop->sources.count; i++)
		if (loop->sources.slots[i].object)
			rouse__source_remove(loop, loop->sources.slots[i].object);
}

int rouse_loop_destroy(rouse_loop *loop)
{
	rouse_allocator allocator;
	struct rouse__frame frame;
	int error = loop ? rouse__check_owner(loop) : 0;

	if (!loop || error)
		return error;
	if (loop->frames)
		return ROUSE_EBUSY;
	rouse__enter(loop, &frame, NULL);
	close_queue(loop);
	remove_sources(loop);
	rouse__leave(loop, &frame);
	rouse__list_unlink(&loop->of_thread);
	if (!rouse__thread_has_loops())
		rouse__not_at_thread_end(ROUSE__LOOPS_END);

	allocator = loop->allocator;
	loop->ops->destroy(loop->poller);
	rouse_remote_unref(loop->remote);
	rouse__slots_finish(&loop->sources, &allocator);
	rouse__heap_finish(&loop->timers, &allocator);
	rouse__free(&allocator, loop->by_fd, loop->by_fd_count * sizeof(*loop->by_fd));
	rouse__free(&allocator, loop->batch, loop->max_batch * sizeof *loop->batch);
	rouse__free(&allocator, loop, sizeof *loop);
	return 0;
}
