#include "memory.h"

#include "trace.h"

#include <stdlib.h>
#include <string.h>

/* Before each block.  Aligned as the block must be. */
struct header {
	_Alignas(max_align_t) size_t size;
};

static unsigned refuse_in;
static int was_refused, allowed;
static size_t blocks;

static void *take(size_t size, void *ctx)
{
	struct header *header;

	(void)ctx;
	if (!allowed)
		trace_failed("memory is asked for where none may be");
	if (refuse_in && !--refuse_in) {
		was_refused = 1;
		return NULL;
	}
	header = malloc(sizeof *header + size);
	if (!header)
		abort();
	header->size = size;
	/* Whoever counts on zeros shall find none. */
	memset(header + 1, 0xa5, size);
	blocks++;
	return header + 1;
}

static void give(void *ptr, size_t size, void *ctx)
{
	struct header *header = (struct header *)ptr - 1;

	(void)ctx;
	if (header->size != size)
		trace_failed("memory is given back with another size than it was asked for");
	blocks--;
	free(header);
}

const rouse_allocator memory = {take, give, NULL};

void memory_reset(void)
{
	refuse_in = 0;
	was_refused = 0;
	allowed = 0;
	blocks = 0;
}

void memory_refuse(unsigned nth)
{
	refuse_in = nth;
}

int memory_refused(void)
{
	int refused = was_refused;

	was_refused = 0;
	return refused;
}

void memory_allow(int allow)
{
	allowed = allow;
}

size_t memory_blocks(void)
{
	return blocks;
}
