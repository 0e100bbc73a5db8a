/* The worker: owns the state, and emits.  It has no loop and ends with the program only, so nothing
 * drains here but what emit_key() drains itself. */
#include "emitter.h"

#include <stdio.h>
#include <string.h>

static bool emit(struct worker *worker, KeyCode key, bool down)
{
	bool emitted = emit_key(worker->emitter, key, down);

	if (!emitted)
		fprintf(stderr, "emitter: no memory to emit key %d\n", key);
	return emitted;
}

static void let_go(struct worker *worker, struct rule *rule)
{
	if (rule->held && emit(worker, rule->held, false))
		rule->held = 0;
}

static void apply(struct worker *worker, struct rule *rule, bool down)
{
	if (!down)
		let_go(worker, rule);
	else if (!rule->to)
		slow_look();
	else if (emit(worker, rule->to, true))
		rule->held = rule->to;
}

static void *run(void *data)
{
	struct worker *worker = data;
	struct message message;

	while (queue_take(&worker->queue, &message)) {
		if (message.kind == MESSAGE_RULE) {
			/* What is held is let go of by its old name. */
			worker->rules[message.rule].from = message.key;
			worker->rules[message.rule].to = message.to;
			continue;
		}
		for (int i = 0; i < MAX_RULES; i++)
			if (worker->rules[i].from && worker->rules[i].from == message.key)
				apply(worker, &worker->rules[i], message.down);
	}
	for (int i = 0; i < MAX_RULES; i++)
		let_go(worker, &worker->rules[i]);
	worker->live = objects_live();
	return NULL;
}

bool worker_start(struct worker *worker, struct emitter *emitter)
{
	int error;

	*worker = (struct worker){.emitter = emitter};
	queue_init(&worker->queue);
	error = pthread_create(&worker->thread, NULL, run, worker);
	if (error == 0)
		return true;
	fprintf(stderr, "emitter: no thread: %s\n", strerror(error));
	queue_finish(&worker->queue);
	return false;
}

void worker_stop(struct worker *worker)
{
	queue_close(&worker->queue);
	pthread_join(worker->thread, NULL);
	queue_finish(&worker->queue);
}
