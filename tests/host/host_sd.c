#include "host.h"

#include "recipe_sd.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

const struct host_kind host_kind = {.name = "sd-event", .refuses = true};
int host_result;
unsigned host_dones, host_busy_runs;
bool host_leaves;

static sd_event *event;
static sd_event_source *guest, *ticking, *busy;
static void (*tick_fn)(void *data);
static void *tick_data;

void host_init(int *argc, char **argv)
{
	(void)argc, (void)argv;
}

void host_open(void)
{
	if (sd_event_new(&event) < 0)
		abort();
}

void host_close(void)
{
	ticking = sd_event_source_disable_unref(ticking);
	busy = sd_event_source_disable_unref(busy);
	event = sd_event_unref(event);
}

int host_attach(rouse_loop *loop)
{
	return guest_begin(&guest, event, loop);
}

int host_detach(void)
{
	guest = sd_event_source_disable_unref(guest);
	return 0;
}

void host_turn(void)
{
	if (sd_event_run(event, UINT64_MAX) < 0)
		abort();
}

void host_poll(void)
{
	if (sd_event_run(event, 0) < 0)
		abort();
}

static int tick(sd_event_source *source, uint64_t when, void *data)
{
	(void)data;
	sd_event_source_set_time(source, when + 1000);
	tick_fn(tick_data);
	return 0;
}

bool host_refuses_to_nest(void)
{
	return sd_event_run(event, 0) == -EBUSY;
}

void host_tick(void (*fn)(void *data), void *data)
{
	uint64_t now;

	ticking = sd_event_source_disable_unref(ticking);
	tick_fn = fn;
	tick_data = data;
	if (!fn)
		return;
	sd_event_now(event, CLOCK_MONOTONIC, &now);
	if (sd_event_add_time(event, &ticking, CLOCK_MONOTONIC, now + 1000, 1, tick, NULL) < 0 ||
	    sd_event_source_set_enabled(ticking, SD_EVENT_ON) < 0)
		abort();
}

static int is_busy(sd_event_source *source, void *data)
{
	(void)source, (void)data;
	host_busy_runs++;
	return 0;
}

void host_busy(bool on)
{
	busy = sd_event_source_disable_unref(busy);
	host_busy_runs = 0;
	/* At one priority the source goes first that is pending longest, and this one always is. */
	if (on && (sd_event_add_defer(event, &busy, is_busy, NULL) < 0 ||
	           sd_event_source_set_enabled(busy, SD_EVENT_ON) < 0 ||
	           sd_event_source_set_priority(busy, SD_EVENT_PRIORITY_IDLE) < 0))
		abort();
}
