/* The loop as a guest of Qt, and Qt's own way to run something in that. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/host.h"
#include "bench/host/qt_loop.h"
#include "bench/host/stamps.h"
#include "tool.h"

struct qt_host {
	struct host host;
	struct qt_loop *qt;
};

static void qt_close(struct host *host)
{
	struct qt_host *h = (struct qt_host *)host;

	qt_loop_close(h->qt);
	free(h);
}

static int qt_open(rouse_loop *loop, struct host **ret_host)
{
	struct qt_host *h = calloc(1, sizeof *h);
	int rc = h ? qt_loop_open(loop, &h->qt) : ROUSE_ENOMEM;

	if (rc < 0) {
		tool_complain("cannot attach the loop to Qt: %s", rouse_strerror(rc));
		free(h);
		return rc;
	}
	h->host.loop = loop;
	snprintf(h->host.library, sizeof h->host.library, "Qt %s", qt_loop_version());
	*ret_host = &h->host;
	return 0;
}

static int qt_run(struct host *host)
{
	return qt_loop_run(((struct qt_host *)host)->qt);
}

static void qt_turn(struct host *host, rouse_ns until)
{
	qt_loop_turn(((struct qt_host *)host)->qt, until);
}

const struct host_ops host_qt = {
        .open = qt_open, .run = qt_run, .turn = qt_turn, .close = qt_close};

/* ---- invoke ------------------------------------------------------------ */

static void on_invoked(void *data)
{
	struct stamp *stamp = data;
	rouse_ns now = rouse_loop_now(stamp->m->loop);

	stamps_answer(stamp, now);
}

static int invoke_fire(struct mech *m, rouse_ns stamp)
{
	struct qt_host *h = (struct qt_host *)m->host;

	return qt_loop_invoke(h->qt, on_invoked, stamps_take(m, stamp));
}

/* What is queued still goes with its receiver, and before that Qt runs nothing. */
static void invoke_close(struct mech *m)
{
	free(m->handle);
}

const struct mech_ops mech_invoke = {
        .name = "invoke",
        .summary = "QMetaObject::invokeMethod() of a function, queued",
        .host = &host_qt,
        .open = stamps_open,
        .fire = invoke_fire,
        .close = invoke_close,
};
