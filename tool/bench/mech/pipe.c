/* pipe: an ordinary descriptor source of the loop; the stamp itself goes through it. */
#include "bench/mech.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

/* All that a pipe holds: one run answers whatever there is. */
enum { ROOM = 65536 };

static void on_ready(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct mech *m = data;
	rouse_ns *stamps = m->handle;
	ssize_t got;

	(void)self;
	(void)events;
	/* Writes of 8 bytes are atomic, so what is read is whole stamps. */
	got = read(fd, stamps, ROOM);
	if (got > 0)
		mech_answer_stamps(m, stamps, (size_t)got / sizeof stamps[0], now);
}

static int pipe_open(struct mech *m)
{
	int rc;

	m->handle = malloc(ROOM);
	if (!m->handle)
		return ROUSE_ENOMEM;
	memset(m->handle, 0xff, ROOM); /* No page fault later. */
	if (pipe2(m->fd, O_NONBLOCK | O_CLOEXEC) < 0) {
		tool_complain("pipe: %s", strerror(errno));
		free(m->handle);
		return ROUSE_EOS;
	}
	rc = rouse_fd_add(m->loop, m->fd[0], ROUSE_READABLE, on_ready, m, &m->source);
	if (rc < 0) {
		close(m->fd[0]);
		close(m->fd[1]);
		free(m->handle);
	}
	return rc;
}

static int pipe_fire(struct mech *m, rouse_ns stamp)
{
	return write(m->fd[1], &stamp, sizeof stamp) == sizeof stamp ? 0 : ROUSE_EOS;
}

static void pipe_close(struct mech *m)
{
	rouse_remove(m->loop, m->source);
	close(m->fd[0]);
	close(m->fd[1]);
	free(m->handle);
}

const struct mech_ops mech_pipe = {
        .name = "pipe",
        .summary = "write of the 8-byte stamp to a pipe that the loop watches",
        .open = pipe_open,
        .fire = pipe_fire,
        .close = pipe_close,
};
