#include "core/slab.h"

#include "base/alloc.h"

#define FIRST_CHUNK 64u
#define TAG ((uint64_t)1 << 32)

void rouse__slab_init(struct rouse__slab *slab, const rouse_allocator *a, size_t node_size)
{
	atomic_init(&slab->head, 0);
	for (unsigned k = 0; k < ROUSE__SLAB_CHUNKS; k++)
		atomic_init(&slab->chunks[k], NULL);
	slab->allocator = a;
	slab->node_size = node_size;
}

static size_t chunk_size(const struct rouse__slab *slab, unsigned k)
{
	return slab->node_size * (FIRST_CHUNK << k);
}

void rouse__slab_finish(struct rouse__slab *slab)
{
	for (unsigned k = 0; k < ROUSE__SLAB_CHUNKS; k++)
		rouse__free(slab->allocator,
		            atomic_load_explicit(&slab->chunks[k], memory_order_acquire),
		            chunk_size(slab, k));
}

/* Chunk k holds the numbers from FIRST_CHUNK * (2^k - 1) + 1 on. */
static uint32_t numbers_before(unsigned k)
{
	return FIRST_CHUNK * ((1u << k) - 1);
}

static struct rouse__slab_node *node_at(struct rouse__slab *slab, uint32_t number)
{
	unsigned k = 31 - (unsigned)__builtin_clz((number - 1) / FIRST_CHUNK + 1);
	char *chunk;

	chunk = atomic_load_explicit(&slab->chunks[k], memory_order_acquire);
	return (void *)(chunk + slab->node_size * (number - 1 - numbers_before(k)));
}

void rouse__slab_give(struct rouse__slab *slab, struct rouse__slab_chain *chain)
{
	uint64_t head;

	if (!chain->first)
		return;
	head = atomic_load_explicit(&slab->head, memory_order_relaxed);
	do
		atomic_store_explicit(&chain->last->next, (uint32_t)head, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&slab->head, &head,
	                                              (head & ~(TAG - 1)) | chain->first->number,
	                                              memory_order_acq_rel, memory_order_relaxed));
	chain->first = chain->last = NULL;
}

/* 1: look again, this thread or another has added nodes; 0: no memory. */
__attribute__((noinline)) static int grow(struct rouse__slab *slab)
{
	for (unsigned k = 0; k < ROUSE__SLAB_CHUNKS; k++) {
		struct rouse__slab_chain chain = {0};
		char *none = NULL, *chunk;

		if (atomic_load_explicit(&slab->chunks[k], memory_order_acquire))
			continue;
		chunk = rouse__alloc(slab->allocator, chunk_size(slab, k));
		if (!chunk)
			return 0;
		for (uint32_t i = FIRST_CHUNK << k; i-- > 0;) {
			struct rouse__slab_node *node = (void *)(chunk + slab->node_size * i);

			node->number = numbers_before(k) + i + 1;
			rouse__slab_collect(&chain, node);
		}
		if (atomic_compare_exchange_strong_explicit(&slab->chunks[k], &none, chunk,
		                                            memory_order_acq_rel,
		                                            memory_order_relaxed))
			rouse__slab_give(slab, &chain);
		else
			rouse__free(slab->allocator, chunk, chunk_size(slab, k));
		return 1;
	}
	return 0;
}

void *rouse__slab_take(struct rouse__slab *slab)
{
	uint64_t head = atomic_load_explicit(&slab->head, memory_order_acquire);

	for (;;) {
		struct rouse__slab_node *node;
		uint32_t next;

		if ((uint32_t)head == 0) {
			if (!grow(slab))
				return NULL;
			head = atomic_load_explicit(&slab->head, memory_order_acquire);
			continue;
		}
		node = node_at(slab, (uint32_t)head);
		next = atomic_load_explicit(&node->next, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(
		            &slab->head, &head, ((head & ~(TAG - 1)) + TAG) | next,
		            memory_order_acq_rel, memory_order_acquire))
			return node;
	}
}
