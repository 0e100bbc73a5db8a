#include "host.h"

#include <rouse/uv.h>

#include <uv.h>
#include <assert.h>
#include <stdlib.h>

const struct host_kind host_kind = {.name = "libuv", .adapter = true, .told = true};
int host_result;
unsigned host_dones, host_busy_runs;
bool host_leaves;

static rouse_uv *attachment;
static uv_loop_t uv;
static uv_timer_t ticking;
static uv_idle_t busy;
static void (*tick_fn)(void *data);

void host_init(int *argc, char **argv)
{
	(void)argc, (void)argv;
}

void host_open(void)
{
	host_dones = 0;
	if (uv_loop_init(&uv) || uv_timer_init(&uv, &ticking) || uv_idle_init(&uv, &busy))
		abort();
}

void host_close(void)
{
	uv_close((uv_handle_t *)&ticking, NULL);
	uv_close((uv_handle_t *)&busy, NULL);
	uv_run(&uv, UV_RUN_DEFAULT);
	if (uv_loop_close(&uv))
		abort();
}

static void done(rouse_loop *loop, int result, void *data)
{
	(void)loop, (void)data;
	host_result = result;
	host_dones++;
	uv_stop(&uv);
	if (host_leaves)
		host_detach();
}

int host_attach(rouse_loop *loop)
{
	const rouse_uv_options options = {.size = sizeof options, .uv = &uv, .done = done};

	return rouse_uv_attach(loop, &options, &attachment);
}

int host_detach(void)
{
	return rouse_uv_detach(attachment);
}

void host_turn(void)
{
	uv_run(&uv, UV_RUN_ONCE);
}

void host_poll(void)
{
	uv_run(&uv, UV_RUN_NOWAIT);
}

static void tick(uv_timer_t *timer)
{
	tick_fn(timer->data);
}

bool host_refuses_to_nest(void)
{
	return false;
}

void host_tick(void (*fn)(void *data), void *data)
{
	uv_timer_stop(&ticking);
	tick_fn = fn;
	ticking.data = data;
	if (fn)
		uv_timer_start(&ticking, tick, 1, 1);
}

static void is_busy(uv_idle_t *idle)
{
	(void)idle;
	host_busy_runs++;
}

void host_busy(bool on)
{
	uv_idle_stop(&busy);
	host_busy_runs = 0;
	if (on)
		uv_idle_start(&busy, is_busy);
}
