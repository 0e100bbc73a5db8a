/* eventfd: an ordinary descriptor source of the loop, written by the worker. */
#include "bench/mech.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tool.h"

static void on_ready(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct mech *m = data;
	eventfd_t count;

	(void)self;
	(void)events;
	if (eventfd_read(fd, &count) == 0)
		mech_answer_all(m, now);
}

static int eventfd_open(struct mech *m)
{
	int rc;

	m->fd[0] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (m->fd[0] < 0) {
		tool_complain("eventfd: %s", strerror(errno));
		return ROUSE_EOS;
	}
	rc = rouse_fd_add(m->loop, m->fd[0], ROUSE_READABLE, on_ready, m, &m->source);
	if (rc < 0)
		close(m->fd[0]);
	return rc;
}

static int eventfd_fire(struct mech *m, rouse_ns stamp)
{
	(void)stamp;
	return eventfd_write(m->fd[0], 1) == 0 ? 0 : ROUSE_EOS;
}

static void eventfd_close(struct mech *m)
{
	rouse_remove(m->loop, m->source);
	close(m->fd[0]);
}

const struct mech_ops mech_eventfd = {
        .name = "eventfd",
        .summary = "write to an eventfd that the loop watches",
        .open = eventfd_open,
        .fire = eventfd_fire,
        .close = eventfd_close,
};
