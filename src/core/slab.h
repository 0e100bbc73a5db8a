/*
 * Equal nodes that any thread takes and the loop's thread gives back, without a lock.
 *
 * The free nodes are a stack that names its nodes by number.  Its head carries a tag that
 * each take changes, so that a taker who was held up between reading the head and exchanging
 * it fails, even if the same node is on top again.  Chunks, each twice the size of the one
 * before, are never freed while the slab lives: a late reader of a taken node's link reads
 * memory that is still a node.
 */
#ifndef ROUSE_CORE_SLAB_H
#define ROUSE_CORE_SLAB_H

#include <rouse/rouse.h>

#include <stdatomic.h>

#define ROUSE__SLAB_CHUNKS 20

/* First member of each node. */
struct rouse__slab_node {
	_Atomic uint32_t next; /* number of the next free node; 0: none */
	uint32_t number;       /* its own, from 1 */
};

struct rouse__slab {
	_Atomic uint64_t head; /* tag, number */
	_Atomic(char *) chunks[ROUSE__SLAB_CHUNKS];
	const rouse_allocator *allocator;
	size_t node_size;
};

void rouse__slab_init(struct rouse__slab *slab, const rouse_allocator *a, size_t node_size);
void rouse__slab_finish(struct rouse__slab *slab);

/* NULL: no memory. */
void *rouse__slab_take(struct rouse__slab *slab);

/* Nodes on their way back: collected on one thread, given back with one exchange. */
struct rouse__slab_chain {
	struct rouse__slab_node *first, *last;
};

static inline void rouse__slab_collect(struct rouse__slab_chain *chain,
                                       struct rouse__slab_node *node)
{
	atomic_store_explicit(&node->next, chain->first ? chain->first->number : 0,
	                      memory_order_relaxed);
	if (!chain->first)
		chain->last = node;
	chain->first = node;
}

void rouse__slab_give(struct rouse__slab *slab, struct rouse__slab_chain *chain);

#endif
