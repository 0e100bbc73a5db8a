/* A rate and not a reading: how many objects 2,000 posts leave, on a thread such as the worker,
 * which has no loop and does not end. */
#include "emitter.h"

#include <stdio.h>
#include <string.h>

enum { POSTS = 2000 };

struct measured {
	struct emitter *emitter;
	KeyCode key;
	bool ok;
};

static void row(const char *what, long before)
{
	printf("%d %-30s live objects %+ld\n", POSTS, what, objects_live() - before);
}

static void posts(struct measured *m, bool without_pool)
{
	long before = objects_live();

	m->emitter->without_pool = without_pool;
	for (int i = 0; i < POSTS; i++)
		m->ok = emit_key(m->emitter, m->key, i % 2 == 0) && m->ok;
	XSync(m->emitter->display, False);
	row(without_pool ? "posts without a pool:" : "posts, each in a pool:", before);
}

static void creations(struct measured *m)
{
	long before = objects_live();

	for (int i = 0; i < POSTS; i++) {
		struct event *event = event_create(m->key, i % 2 == 0);

		m->ok = event && m->ok;
		object_release(event);
	}
	row("events, created, not posted:", before);
}

static void *run(void *data)
{
	struct measured *m = data;

	if (!m->emitter->without_pool)
		posts(m, false);
	posts(m, true);
	creations(m);
	return NULL;
}

bool measure(struct emitter *emitter, KeyCode key)
{
	struct measured m = {.emitter = emitter, .key = key, .ok = true};
	pthread_t thread;
	int error = pthread_create(&thread, NULL, run, &m);

	if (error != 0) {
		fprintf(stderr, "emitter: no thread: %s\n", strerror(error));
		return false;
	}
	pthread_join(thread, NULL);
	if (!m.ok)
		fprintf(stderr, "emitter: no memory\n");
	/* Its end has drained what was left. */
	if (objects_live() != 0)
		fprintf(stderr, "emitter: %ld objects were never released\n", objects_live());
	return m.ok && objects_live() == 0;
}
