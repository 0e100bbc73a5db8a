/* What is put into a loop's queue, besides wakers and calls: posts, tasks, stop. */
#include "core/loop.h"

#include "base/list.h"
#include "os/os.h"

/* rouse_task.reserved: whether the node is queued.  The public struct cannot have an atomic
 * member, C++ reads it too; so its one shared word is reached by the compiler's builtins. */
#define mark_queued(task) __atomic_exchange_n(&(task)->reserved, 1, __ATOMIC_ACQ_REL)

/* An exchange, as where PENDING is cleared: who is told "queued already" relies on a run that sees
 * what he wrote, and a store may still be on its way when that run reads.  Only nodes of tasks and
 * of stop are ever marked. */
static void mark_free(rouse_task *task)
{
#ifdef ROUSE_MUTANT_STORE /* the litmus test must see this lose posts */
	__atomic_store_n(&task->reserved, 0, __ATOMIC_RELEASE);
#endif
	if (__atomic_load_n(&task->reserved, __ATOMIC_RELAXED))
		(void)__atomic_exchange_n(&task->reserved, 0, __ATOMIC_ACQ_REL);
}

rouse_remote *rouse_loop_remote(rouse_loop *loop)
{
	return loop ? rouse_remote_ref(loop->remote) : NULL;
}

/* ---- Tasks and stop --------------------------------------------------------- */

/* What push says, in the words of a post: queued is queued, and 1 warns of the doorbell. */
static int posted(int pushed)
{
	if (pushed == ROUSE_ECLOSED)
		return pushed;
	return pushed == ROUSE_EOS;
}

int rouse_post_task(rouse_remote *remote, rouse_task *task)
{
	int result;

	if (!remote || !task || !task->run)
		return ROUSE_EINVAL;
	if (rouse__remote_forked(remote))
		return ROUSE_EFORKED;
	if (mark_queued(task))
		return ROUSE_EEXIST;
	result = posted(rouse__remote_push(remote, task));
	if (result < 0)
		mark_free(task);
	return result;
}

int rouse_remote_stop(rouse_remote *remote)
{
	int result;

	if (!remote)
		return ROUSE_EINVAL;
	result = rouse_post_task(remote, &remote->stop);
	return result == ROUSE_EEXIST ? 0 : result;
}

void rouse__stop_run(rouse_loop *loop, rouse_task *task)
{
	(void)task;
	loop->stop = 1;
}

/* A node is its owner's again before it runs: it may post itself anew, or free itself. */
void rouse__task_run(rouse_loop *loop, rouse_task *task)
{
	struct rouse__frame frame;

	if (task->run == rouse__waker_run) {
		rouse__waker_run(loop, task);
		return;
	}
	if (task->run != rouse__stop_run) {
		rouse__count(loop->remote, posts_run, 1);
		rouse__count(loop->remote, callbacks, 1);
	}
	mark_free(task);
	rouse__enter(loop, &frame, NULL);
	task->run(loop, task);
	rouse__leave(loop, &frame);
}

void rouse__task_cancel(rouse_loop *loop, rouse_task *task)
{
	if (task->run == rouse__waker_run) {
		rouse__waker_cancel(task);
		return;
	}
	if (task->run != rouse__stop_run)
		rouse__count(loop->remote, posts_cancelled, 1);
	mark_free(task);
	if (task->cancel)
		task->cancel(task);
}

static int has_stop(const struct rouse__tasks *tasks)
{
	for (const rouse_task *task = tasks->first; task; task = task->next)
		if (task->run == rouse__stop_run)
			return 1;
	return 0;
}

/* A thread that is not there in a forked child may have been about to queue it. */
void rouse__stop_after_fork(rouse_loop *loop)
{
	if (loop->remote->stop.reserved && !has_stop(&loop->todo) && !has_stop(&loop->later)) {
		mark_free(&loop->remote->stop);
		loop->stop = 1;
	}
}

/* ---- Posts ---------------------------------------------------------------- */

static void run_post(rouse_loop *loop, rouse_task *task)
{
	struct rouse__post *post = ROUSE__CONTAINER(task, struct rouse__post, task);
	rouse_post_fn fn = post->fn;
	void *data = post->data;

	rouse__slab_collect(&loop->spent_posts, &post->node);
	fn(loop, data);
}

static void cancel_post(rouse_task *task)
{
	struct rouse__post *post = ROUSE__CONTAINER(task, struct rouse__post, task);

	if (post->cancel)
		post->cancel(post->data);
}

static void unpost(rouse_remote *remote, struct rouse__post *post)
{
	struct rouse__slab_chain chain = {0};

	rouse__slab_collect(&chain, &post->node);
	rouse__slab_give(&remote->posts, &chain);
}

int rouse_post(rouse_remote *remote, rouse_post_fn fn, void *data, void (*cancel)(void *data))
{
	struct rouse__post *post;
	int result;

	if (!remote || !fn)
		return ROUSE_EINVAL;
	if (rouse__remote_forked(remote))
		return ROUSE_EFORKED;
	if (rouse__remote_closed(remote))
		return ROUSE_ECLOSED;
	post = rouse__slab_take(&remote->posts);
	if (!post)
		return ROUSE_ENOMEM;
	post->task = (rouse_task){.run = run_post, .cancel = cancel_post};
	post->fn = fn;
	post->data = data;
	post->cancel = cancel;
	result = posted(rouse__remote_push(remote, &post->task));
	if (result < 0)
		unpost(remote, post);
	return result;
}

/* ---- Cancelling --------------------------------------------------------------- */

static int is_post_of(const rouse_task *task, const void *data)
{
	return task->run == run_post &&
	       ROUSE__CONTAINER(task, const struct rouse__post, task)->data == data;
}

/* From one list to the end of another, in order. */
static void pick(struct rouse__tasks *from, const void *data, struct rouse__tasks *to)
{
	rouse_task **link = &from->first;

	while (*link) {
		rouse_task *task = *link;

		if (!is_post_of(task, data)) {
			link = &task->next;
			continue;
		}
		*link = task->next;
		task->next = NULL;
		rouse__tasks_append(to, task);
	}
	from->end = link;
}

static void cancel_picked(rouse_loop *loop, rouse_task *task)
{
	struct rouse__post *post = ROUSE__CONTAINER(task, struct rouse__post, task);
	void (*cancel)(void *data) = post->cancel;
	void *data = post->data;

	rouse__count(loop->remote, posts_cancelled, 1);
	rouse__slab_collect(&loop->spent_posts, &post->node);
	if (cancel)
		cancel(data);
}

int rouse_cancel_posts(rouse_loop *loop, const void *data)
{
	struct rouse__tasks picked;
	struct rouse__frame frame;
	unsigned char before;
	int count = 0, error = rouse__check_owner(loop);

	if (error)
		return error;
	rouse__tasks_init(&picked);
	if (!rouse__remote_closed(loop->remote))
		rouse__tasks_append(&loop->later, rouse__remote_take(loop->remote, loop->hosted));
	pick(&loop->todo, data, &picked);
	pick(&loop->later, data, &picked);

	rouse__enter(loop, &frame, NULL);
	before = loop->no_turn;
	loop->no_turn = 1;
	while (picked.first) {
		cancel_picked(loop, rouse__tasks_pop(&picked));
		count++;
	}
	loop->no_turn = before;
	rouse__leave(loop, &frame);
	rouse__slab_give(&loop->remote->posts, &loop->spent_posts);
	return count;
}
