/* null: a virtual clock and scripted descriptors; the doorbell is real. */
#include "base/alloc.h"
#include "core/doorbell.h"
#include "core/poller.h"
#include "core/ready.h"

#include <rouse/null.h>

#include <string.h>

struct change {
	rouse_ns at;
	rouse_fd fd;
	unsigned events;
};

struct rouse__poller {
	const rouse_allocator *allocator;
	rouse__doorbell doorbell;
	unsigned max_batch;
	rouse_ns clock;
	struct change *script; /* to come, earliest first */
	size_t script_count, script_capacity;
	struct rouse__watch **watches;
	size_t watch_count, watch_capacity;
	size_t first; /* where the next report begins, so that a budget starves nobody */
	unsigned char ready[ROUSE_NULL_MAX_FD + 1];
};

/* The array with room for one more; NULL: no memory, and nothing changed. */
static void *reserve(const rouse_allocator *a, void *array, size_t item, size_t count,
                     size_t *capacity)
{
	size_t larger = *capacity ? *capacity * 2 : 16;
	void *grown;

	if (count < *capacity)
		return array;
	grown = rouse__grow(a, array, *capacity, larger, item);
	if (grown)
		*capacity = larger;
	return grown;
}

static int create(const struct rouse__poller_config *config, struct rouse__poller **ret)
{
	struct rouse__poller *p = rouse__zalloc(config->allocator, sizeof *p);

	if (!p)
		return ROUSE_ENOMEM;
	p->allocator = config->allocator;
	p->doorbell = config->doorbell;
	p->max_batch = config->max_batch;
	p->clock = ROUSE_NULL_EPOCH;
	*ret = p;
	return 0;
}

static void destroy(struct rouse__poller *p)
{
	rouse__free(p->allocator, p->script, p->script_capacity * sizeof *p->script);
	rouse__free(p->allocator, p->watches, p->watch_capacity * sizeof(*p->watches));
	rouse__free(p->allocator, p, sizeof *p);
}

/* ---- Descriptors ---------------------------------------------------------------- */

static int add(struct rouse__poller *p, struct rouse__watch *watch, unsigned events,
               struct rouse__watch *known)
{
	struct rouse__watch **watches;

	if (watch->fd > ROUSE_NULL_MAX_FD)
		return ROUSE_EINVAL;
	if (known)
		return ROUSE_EEXIST;
	watches = reserve(p->allocator, p->watches, sizeof(*watches), p->watch_count,
	                  &p->watch_capacity);
	if (!watches)
		return ROUSE_ENOMEM;
	p->watches = watches;
	watch->place = p->watch_count++;
	p->watches[watch->place] = watch;
	watch->in_poller = 1;
	watch->events = events;
	return 0;
}

static int set(struct rouse__poller *p, struct rouse__watch *watch, unsigned events)
{
	(void)p;
	watch->events = events;
	return 0;
}

static void forget(struct rouse__poller *p, struct rouse__watch *watch)
{
	struct rouse__watch *last = p->watches[--p->watch_count];

	p->watches[watch->place] = last;
	last->place = watch->place;
	watch->in_poller = 0;
}

/* ---- The script ------------------------------------------------------------------ */

int rouse_null_script(rouse_loop *loop, rouse_ns at, rouse_fd fd, unsigned events)
{
	const unsigned all = ROUSE_READABLE | ROUSE_WRITABLE | ROUSE_HANGUP | ROUSE_FDERROR;
	struct rouse__poller *p;
	struct change *script;
	size_t i;
	int error = rouse__poller_of(loop, &rouse__null, &p);

	if (error)
		return error;
	if ((intptr_t)fd < 0 || fd > ROUSE_NULL_MAX_FD || (events & ~all))
		return ROUSE_EINVAL;
	if (at <= p->clock) {
		p->ready[fd] = (unsigned char)events;
		return 0;
	}
	script = reserve(p->allocator, p->script, sizeof *script, p->script_count,
	                 &p->script_capacity);
	if (!script)
		return ROUSE_ENOMEM;
	p->script = script;
	for (i = p->script_count++; i > 0 && p->script[i - 1].at > at; i--)
		p->script[i] = p->script[i - 1];
	p->script[i] = (struct change){at, fd, events};
	return 0;
}

static void play(struct rouse__poller *p)
{
	size_t played = 0;

	while (played < p->script_count && p->script[played].at <= p->clock) {
		p->ready[p->script[played].fd] = (unsigned char)p->script[played].events;
		played++;
	}
	p->script_count -= played;
	if (played)
		memmove(p->script, p->script + played, p->script_count * sizeof *p->script);
}

int rouse_null_advance(rouse_loop *loop, rouse_ns by)
{
	struct rouse__poller *p;
	int error = rouse__poller_of(loop, &rouse__null, &p);

	if (error)
		return error;
	p->clock = by > ROUSE_NEVER - 1 - p->clock ? ROUSE_NEVER - 1 : p->clock + by;
	play(p);
	return 0;
}

static rouse_ns now(const struct rouse__poller *p)
{
	return p->clock;
}

/* ---- The wait --------------------------------------------------------------------- */

static unsigned report(struct rouse__poller *p, rouse_loop *door)
{
	unsigned reported = 0;
	size_t begin = p->first;

	for (size_t k = 0; k < p->watch_count && reported < p->max_batch; k++) {
		size_t i = (begin + k) % p->watch_count;
		struct rouse__watch *watch = p->watches[i];
		unsigned wanted = watch->events;
		unsigned seen;

		if (wanted)
			wanted |= ROUSE_HANGUP | ROUSE_FDERROR;
		seen = p->ready[watch->fd] & wanted;
		if (!seen)
			continue;
		rouse__ready(door, watch, seen);
		p->first = (i + 1) % p->watch_count;
		reported++;
	}
	return reported;
}

/* 1: rung; 0: not; negative: an error. */
static int listen_for_ring(struct rouse__poller *p, int block, rouse_loop *door)
{
	int rung = rouse__doorbell_wait(p->doorbell, block);

	if (rung > 0)
		rouse__ready_rung(door);
	return rung;
}

static int wait(struct rouse__poller *p, rouse_ns deadline, rouse_loop *door)
{
	int rung = listen_for_ring(p, 0, door);
	rouse_ns next;

	if (rung < 0)
		return rung;
	play(p);
	if (report(p, door) || rung || deadline <= p->clock)
		return 0;
	next = p->script_count && p->script[0].at < deadline ? p->script[0].at : deadline;
	if (next == ROUSE_NEVER) {
		rung = listen_for_ring(p, 1, door);
		return rung < 0 ? rung : 0;
	}
	p->clock = next;
	play(p);
	report(p, door);
	return 0;
}

const struct rouse__poller_ops rouse__null = {
        .name = "null",
        .caps = ROUSE_CAP_SIGNAL_SAFE_WAKE | ROUSE_CAP_SIGNAL,
        .create = create,
        .destroy = destroy,
        .add = add,
        .set = set,
        .remove = forget,
        .wait = wait,
        .now = now,
        .is_virtual = 1,
};
