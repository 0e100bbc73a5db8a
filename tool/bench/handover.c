#include "bench/handover.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bench/display.h"

static void on_announced(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                         void *data)
{
	struct handover *h = data;
	struct mech *m;
	eventfd_t count;

	(void)loop;
	(void)self;
	(void)events;
	if (eventfd_read(fd, &count) < 0)
		return;
	m = atomic_exchange_explicit(&h->next, NULL, memory_order_acq_rel);
	if (m && !atomic_load_explicit(&h->over, memory_order_acquire))
		m->ops->await(m);
}

int handover_open(struct handover *h, rouse_loop *loop, const struct mech *mech, size_t mechs)
{
	int rc;

	for (size_t i = 0; i < mechs; i++)
		h->used |= mech[i].ops->await != NULL;
	if (!h->used)
		return 0;
	sem_init(&h->entered, 0, 0);
	h->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (h->fd < 0) {
		tool_complain("eventfd: %s", strerror(errno));
		return -1;
	}
	rc = rouse_fd_add(loop, h->fd, ROUSE_READABLE, on_announced, h, NULL);
	if (rc < 0)
		tool_complain("cannot watch a descriptor: %s", rouse_strerror(rc));
	return rc < 0 ? -1 : 0;
}

void handover_close(struct handover *h)
{
	if (!h->used)
		return;
	if (h->fd >= 0)
		close(h->fd);
	sem_destroy(&h->entered);
	h->used = false;
}

void handover_announce(struct handover *h, struct mech *m)
{
	atomic_store_explicit(&h->next, m->ops->await ? m : NULL, memory_order_release);
	eventfd_write(h->fd, 1);
}

void handover_take(struct handover *h, const struct mech *m)
{
	if (m->ops->await)
		while (sem_wait(&h->entered) < 0 && errno == EINTR)
			;
}

void handover_end(struct handover *h)
{
	if (!h->used)
		return;
	atomic_store_explicit(&h->over, true, memory_order_release);
	sem_post(&h->entered);
}

bool handover_await(struct mech *m, void (*wait)(struct mech *m, int ms))
{
	/* The worker is at handover_take(), at the latest. */
	size_t call = atomic_load_explicit(&m->meter.fired, memory_order_acquire);

	sem_post(&m->handover->entered);
	while (m->meter.taken <= call) {
		if (m->window->lost)
			return false;
		if (atomic_load_explicit(&m->meter.fired, memory_order_acquire) > call &&
		    rouse_now() > m->meter.stamp[call] + HANDOVER_GRACE)
			return false;
		wait(m, (int)(HANDOVER_GRACE / 1000000));
	}
	return true;
}
