#include "core/remote.h"

#include "base/alloc.h"
#include "core/fault.h"
#include "os/os.h"

#define EMPTY ((uintptr_t)0)
#define ASLEEP ((uintptr_t)1)
#define CLOSED ROUSE__REMOTE_CLOSED

/* ---- Life ---------------------------------------------------------------- */

int rouse__remote_create(const rouse_allocator *allocator, rouse_remote **ret_remote)
{
	rouse_remote *remote = rouse__zalloc(allocator, sizeof *remote);
	int error;

	if (!remote)
		return ROUSE_ENOMEM;
	error = rouse__process_number(&remote->process);
	if (!error)
		error = rouse__doorbell_open(allocator, &remote->doorbell);
	if (error) {
		rouse__free(allocator, remote, sizeof *remote);
		return error;
	}
	atomic_init(&remote->word, EMPTY);
	atomic_init(&remote->references, 1);
	for (size_t i = 0; i < ROUSE__COUNTERS; i++)
		atomic_init(&remote->counters.counted[i], 0);
	remote->owner = rouse__thread_serial();
	remote->allocator = *allocator;
	rouse__slab_init(&remote->posts, &remote->allocator, sizeof(struct rouse__post));
	*ret_remote = remote;
	return 0;
}

rouse_remote *rouse_remote_ref(rouse_remote *remote)
{
	if (remote)
		atomic_fetch_add_explicit(&remote->references, 1, memory_order_relaxed);
	return remote;
}

rouse_remote *rouse_remote_unref(rouse_remote *remote)
{
	rouse_allocator allocator;

	if (!remote || atomic_fetch_sub_explicit(&remote->references, 1, memory_order_acq_rel) != 1)
		return NULL;
	allocator = remote->allocator;
	rouse__slab_finish(&remote->posts);
	rouse__doorbell_close(&allocator, remote->doorbell);
	rouse__free(&allocator, remote, sizeof *remote);
	return NULL;
}

/* ---- The queue, from any thread ------------------------------------------ */

static int ring(rouse_remote *remote)
{
	if (rouse__doorbell_ring(remote->doorbell)) {
		rouse__count_shared(remote, wakes_failed);
		return ROUSE_EOS;
	}
	rouse__count_shared(remote, wakes_sent);
	return 1;
}

int rouse__remote_push(rouse_remote *remote, rouse_task *task)
{
	uintptr_t old = atomic_load_explicit(&remote->word, memory_order_relaxed);

	do {
		if (old == CLOSED)
			return ROUSE_ECLOSED;
		task->next = old == ASLEEP ? NULL : (rouse_task *)old;
	} while (!atomic_compare_exchange_weak_explicit(
	        &remote->word, &old, (uintptr_t)task, memory_order_acq_rel, memory_order_relaxed));
	ROUSE__PAUSE(ROUSE__PUBLISHED);
	return old == ASLEEP ? ring(remote) : 0;
}

/* ---- The queue, on the loop's thread ------------------------------------- */

int rouse__remote_doze(rouse_remote *remote)
{
	uintptr_t empty = EMPTY;

	ROUSE__PAUSE(ROUSE__QUEUE_LOOKED_EMPTY);
#ifdef ROUSE_MUTANT_DOZE /* the ping-pong must see this stall */
	if (atomic_load_explicit(&remote->word, memory_order_acquire) != EMPTY)
		return 0;
	atomic_store_explicit(&remote->word, ASLEEP, memory_order_release);
	return 1;
#endif
	return atomic_compare_exchange_strong_explicit(&remote->word, &empty, ASLEEP,
	                                               memory_order_acq_rel, memory_order_relaxed);
}

static rouse_task *first_of(uintptr_t word)
{
	return word == EMPTY || word == ASLEEP || word == CLOSED ? NULL : (rouse_task *)word;
}

int rouse__remote_waiting(const rouse_remote *remote)
{
	return first_of(atomic_load_explicit(&remote->word, memory_order_acquire)) != NULL;
}

static rouse_task *oldest_first(uintptr_t word)
{
	rouse_task *task = first_of(word);
	rouse_task *list = NULL;

	while (task) {
		rouse_task *next = task->next;

		task->next = list;
		list = task;
		task = next;
	}
	return list;
}

rouse_task *rouse__remote_take(rouse_remote *remote, int hosted)
{
	return oldest_first(atomic_exchange_explicit(&remote->word, hosted ? ASLEEP : EMPTY,
	                                             memory_order_acq_rel));
}

rouse_task *rouse__remote_close(rouse_remote *remote)
{
	return oldest_first(atomic_exchange_explicit(&remote->word, CLOSED, memory_order_acq_rel));
}
