/*
 * floor: what the machine itself takes to wake a thread.  A thread of its own sleeps in a bare
 * epoll_wait on an edge-triggered eventfd that is never read, with no loop around it.
 */
#include "bench/mech.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "thread.h"
#include "tool.h"

static void *floor_main(void *data)
{
	struct mech *m = data;
	struct epoll_event event;

	for (;;) {
		int ready = epoll_wait(m->fd[1], &event, 1, -1);
		rouse_ns now = rouse_now();

		if (atomic_load_explicit(&m->quit, memory_order_acquire))
			return NULL;
		if (ready > 0)
			meter_answer_all(&m->meter, now, 0);
	}
}

static int floor_open(struct mech *m)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int error;

	m->fd[0] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	m->fd[1] = epoll_create1(EPOLL_CLOEXEC);
	if (m->fd[0] < 0 || m->fd[1] < 0 ||
	    epoll_ctl(m->fd[1], EPOLL_CTL_ADD, m->fd[0], &event) < 0)
		error = errno;
	else
		error = thread_start(&m->thread, floor_main, m);
	if (error == 0)
		return 0;
	tool_complain("floor: %s", strerror(error));
	for (int i = 0; i < 2; i++)
		if (m->fd[i] >= 0)
			close(m->fd[i]);
	return ROUSE_EOS;
}

static int floor_fire(struct mech *m, rouse_ns stamp)
{
	(void)stamp;
	return eventfd_write(m->fd[0], 1) == 0 ? 0 : ROUSE_EOS;
}

static void floor_close(struct mech *m)
{
	atomic_store_explicit(&m->quit, true, memory_order_release);
	eventfd_write(m->fd[0], 1);
	pthread_join(m->thread, NULL);
	close(m->fd[0]);
	close(m->fd[1]);
}

const struct mech_ops mech_floor = {
        .name = "floor",
        .summary = "a second thread in a bare epoll_wait: what the machine itself takes",
        .open = floor_open,
        .fire = floor_fire,
        .close = floor_close,
};
