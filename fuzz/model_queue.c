/* The model's queue: posts, tasks, wakers, stop. */
#include "model.h"

#include <assert.h>

int model_queued(const struct queue *queue)
{
	return queue->end > queue->first;
}

static void put(struct queue *queue, struct item item)
{
	assert(queue->end < QUEUED);
	queue->items[queue->end++] = item;
}

static struct item get(struct queue *queue)
{
	struct item item = queue->items[queue->first++];

	if (queue->first == queue->end)
		queue->first = queue->end = 0;
	return item;
}

/* As rouse_wake(): 1 if it rang. */
int model_push(struct loop *loop, struct item item)
{
	int rings = loop->asleep;

	if (loop->closed)
		return ROUSE_ECLOSED;
	put(&loop->queue, item);
	loop->asleep = 0;
	player_at(AT_PUBLISHED);
	if (rings) {
		loop->bell = 1;
		loop->counters[COUNTER(wakes_sent)]++;
	}
	return rings;
}

int model_doze(struct loop *loop)
{
	player_at(AT_LOOKED_EMPTY);
	if (loop->queue.end - loop->queue.first > loop->seen || loop->asleep)
		return 0;
	loop->asleep = 1;
	return 1;
}

void model_take(struct loop *loop)
{
	while (model_queued(&loop->queue))
		put(&loop->taken, get(&loop->queue));
	loop->seen = 0;
	loop->asleep = loop->hosted;
}

int model_wake(int number)
{
	struct waker *waker = &m.wakers[number];

	if (waker->closed)
		return ROUSE_ECLOSED;
	if (waker->pending)
		return 0;
	waker->pending = 1;
	player_at(AT_PENDING);
	return model_push(waker->loop, (struct item){.kind = WAKER, .number = number});
}

static void call_waker(struct loop *loop, struct waker *waker, int number)
{
	loop->counters[COUNTER(wakes_served)]++;
	if (!waker->has_fn)
		return;
	loop->counters[COUNTER(callbacks)]++;
	waker->running = 1;
	if (number < WAKERS)
		(void)player_called(ON_WAKE, (uint64_t)number, 0, 0);
	else
		(void)player_called(ON_SIGNAL, (uint64_t)(number - WAKERS),
		                    (uint64_t)m.sources[number - WAKERS].signo, 0);
	waker->running = 0;
}

static void run_waker(struct loop *loop, int number)
{
	struct waker *waker = &m.wakers[number];

	if (waker->running) {
		waker->again = 1;
		return;
	}
	player_at(AT_TOOK);
	waker->pending = 0;
	if (!waker->closed)
		call_waker(loop, waker, number);
	if (waker->again) {
		waker->again = 0;
		(void)model_push(loop, (struct item){.kind = WAKER, .number = number});
	}
}

static void run(struct loop *loop, struct item item)
{
	switch (item.kind) {
	case POSTED:
	case TASK:
		loop->counters[COUNTER(posts_run)]++;
		loop->counters[COUNTER(callbacks)]++;
		if (item.kind == TASK)
			m.task_queued[item.number] = 0;
		(void)player_called(item.kind == TASK ? ON_TASK : ON_POST, (uint64_t)item.number,
		                    (uint64_t)item.fn, 0);
		break;
	case WAKER:
		run_waker(loop, item.number);
		break;
	case STOP:
		loop->stop_queued = 0;
		loop->stop = 1;
		break;
	}
}

void model_run_posted(struct loop *loop)
{
	while (model_queued(&loop->taken) && loop->budget) {
		loop->budget--;
		loop->frames++;
		run(loop, get(&loop->taken));
		loop->frames--;
	}
	if (model_queued(&loop->taken))
		loop->counters[COUNTER(posts_over)]++;
}

static void cancelled(struct loop *loop, const struct item *item)
{
	loop->counters[COUNTER(posts_cancelled)]++;
	if (item->has_cancel)
		(void)player_called(item->kind == TASK ? ON_TASK_CANCEL : ON_POST_CANCEL,
		                    (uint64_t)item->number, (uint64_t)item->fn, 0);
}

static void cancel_item(struct loop *loop, struct item item)
{
	switch (item.kind) {
	case TASK:
		m.task_queued[item.number] = 0;
		cancelled(loop, &item);
		break;
	case POSTED:
		cancelled(loop, &item);
		break;
	case STOP:
		loop->stop_queued = 0;
		break;
	case WAKER:
		break;
	}
}

void model_cancel(struct loop *loop)
{
	while (model_queued(&loop->taken))
		cancel_item(loop, get(&loop->taken));
	while (model_queued(&loop->queue))
		cancel_item(loop, get(&loop->queue));
}

static int pick(struct queue *queue, int tag, struct item *picked, int count)
{
	int kept = queue->first;

	for (int i = queue->first; i < queue->end; i++)
		if (queue->items[i].kind == POSTED && queue->items[i].number == tag)
			picked[count++] = queue->items[i];
		else
			queue->items[kept++] = queue->items[i];
	queue->end = kept;
	return count;
}

/* All are off the queue before a cancel function can post more.  From where a guest has looked
 * for them the next producer rings anew. */
int model_cancel_posts(struct loop *loop, int tag)
{
	struct item picked[2 * QUEUED];
	int before = loop->no_turn;
	int count = pick(&loop->taken, tag, picked, 0);

	count = pick(&loop->queue, tag, picked, count);
	loop->seen = loop->queue.end - loop->queue.first;
	loop->asleep = loop->hosted && !loop->closed;
	loop->frames++;
	loop->no_turn = 1;
	for (int i = 0; i < count; i++)
		cancelled(loop, &picked[i]);
	loop->no_turn = before;
	loop->frames--;
	return count;
}
