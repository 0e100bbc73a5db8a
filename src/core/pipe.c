/* Pipes as sources (Windows): handles to the loop, and all that is theirs is the poller's. */
#include "core/loop.h"

#include <rouse/win32.h>

int rouse_win32_pipe_add(rouse_loop *loop, void *pipe, rouse_handle_fn fn, void *data,
                         rouse_source *ret_source)
{
	int error = rouse__check_owner(loop);

	if (error)
		return error;
	return rouse__handle_add(loop, pipe, loop->ops->add_pipe, fn, data, ret_source);
}
