/* The memory of a thread's stack. */
#include "pool/stack.h"

#include <stdlib.h>

/* Small, since it comes from the heap warm, and most threads need no more.  The next ones are not
 * large yet, so that a stack of a few thousand entries wastes little. */
#define FIRST_BYTES ((size_t)4096)
#define EARLY_BYTES ((size_t)16384)
#define CHUNK_BYTES ((size_t)65536)
enum { EARLY = 5 };

static size_t bytes_of(size_t index)
{
	if (index == 0)
		return FIRST_BYTES;
	return index < EARLY ? EARLY_BYTES : CHUNK_BYTES;
}

static struct chunk *new_chunk(struct rouse__pool_thread *t)
{
	size_t bytes = bytes_of(t->chunks);
	struct chunk *chunk = malloc(bytes);

	if (!chunk)
		return NULL;
	*chunk = (struct chunk){.prev = t->chunk, .index = t->chunks, .bytes = bytes};
	chunk->end = chunk->entries + (bytes - sizeof *chunk) / sizeof(entry);
	t->chunks++;
	count(&t->bytes, bytes);
	return chunk;
}

/* `cur` goes to the begin of this chunk, and what is the same place goes with it. */
static void enter_chunk(struct rouse__pool_thread *t, struct chunk *chunk)
{
	struct rouse__pool_top *top = t->top;

	if (top->floor == top->cur)
		top->floor = chunk->entries;
	t->chunk = chunk;
	t->noted = 0;
	t->untidy = 1;
	top->cur = chunk->entries;
	top->end = chunk->end;
	if (chunk->index >= t->used)
		t->used = chunk->index + 1;
}

int rouse__pool_first_chunk(struct rouse__pool_thread *t)
{
	struct chunk *chunk = new_chunk(t);

	if (!chunk)
		return 0;
	t->first = chunk;
	enter_chunk(t, chunk);
	return 1;
}

void rouse__pool_note_full(struct chunk *chunk)
{
	const struct chunk *prev = chunk->prev;
	size_t size = (size_t)(chunk->end - chunk->entries), pools = 0;
	entry *newest = rouse__pool_newest(chunk->entries, chunk->end);

	for (entry *e = newest; e; e = rouse__pool_newest(chunk->entries, e))
		pools++;
	chunk->live = size - pools + (prev ? prev->live : 0);
	if (newest) {
		chunk->newest = (struct place){chunk, newest};
		chunk->since = (size_t)(chunk->end - newest) - 1;
	} else {
		chunk->newest = prev ? prev->newest : (struct place){NULL, NULL};
		chunk->since = size + (prev ? prev->since : 0);
	}
}

int rouse__pool_next_chunk(struct rouse__pool_thread *t)
{
	struct chunk *full = t->chunk;

	if (!full->next)
		full->next = new_chunk(t);
	if (!full->next)
		return 0;
	rouse__pool_note_full(full);
	rouse__pool_note_live(t, full->live, full->live);
	enter_chunk(t, full->next);
	if (full->newest.entry)
		rouse__pool_look(full->newest.entry, full->since);
	return 1;
}

void rouse__pool_free_chunks(struct rouse__pool_thread *t, size_t keep)
{
	struct chunk *last = t->chunk;

	while (last->next)
		last = last->next;
	while (t->chunks > keep && last != t->chunk) {
		struct chunk *chunk = last;

		last = chunk->prev;
		last->next = NULL;
		t->chunks--;
		set(&t->bytes, counted(&t->bytes) - chunk->bytes);
		free(chunk);
	}
}

void rouse__pool_finish(struct rouse__pool_thread *t)
{
	rouse__pool_free_chunks(t, 0);
	free(t->first);
	free(t->stamps);
	free(t->theirs);
	t->first = t->chunk = NULL;
	t->chunks = t->used = 0;
	t->stamps = NULL;
	t->stamp_count = t->stamp_room = 0;
	t->theirs = NULL;
	t->their_count = t->their_room = 0;
	set(&t->bytes, 0);
}

/* After an outermost pop: a spare chunk stays, and of what was not used since the one before an
 * eighth goes, so that a depth that comes back soon finds most of its memory. */
void rouse__pool_free_some(struct rouse__pool_thread *t)
{
	size_t unused = t->chunks - t->used - 1;

	rouse__pool_free_chunks(t, t->chunks - (unused + 7) / 8);
}

void rouse_pool_trim(void)
{
	struct rouse__pool_thread *t = ROUSE__MINE(rouse__pool_top_1)->thread;

	if (t)
		rouse__pool_free_chunks(t, 0);
}
