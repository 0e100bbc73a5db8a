/*
 * Pools of the Objective-C runtime, pushed and popped with ours.
 *
 * A bridged pool's boundary is marked, and `theirs` has one pool of the runtime's for each of those
 * boundaries: the newest is popped with the newest.  When ours is drained theirs is popped last,
 * since our release functions may autorelease into it.  What theirs then releases may autorelease
 * into ours, and that is drained with a new one of theirs around it, until nothing comes any more.
 *
 * Pushes have to come by here, so that nothing is inlined (limits.c).
 *
 * As a thread ends the runtime empties its pools by a destructor of its own, in each round anew and
 * before or after ours.  So what was pushed before a round is left to it, and not popped in that.
 */
#include "pool/objc.h"
#include "pool/stack.h"

#include "os/os.h"

#include <stdlib.h>

/* Their newest pools are gone. */
static void forget(struct rouse__pool_thread *t, size_t count)
{
	struct chunk *chunk = t->chunk;
	entry *e = t->top->cur;

	t->their_count -= count;
	while (count) {
		e = rouse__pool_newest(chunk->entries, e);
		if (!e) {
			chunk = chunk->prev;
			e = chunk->end;
		} else if (marks(e) & BRIDGED) {
			set_marks(e, marks(e) & ~(uintptr_t)BRIDGED);
			count--;
		}
	}
}

void rouse__bridge_leave(struct rouse__pool_thread *t)
{
	unsigned round = rouse__thread_end_round();

	if (round == t->end_round)
		return;
	t->end_round = round;
	forget(t, t->their_count);
}

/* The runtime may call anything meanwhile, so only then is it noted. */
int rouse__bridge_push(struct rouse__pool_thread *t)
{
	const struct rouse__objc *objc = rouse__objc_runtime();
	void *pool;

	rouse__bridge_leave(t);
	pool = objc->push();
	if (pool && t->their_count == t->their_room) {
		size_t room = t->their_room ? t->their_room * 2 : 16;
		void **grown = realloc(t->theirs, room * sizeof *grown);

		if (!grown) {
			objc->pop(pool);
			return 0;
		}
		t->theirs = grown;
		t->their_room = room;
	}
	if (pool)
		t->theirs[t->their_count++] = pool;
	return pool != NULL;
}

/* What was pushed meanwhile, and left open, is popped with it. */
void rouse__bridge_pop(struct rouse__pool_thread *t)
{
	size_t at = --t->their_count;

	rouse__objc_runtime()->pop(t->theirs[at]);
	if (t->their_count > at)
		forget(t, t->their_count - at);
}

int rouse_pool_bridge_objc(void)
{
	if (!rouse__objc_runtime())
		return ROUSE_ENOTSUP;
	atomic_fetch_or_explicit(&rouse__pool_limited, BRIDGED_BY_OBJC, memory_order_relaxed);
	rouse__pool_watch_here();
	return 0;
}

void rouse_release_objc(void *object)
{
	const struct rouse__objc *objc = rouse__objc_runtime();

	if (!object)
		return;
	if (objc)
		objc->release(object);
	else
		rouse__pool_report("no Objective-C runtime releases this object", NULL);
}
