#include "host.h"

#include "recipe_event.h"

#include <stdlib.h>
#include <sys/time.h>

const struct host_kind host_kind = {.name = "libevent", .refuses = true};
int host_result;
unsigned host_dones, host_busy_runs;
bool host_leaves;

static struct event_base *base;
static struct event *guest, *ticking, *busy;
static void (*tick_fn)(void *data);
static void *tick_data;

void host_init(int *argc, char **argv)
{
	(void)argc, (void)argv;
}

static void tick(evutil_socket_t fd, short events, void *data)
{
	(void)fd, (void)events, (void)data;
	tick_fn(tick_data);
}

static void is_busy(evutil_socket_t fd, short events, void *data)
{
	(void)fd, (void)events, (void)data;
	host_busy_runs++;
}

void host_open(void)
{
	base = event_base_new();
	if (!base)
		abort();
	ticking = event_new(base, -1, EV_PERSIST, tick, NULL);
	busy = event_new(base, -1, EV_PERSIST, is_busy, NULL);
}

void host_close(void)
{
	event_free(ticking);
	event_free(busy);
	event_base_free(base);
}

int host_attach(rouse_loop *loop)
{
	return guest_begin(&guest, base, loop);
}

int host_detach(void)
{
	if (guest)
		event_free(guest);
	guest = NULL;
	return 0;
}

void host_turn(void)
{
	event_base_loop(base, EVLOOP_ONCE);
}

void host_poll(void)
{
	event_base_loop(base, EVLOOP_NONBLOCK);
}

static void every(struct event *event, suseconds_t microseconds, bool on)
{
	const struct timeval period = {.tv_usec = microseconds};

	event_del(event);
	if (on)
		event_add(event, &period);
}

bool host_refuses_to_nest(void)
{
	return event_base_loop(base, EVLOOP_NONBLOCK) < 0;
}

void host_tick(void (*fn)(void *data), void *data)
{
	tick_fn = fn;
	tick_data = data;
	every(ticking, 1000, fn != NULL);
}

void host_busy(bool on)
{
	host_busy_runs = 0;
	every(busy, 0, on);
}
