/* rouse-wake: the library's own doorbell. */
#include "bench/mech.h"

static void on_wake(rouse_loop *loop, void *data)
{
	rouse_ns now = rouse_loop_now(loop);
	struct mech *m = data;

	mech_answer_all(m, now);
}

static int wake_open(struct mech *m)
{
	rouse_waker *waker;
	int rc = rouse_waker_create(m->loop, on_wake, m, &waker);

	if (rc == 0)
		m->handle = waker;
	return rc;
}

static int wake_fire(struct mech *m, rouse_ns stamp)
{
	(void)stamp;
	return rouse_wake(m->handle);
}

static void wake_close(struct mech *m)
{
	rouse_waker_close(m->handle);
	m->handle = rouse_waker_unref(m->handle);
}

const struct mech_ops mech_wake = {
        .name = "rouse-wake",
        .summary = "rouse_wake() on a waker",
        .open = wake_open,
        .fire = wake_fire,
        .close = wake_close,
};
