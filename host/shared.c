#include "shared.h"

#include <string.h>

/* An attachment is made, looked at and ended on its loop's thread alone. */
static _Thread_local struct rouse__attached *attached_here;

int rouse__host_options(void *to, size_t size, size_t least, const void *options)
{
	size_t given;

	memset(to, 0, size);
	if (!options)
		return 0;
	memcpy(&given, options, sizeof given);
	if (given < least)
		return ROUSE_EINVAL;
	for (size_t i = size; i < given; i++)
		if (((const unsigned char *)options)[i])
			return ROUSE_EABI;
	memcpy(to, options, given < size ? given : size);
	return 0;
}

int rouse__host_may_attach(const rouse_loop *loop)
{
	rouse_stats stats = {.size = sizeof stats};
	int error = rouse_loop_stats(loop, &stats);

	if (error)
		return error;
	for (const struct rouse__attached *other = attached_here; other; other = other->next)
		if (other->loop == loop)
			return ROUSE_EEXIST;
	return 0;
}

int rouse__host_attach(struct rouse__attached *attached, rouse_loop *loop,
                       void (*release)(rouse_loop *loop, void *data), void *data, rouse_fd *ret_fd)
{
	const rouse_hook end = {.size = sizeof end, .fd = ROUSE_NO_FD, .release = release};
	int error = rouse_hook_add(loop, &end, data, &attached->hook);

	if (error) {
		release(loop, data);
		return error;
	}
	attached->loop = loop;
	attached->next = attached_here;
	attached_here = attached;
	error = rouse_loop_fd(loop, ret_fd);
	if (error)
		(void)rouse_remove(loop, attached->hook);
	return error;
}

int rouse__host_detach(const struct rouse__attached *attached)
{
	return rouse_remove(attached->loop, attached->hook);
}

void rouse__host_released(struct rouse__attached *attached)
{
	struct rouse__attached **link = &attached_here;

	while (*link && *link != attached)
		link = &(*link)->next;
	if (*link)
		*link = attached->next;
}
