/* What callbacks do. */
#include "removers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define LOOP (removers.home.loop)

/* ---- Descriptors ----------------------------------------------------------------------- */

static void write_to(struct thing *thing)
{
	if (thing->peer >= 0)
		(void)!write(thing->peer, "x", 1);
}

static void close_peer(struct thing *thing)
{
	if (thing->peer >= 0)
		close(thing->peer);
	thing->peer = -1;
}

/* While it is watched; a duplicate may keep the file open, so that the system goes on reporting
 * it. */
static void close_watched(struct thing *thing)
{
	if (thing->closed)
		return;
	if (stress_once_in(&removers.random, 2)) {
		thing->duplicate = fcntl(thing->fd, F_DUPFD_CLOEXEC, FIRST_HIGH);
		STRESS_CHECK(thing->duplicate >= 0, "dup: %d", errno);
	}
	close(thing->fd);
	thing->closed = 1;
	thing->closed_turn = removers.turn;
	removers.closes++;
}

static void set_events(struct thing *thing)
{
	unsigned events = stress_below(&removers.random, 8);
	int result = rouse_fd_set_events(LOOP, thing->name, events);

	/* The system may say that a closed one is none any more. */
	STRESS_CHECK(result == 0 || thing->closed, "set events: %s", rouse_strerror(result));
	if (result == 0)
		thing->events = events;
}

static void act_on_fd(struct thing *thing)
{
	switch (stress_below(&removers.random, 13)) {
	case 12:
		thing_add_anew(thing);
		break;
	case 0:
		close_peer(thing);
		break;
	case 1:
		close_watched(thing);
		break;
	case 2:
	case 3:
	case 4:
		set_events(thing);
		break;
	case 5:
		if (!thing->closed)
			STRESS_CHECK(rouse_fd_add(LOOP, thing->fd, ROUSE_READABLE,
			                          (rouse_fd_fn)(void (*)(void))act, thing,
			                          NULL) == ROUSE_EEXIST,
			             "a descriptor is watched twice");
		break;
	default:
		write_to(thing);
		break;
	}
}

/* ---- The others ------------------------------------------------------------------------ */

static void set_timer(struct thing *thing)
{
	thing->due = stress_once_in(&removers.random, 5)
	                     ? ROUSE_NEVER
	                     : rouse_loop_now(LOOP) - 1000 + stress_below(&removers.random, 300000);
	thing->period = thing->due != ROUSE_NEVER && stress_once_in(&removers.random, 4)
	                        ? 1000 + stress_below(&removers.random, 1000000)
	                        : 0;
	stress_must(rouse_timer_set(LOOP, thing->name, thing->due, thing->period, 0),
	            "set a timer");
}

static void act_on_hook(struct thing *thing)
{
	if (thing->fd < 0) {
		/* Outside a turn the loop would have to be told, by rouse_loop_prepare(); and in a
		 * prepare the other hook may have been asked already. */
		if (removers.depth && !removers.in_hook)
			thing->work = 1;
		return;
	}
	if (stress_once_in(&removers.random, 4)) {
		thing->events = stress_once_in(&removers.random, 3) ? 0 : ROUSE_READABLE;
		stress_must(rouse_fd_set_events(LOOP, thing->name, thing->events),
		            "set a hook's events");
		return;
	}
	write_to(thing);
}

static void act_on(struct thing *thing)
{
	switch (thing->kind) {
	case FD:
		act_on_fd(thing);
		break;
	case TIMER:
		set_timer(thing);
		break;
	case HOOK:
		act_on_hook(thing);
		break;
	case WAKER:
		stress_must(rouse_wake(thing->waker), "wake");
		thing->pending = 1;
		break;
	default:
		/* Its handler has run when this returns. */
		thing->pending = 1;
		raise(thing->signo);
		break;
	}
}

static void poke_stale(void)
{
	rouse_source name = removers.stale[stress_below(&removers.random, STALE)];

	if (!name.id)
		return;
	STRESS_CHECK(rouse_remove(LOOP, name) == ROUSE_ESTALE, "a stale name was removed");
	STRESS_CHECK(rouse_fd_set_events(LOOP, name, 0) == ROUSE_ESTALE, "a stale name's events");
	STRESS_CHECK(rouse_timer_set(LOOP, name, 0, 0, 0) == ROUSE_ESTALE, "a stale name's timer");
}

static void act_once(void)
{
	struct thing *thing = thing_any();
	unsigned dice = stress_below(&removers.random, 100);

	removers.acts++;
	if (!thing && dice < 80)
		thing_add((enum kind)stress_below(&removers.random, KINDS));
	else if (!thing)
		post_an_act();
	else if (dice < 30)
		thing_remove(thing);
	else if (dice < 33)
		poke_stale();
	else if (dice < 36)
		turn_nested();
	else
		act_on(thing);
}

void act(void)
{
	unsigned count = stress_below(&removers.random, 4);

	if (removers.settling)
		return;
	while (count-- > 0)
		act_once();
}
