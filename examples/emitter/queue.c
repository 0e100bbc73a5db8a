/* First in, first out: a worker without a loop waits for a condition. */
#include "emitter.h"

#include <stdio.h>
#include <stdlib.h>

void queue_init(struct queue *queue)
{
	*queue = (struct queue){.lock = PTHREAD_MUTEX_INITIALIZER,
	                        .changed = PTHREAD_COND_INITIALIZER};
	queue->last = &queue->first;
}

void queue_finish(struct queue *queue)
{
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
}

void queue_put(struct queue *queue, struct message message)
{
	struct message *node = malloc(sizeof(*node));

	if (!node) {
		fprintf(stderr, "emitter: no memory: key %d is lost\n", message.key);
		return;
	}
	*node = message;
	node->next = NULL;
	pthread_mutex_lock(&queue->lock);
	*queue->last = node;
	queue->last = &node->next;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

bool queue_take(struct queue *queue, struct message *message)
{
	struct message *node;

	pthread_mutex_lock(&queue->lock);
	while (!queue->first && !queue->closed)
		pthread_cond_wait(&queue->changed, &queue->lock);
	node = queue->first;
	if (node) {
		queue->first = node->next;
		if (!queue->first)
			queue->last = &queue->first;
		*message = *node;
	}
	pthread_mutex_unlock(&queue->lock);
	free(node);
	return node != NULL;
}

void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}
