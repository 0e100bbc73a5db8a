#include "host.h"

#include "recipe_ev.h"

#include <stdlib.h>

const struct host_kind host_kind = {.name = "libev", .nests = true};
int host_result;
unsigned host_dones, host_busy_runs;
bool host_leaves;

static struct ev_loop *ev;
static struct guest guest;
static ev_timer ticking;
static ev_idle busy;
static void (*tick_fn)(void *data);

void host_init(int *argc, char **argv)
{
	(void)argc, (void)argv;
}

static void tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)loop, (void)events;
	tick_fn(timer->data);
}

static void is_busy(struct ev_loop *loop, ev_idle *idle, int events)
{
	(void)loop, (void)idle, (void)events;
	host_busy_runs++;
}

void host_open(void)
{
	ev = ev_loop_new(EVFLAG_AUTO);
	if (!ev)
		abort();
	ev_init(&ticking, tick);
	ev_init(&busy, is_busy);
}

void host_close(void)
{
	ev_loop_destroy(ev);
}

int host_attach(rouse_loop *loop)
{
	return guest_begin(&guest, ev, loop);
}

int host_detach(void)
{
	guest_end(&guest, ev);
	return 0;
}

void host_turn(void)
{
	ev_run(ev, EVRUN_ONCE);
}

void host_poll(void)
{
	ev_run(ev, EVRUN_NOWAIT);
}

bool host_refuses_to_nest(void)
{
	return false;
}

void host_tick(void (*fn)(void *data), void *data)
{
	ev_timer_stop(ev, &ticking);
	tick_fn = fn;
	ticking.data = data;
	ev_timer_set(&ticking, 0.001, 0.001);
	if (fn)
		ev_timer_start(ev, &ticking);
}

void host_busy(bool on)
{
	ev_idle_stop(ev, &busy);
	host_busy_runs = 0;
	if (on)
		ev_idle_start(ev, &busy);
}
