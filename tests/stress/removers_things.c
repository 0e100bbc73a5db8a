#include "removers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOP (removers.home.loop)

static const int signals[SIGNALS] = {SIGUSR1, SIGUSR2};
static struct thing *watched[SIGNALS];

/* ---- Callbacks begin and end ----------------------------------------------------------- */

static void begin(struct thing *thing, enum kind kind)
{
	STRESS_CHECK(thing->magic == ALIVE, "a callback of a source that was removed");
	STRESS_CHECK(thing->kind == kind, "a callback of another kind");
	STRESS_CHECK(removers.things[thing->slot] == thing, "a callback of a source that is gone");
	STRESS_CHECK(!thing->running, "a callback inside itself");
	thing->running = 1;
	thing->called++;
	removers.callbacks[kind]++;
}

static void dispose(struct thing *thing)
{
	memset(thing, 0xdd, sizeof *thing);
	free(thing);
}

static void finish(struct thing *thing)
{
	act();
	thing->running = 0;
	if (thing->dead)
		dispose(thing);
}

static void same_name(const struct thing *thing, rouse_source self)
{
	STRESS_CHECK(thing->name.id == self.id, "a callback with another source's name");
}

/* ---- Descriptors ----------------------------------------------------------------------- */

static void drain(rouse_fd fd)
{
	char bytes[64];

	while (read(fd, bytes, sizeof bytes) > 0)
		;
}

/* After a close: what this turn had gathered already; where a duplicate keeps the file open, what
 * that has to report, until the loop finds out; and then an error, once. */
static void check_closed(struct thing *thing, unsigned events)
{
	if (!thing->closed)
		return;
	STRESS_CHECK(!thing->told, "descriptor %d was closed, and is called after it was told so",
	             thing->fd);
	if (events == ROUSE_FDERROR) {
		thing->told = 1;
		removers.errors_told++;
		return;
	}
	STRESS_CHECK(removers.turn == thing->closed_turn ||
	                     (thing->duplicate >= 0 && strcmp(stress.mode, "poll") != 0),
	             "descriptor %d was closed while watched, and turns later reports %x",
	             thing->fd, events);
}

static void fd_ready(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct thing *thing = data;

	(void)loop;
	begin(thing, FD);
	same_name(thing, self);
	STRESS_CHECK(fd == thing->fd, "descriptor %d is called with %d", thing->fd, fd);
	STRESS_CHECK(thing->events, "descriptor %d is paused, and reports %x", fd, events);
	STRESS_CHECK(events && !(events & ~(thing->events | ROUSE_HANGUP | ROUSE_FDERROR)),
	             "descriptor %d is watched for %x, and reports %x", fd, thing->events, events);
	check_closed(thing, events);
	if (!thing->closed && (events & ROUSE_READABLE) &&
	    (removers.settling || !stress_once_in(&removers.random, 4)))
		drain(fd);
	finish(thing);
}

static int out_of_the_way(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_HIGH);

	STRESS_CHECK(high >= 0, "dup: %d", errno);
	close(fd);
	return high;
}

static void open_pair(struct thing *thing)
{
	int ends[2], error;

	error = stress_once_in(&removers.random, 2)
	                ? pipe2(ends, O_CLOEXEC | O_NONBLOCK)
	                : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
	STRESS_CHECK(!error, "a pair of descriptors: %d", errno);
	thing->fd = ends[0];
	/* The number that a watched one leaves is for one that will be watched: "poll" has no way
	 * to tell an unwatched newcomer from the one that is gone. */
	thing->peer = out_of_the_way(ends[1]);
}

static void close_all(struct thing *thing)
{
	if (thing->fd >= 0 && !thing->closed)
		close(thing->fd);
	if (thing->peer >= 0)
		close(thing->peer);
	if (thing->duplicate >= 0)
		close(thing->duplicate);
}

/* ---- Timers ---------------------------------------------------------------------------- */

static void timer_fired(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct thing *thing = data;

	begin(thing, TIMER);
	same_name(thing, self);
	STRESS_CHECK(thing->due != ROUSE_NEVER, "a timer fired that is disarmed");
	STRESS_CHECK(deadline <= rouse_loop_now(loop), "a timer fired early");
	STRESS_CHECK(deadline == thing->due || (thing->period && deadline > thing->due &&
	                                        (deadline - thing->due) % thing->period == 0),
	             "a timer fired for %llu, its deadline is %llu", (unsigned long long)deadline,
	             (unsigned long long)thing->due);
	thing->due = thing->period ? deadline + thing->period : ROUSE_NEVER;
	finish(thing);
}

/* ---- Hooks ----------------------------------------------------------------------------- */

static void alive_hook(struct thing *thing, rouse_source self)
{
	STRESS_CHECK(thing->magic == ALIVE && thing->kind == HOOK, "a hook that was removed");
	same_name(thing, self);
}

/* Its own removal inside one of these frees it. */
static void act_in_hook(void)
{
	if (!stress_once_in(&removers.random, 16))
		return;
	removers.in_hook++;
	act();
	removers.in_hook--;
}

static rouse_ns hook_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	struct thing *thing = data;
	rouse_ns until = ROUSE_NEVER;

	(void)loop;
	(void)flags;
	alive_hook(thing, self);
	if (thing->work)
		until = 0;
	act_in_hook();
	return until;
}

static int hook_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	struct thing *thing = data;
	int work;

	(void)loop;
	alive_hook(thing, self);
	STRESS_CHECK(!thing->running, "a hook is checked inside its dispatch");
	STRESS_CHECK(!ready || thing->fd >= 0, "a hook without a descriptor has %x", ready);
	work = thing->work || ready;
	thing->checked = work;
	act_in_hook();
	return work;
}

static int hook_dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	struct thing *thing = data;

	(void)loop;
	begin(thing, HOOK);
	same_name(thing, self);
	STRESS_CHECK(budget > 0, "a hook is dispatched with a budget of 0");
	STRESS_CHECK(thing->checked, "a hook is dispatched that has no work");
	thing->work = thing->checked = 0;
	if (thing->fd >= 0)
		drain(thing->fd);
	finish(thing);
	return 1;
}

static void hook_released(rouse_loop *loop, void *data)
{
	struct thing *thing = data;

	STRESS_CHECK(thing->magic == ALIVE && thing->kind == HOOK, "a hook released twice");
	thing->magic = 0;
	removers.in_hook++;
	STRESS_CHECK(rouse_loop_turn(loop, 0) == ROUSE_EBUSY, "a turn inside a hook's release");
	removers.in_hook--;
}

static void add_hook(struct thing *thing)
{
	rouse_hook hook = {
	        .size = sizeof hook,
	        .fd = ROUSE_NO_FD,
	        .prepare = hook_prepare,
	        .check = hook_check,
	        .dispatch = hook_dispatch,
	        .release = hook_released,
	};

	if (stress_once_in(&removers.random, 2)) {
		open_pair(thing);
		hook.fd = thing->fd;
		hook.events = thing->events = ROUSE_READABLE;
	}
	stress_must(rouse_hook_add(LOOP, &hook, thing, &thing->name), "add a hook");
}

/* ---- Wakers and signals ---------------------------------------------------------------- */

static void woken(rouse_loop *loop, void *data)
{
	struct thing *thing = data;

	(void)loop;
	begin(thing, WAKER);
	thing->pending = 0;
	finish(thing);
}

static void signalled(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct thing *thing = data;

	(void)loop;
	begin(thing, SIGNAL);
	same_name(thing, self);
	STRESS_CHECK(signo == thing->signo, "signal %d is called with %d", thing->signo, signo);
	STRESS_CHECK(thing->pending, "a signal that was not raised");
	thing->pending = 0;
	finish(thing);
}

static void ours(int signo)
{
	(void)signo;
}

void thing_set_disposition(void)
{
	struct sigaction action = {.sa_handler = ours, .sa_flags = SA_RESTART};

	for (unsigned i = 0; i < SIGNALS; i++)
		STRESS_CHECK(!sigaction(signals[i], &action, NULL), "sigaction");
}

static void check_disposition(int signo)
{
	struct sigaction now;

	STRESS_CHECK(!sigaction(signo, NULL, &now) && now.sa_handler == ours,
	             "signal %d: its disposition was not put back", signo);
}

static unsigned index_of(int signo)
{
	return signo == signals[0] ? 0 : 1;
}

int thing_signal_watched(int signo)
{
	return watched[index_of(signo)] != NULL;
}

/* 0: both are watched. */
static int add_signal(struct thing *thing)
{
	unsigned i = stress_below(&removers.random, SIGNALS);

	if (watched[i]) {
		STRESS_CHECK(rouse_signal_add(LOOP, signals[i], signalled, thing, NULL) ==
		                     ROUSE_EEXIST,
		             "a signal is watched twice");
		return 0;
	}
	thing->signo = signals[i];
	watched[i] = thing;
	stress_must(rouse_signal_add(LOOP, signals[i], signalled, thing, &thing->name),
	            "add a signal");
	return 1;
}

/* ---- Things ---------------------------------------------------------------------------- */

static unsigned random_events(void)
{
	static const unsigned choices[] = {ROUSE_READABLE,
	                                   ROUSE_READABLE,
	                                   ROUSE_READABLE | ROUSE_HANGUP,
	                                   ROUSE_HANGUP,
	                                   0,
	                                   ROUSE_READABLE | ROUSE_WRITABLE};

	return choices[stress_below(&removers.random, sizeof choices / sizeof *choices)];
}

static void add_timer(struct thing *thing)
{
	rouse_ns now = rouse_loop_now(LOOP);

	thing->period = stress_once_in(&removers.random, 3)
	                        ? 1 + stress_below(&removers.random, 2000000)
	                        : 0;
	thing->due = stress_once_in(&removers.random, 4)
	                     ? ROUSE_NEVER
	                     : now - 1000 + stress_below(&removers.random, 500000);
	if (thing->due == ROUSE_NEVER)
		thing->period = 0;
	stress_must(rouse_timer_add(LOOP, thing->due, thing->period,
	                            stress_below(&removers.random, 2) * 100000u, timer_fired, thing,
	                            &thing->name),
	            "add a timer");
}

static void add_fd(struct thing *thing)
{
	open_pair(thing);
	thing->events = random_events();
	for (unsigned i = 0; i < THINGS; i++)
		removers.reopened += removers.things[i] && removers.things[i] != thing &&
		                     removers.things[i]->closed &&
		                     removers.things[i]->fd == thing->fd;
	stress_must(rouse_fd_add(LOOP, thing->fd, thing->events, fd_ready, thing, &thing->name),
	            "add a descriptor");
}

static void add_waker(struct thing *thing)
{
	stress_must(rouse_waker_create(LOOP, woken, thing, &thing->waker), "create a waker");
	thing->helped = (int)stress_below(&removers.random, 2);
	if (thing->helped)
		helper_offer(thing->waker);
}

static int add_as(struct thing *thing)
{
	switch (thing->kind) {
	case FD:
		add_fd(thing);
		return 1;
	case TIMER:
		add_timer(thing);
		return 1;
	case HOOK:
		add_hook(thing);
		return 1;
	case WAKER:
		add_waker(thing);
		return 1;
	default:
		return add_signal(thing);
	}
}

void thing_add(enum kind kind)
{
	unsigned slot = stress_below(&removers.random, THINGS);
	struct thing *thing;

	if (removers.things[slot])
		return;
	thing = malloc(sizeof *thing);
	STRESS_CHECK(thing, "no memory");
	*thing = (struct thing){.magic = ALIVE, .slot = slot, .kind = kind};
	thing->fd = thing->peer = thing->duplicate = -1;
	thing->due = ROUSE_NEVER;
	removers.things[slot] = thing;
	if (!add_as(thing)) {
		removers.things[slot] = NULL;
		free(thing);
		return;
	}
	removers.added[kind]++;
}

static void remove_source(struct thing *thing)
{
	if (thing->kind == WAKER) {
		/* Without another holder, the last reference's end is as good. */
		if (thing->helped || stress_once_in(&removers.random, 2))
			stress_must(rouse_waker_close(thing->waker), "close a waker");
		rouse_waker_unref(thing->waker);
		return;
	}
	stress_must(rouse_remove(LOOP, thing->name), "remove");
	removers.stale[removers.stale_next++ % STALE] = thing->name;
	if (thing->kind == HOOK)
		STRESS_CHECK(thing->magic == 0, "a hook was not released");
	if (thing->kind == SIGNAL) {
		watched[index_of(thing->signo)] = NULL;
		check_disposition(thing->signo);
	}
}

void thing_remove(struct thing *thing)
{
	removers.removed[thing->kind]++;
	remove_source(thing);
	removers.things[thing->slot] = NULL;
	thing->magic = 0;
	close_all(thing);
	if (thing->running)
		thing->dead = 1;
	else
		dispose(thing);
}

void thing_add_anew(struct thing *thing)
{
	if (thing->closed || thing->running)
		return;
	stress_must(rouse_remove(LOOP, thing->name), "remove");
	stress_must(rouse_fd_add(LOOP, thing->fd, thing->events, fd_ready, thing, &thing->name),
	            "add a descriptor anew");
	/* What was gathered for the old name is nobody's. */
	thing->is_due = 0;
}

struct thing *thing_any(void)
{
	return removers.things[stress_below(&removers.random, THINGS)];
}

struct thing *thing_of(enum kind kind)
{
	for (unsigned i = 0; i < 8; i++) {
		struct thing *thing = thing_any();

		if (thing && thing->kind == kind)
			return thing;
	}
	return NULL;
}
