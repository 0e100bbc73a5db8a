/* A circular doubly linked list; the head is a node of its own. */
#ifndef ROUSE_BASE_LIST_H
#define ROUSE_BASE_LIST_H

#include <stddef.h>

struct rouse__list {
	struct rouse__list *prev, *next;
};

static inline void rouse__list_init(struct rouse__list *l)
{
	l->prev = l->next = l;
}

static inline int rouse__list_empty(const struct rouse__list *l)
{
	return l->next == l;
}

static inline void rouse__list_append(struct rouse__list *head, struct rouse__list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

/* Leaves the node a list of its own, so that unlinking twice is harmless. */
static inline void rouse__list_unlink(struct rouse__list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	rouse__list_init(node);
}

#define ROUSE__CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
