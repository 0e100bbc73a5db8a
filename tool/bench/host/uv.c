/* The loop as a guest of libuv, and libuv's own way to wake that. */
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#include <rouse/uv.h>

#include "bench/host.h"
#include "bench/mech.h"
#include "tool.h"

struct uv_host {
	struct host host;
	uv_loop_t uv;
	uv_timer_t timer;
	uv_prepare_t prepare;
	rouse_uv *guest;
	int result;
};

static void on_done(rouse_loop *loop, int result, void *data)
{
	struct uv_host *h = data;

	(void)loop;
	h->result = result;
	uv_stop(&h->uv);
}

static void on_prepare(uv_prepare_t *prepare)
{
	struct uv_host *h = prepare->data;

	h->host.waits++;
}

static void uv_host_close(struct host *host)
{
	struct uv_host *h = (struct uv_host *)host;

	rouse_uv_detach(h->guest);
	uv_close((uv_handle_t *)&h->timer, NULL);
	uv_close((uv_handle_t *)&h->prepare, NULL);
	/* Once more, for what is to be closed: a stop that nobody waited for would end it. */
	while (uv_loop_alive(&h->uv))
		uv_run(&h->uv, UV_RUN_DEFAULT);
	uv_loop_close(&h->uv);
	free(h);
}

static int uv_host_open(rouse_loop *loop, struct host **ret_host)
{
	struct uv_host *h = calloc(1, sizeof *h);
	int rc;

	if (!h || uv_loop_init(&h->uv) < 0) {
		tool_complain("libuv has no loop");
		free(h);
		return ROUSE_ENOMEM;
	}
	h->host.loop = loop;
	snprintf(h->host.library, sizeof h->host.library, "libuv %s", uv_version_string());
	uv_timer_init(&h->uv, &h->timer);
	uv_prepare_init(&h->uv, &h->prepare);
	h->prepare.data = h;
	uv_prepare_start(&h->prepare, on_prepare);
	rc = rouse_uv_attach(
	        loop, &(rouse_uv_options){sizeof(rouse_uv_options), &h->uv, on_done, h}, &h->guest);
	if (rc < 0) {
		tool_complain("cannot attach the loop to libuv: %s", rouse_strerror(rc));
		uv_host_close(&h->host);
		return rc;
	}
	*ret_host = &h->host;
	return 0;
}

static int uv_host_run(struct host *host)
{
	struct uv_host *h = (struct uv_host *)host;

	uv_run(&h->uv, UV_RUN_DEFAULT);
	return h->result;
}

static void on_timer(uv_timer_t *timer)
{
	(void)timer;
}

static void uv_host_turn(struct host *host, rouse_ns until)
{
	struct uv_host *h = (struct uv_host *)host;
	rouse_ns now = rouse_now();

	uv_update_time(&h->uv);
	uv_timer_start(&h->timer, on_timer, until > now ? (until - now) / 1000000 + 1 : 0, 0);
	uv_run(&h->uv, UV_RUN_ONCE);
	uv_timer_stop(&h->timer);
}

const struct host_ops host_uv = {
        .open = uv_host_open, .run = uv_host_run, .turn = uv_host_turn, .close = uv_host_close};

/* ---- async ------------------------------------------------------------- */

static void on_async(uv_async_t *async)
{
	struct mech *m = async->data;
	rouse_ns now = rouse_loop_now(m->loop);

	mech_answer_by_host(m, now);
}

static int async_open(struct mech *m)
{
	struct uv_host *h = (struct uv_host *)m->host;
	uv_async_t *async = malloc(sizeof *async);

	if (!async)
		return ROUSE_ENOMEM;
	if (uv_async_init(&h->uv, async, on_async) < 0) {
		free(async);
		return ROUSE_EOS;
	}
	async->data = m;
	m->handle = async;
	return 0;
}

static int async_fire(struct mech *m, rouse_ns stamp)
{
	(void)stamp;
	return uv_async_send(m->handle) == 0 ? 0 : ROUSE_EOS;
}

static void on_closed(uv_handle_t *async)
{
	free(async);
}

static void async_close(struct mech *m)
{
	uv_close(m->handle, on_closed);
}

const struct mech_ops mech_async = {
        .name = "async",
        .summary = "uv_async_send()",
        .host = &host_uv,
        .open = async_open,
        .fire = async_fire,
        .close = async_close,
};
