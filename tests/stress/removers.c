#include "removers.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct removers removers;

static void print_state(void)
{
	static const char *const names[KINDS] = {"descriptors", "timers", "hooks", "wakers",
	                                         "signals"};

	for (unsigned k = 0; k < KINDS; k++)
		fprintf(stderr, "%-12s added %llu, removed %llu, callbacks %llu\n", names[k],
		        (unsigned long long)removers.added[k],
		        (unsigned long long)removers.removed[k],
		        (unsigned long long)removers.callbacks[k]);
	fprintf(stderr, "turn %llu, acts %llu, settled %llu times\n",
	        (unsigned long long)removers.turn, (unsigned long long)removers.acts,
	        (unsigned long long)removers.settled);
}

/* ---- The helper: wakes and posts from outside ------------------------------------------ */

enum { OFFERS = 8, MAX_POSTS = 200 };

static struct {
	pthread_mutex_t lock;
	rouse_waker *offers[OFFERS];
	atomic_int stop, held;
} helper = {.lock = PTHREAD_MUTEX_INITIALIZER};

void helper_offer(rouse_waker *waker)
{
	unsigned i = stress_below(&removers.random, OFFERS);
	rouse_waker *old;

	pthread_mutex_lock(&helper.lock);
	old = helper.offers[i];
	helper.offers[i] = rouse_waker_ref(waker);
	pthread_mutex_unlock(&helper.lock);
	rouse_waker_unref(old);
}

static void posted(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
	atomic_fetch_add(&removers.posts_run, 1);
	act();
}

void post_an_act(void)
{
	atomic_fetch_add(&removers.posts_sent, 1);
	STRESS_CHECK(rouse_post(removers.remote, posted, NULL, NULL) == 0, "a post");
}

static void *help(void *data)
{
	uint64_t random = stress_random_state();

	(void)data;
	while (!atomic_load(&helper.stop)) {
		rouse_waker *waker;

		if (atomic_load(&helper.held) || stress_once_in(&random, 8) ||
		    atomic_load(&removers.posts_sent) - atomic_load(&removers.posts_run) >
		            MAX_POSTS) {
			sched_yield();
			continue;
		}
		pthread_mutex_lock(&helper.lock);
		waker = rouse_waker_ref(helper.offers[stress_below(&random, OFFERS)]);
		pthread_mutex_unlock(&helper.lock);
		if (waker)
			(void)rouse_wake(waker);
		rouse_waker_unref(waker);
		if (stress_once_in(&random, 16))
			post_an_act();
	}
	return NULL;
}

/* ---- Turns ----------------------------------------------------------------------------- */

static int host_says_ready(int milliseconds)
{
	struct pollfd outer = {.fd = removers.home.outer, .events = POLLIN};

	return removers.home.outer < 0 || poll(&outer, 1, milliseconds) > 0;
}

/* As a modal dialog of a guest's host does; elsewhere it is refused. */
void turn_nested(void)
{
	int result;

	if (removers.depth == 0)
		return;
	if (removers.in_hook || !stress.guest) {
		STRESS_CHECK(rouse_loop_turn(removers.home.loop, 0) == ROUSE_EBUSY,
		             "a nested turn is not refused");
		return;
	}
	if (removers.depth >= 3 || !host_says_ready(0))
		return;
	removers.depth++;
	removers.nested++;
	result = rouse_loop_turn(removers.home.loop, 0);
	STRESS_CHECK(result >= 0, "a nested turn: %s", rouse_strerror(result));
	removers.depth--;
}

static void turn(rouse_ns longest)
{
	removers.turn++;
	removers.depth = 1;
	stress_turn(&removers.home, longest);
	removers.depth = 0;
}

/* ---- Settling -------------------------------------------------------------------------- */

static int is_due(const struct thing *thing)
{
	int bytes = 0;

	switch (thing->kind) {
	case FD:
		return !thing->closed && (thing->events & ROUSE_READABLE) &&
		       !ioctl(thing->fd, FIONREAD, &bytes) && bytes > 0;
	case TIMER:
		return thing->due != ROUSE_NEVER; /* in milliseconds */
	case HOOK:
		if (thing->fd < 0)
			return thing->work;
		return thing->events && !ioctl(thing->fd, FIONREAD, &bytes) && bytes > 0;
	default:
		return thing->pending;
	}
}

static const char *name_of(const struct thing *thing)
{
	static const char *const names[KINDS] = {"a descriptor", "a timer", "a hook", "a waker",
	                                         "a signal"};

	return names[thing->kind];
}

/* A thing that was due and has not been called; NULL: all have. */
static const struct thing *missing(void)
{
	for (unsigned i = 0; i < THINGS; i++) {
		const struct thing *thing = removers.things[i];

		if (thing && thing->is_due && thing->called == thing->due_mark)
			return thing;
	}
	return NULL;
}

/* Whatever is due is called.  Where there is a host, the loop takes a turn only when that sees the
 * descriptor readable. */
static void settle(void)
{
	enum { TURNS = 4096 };
	struct thing *thing;

	removers.settling = 1;
	atomic_store(&helper.held, 1);
	for (unsigned i = 0; i < THINGS; i++)
		if ((thing = removers.things[i])) {
			thing->is_due = is_due(thing);
			thing->due_mark = thing->called;
		}
	for (unsigned n = 0; missing(); n++) {
		STRESS_CHECK(n < TURNS, "%s was due and was not called in %d turns",
		             name_of(missing()), TURNS);
		STRESS_CHECK(host_says_ready((int)stress_patience() * 500),
		             "%s is due, and the host is not told", name_of(missing()));
		turn(stress.guest ? 0 : 1000000);
	}
	atomic_store(&helper.held, 0);
	removers.settling = 0;
	removers.settled++;
}

static void remove_all(void)
{
	for (unsigned i = 0; i < THINGS; i++)
		if (removers.things[i])
			thing_remove(removers.things[i]);
}

static void run(void)
{
	struct stress_memory memory;
	unsigned before = stress_descriptors();
	pthread_t thread;

	stress.print_state = print_state;
	removers.random = stress_random_state();
	thing_set_disposition();
	signal(SIGPIPE, SIG_IGN);
	stress_memory_init(&memory);
	stress_open(&removers.home, &memory, 8);
	removers.remote = rouse_loop_remote(removers.home.loop);
	thread = stress_start(help, NULL);
	while (!stress_over()) {
		unsigned turns = stress_below(&removers.random, 200);

		while (turns-- > 0) {
			if (stress_once_in(&removers.random, 8))
				act();
			turn(stress_once_in(&removers.random, 16) ? 1000000 : 0);
		}
		/* Outside a turn the host must be told as well. */
		if (stress_once_in(&removers.random, 2))
			act();
		settle();
		if (stress_once_in(&removers.random, 20))
			remove_all();
	}
	atomic_store(&helper.stop, 1);
	stress_join(thread);
	remove_all();
	removers.settling = 1;
	while (removers.posts_run < removers.posts_sent)
		turn(0);
	for (unsigned i = 0; i < OFFERS; i++)
		rouse_waker_unref(helper.offers[i]);
	rouse_remote_unref(removers.remote);
	stress_close(&removers.home);
	stress_memory_check(&memory);
	STRESS_CHECK(stress_descriptors() == before, "%u descriptors before, %u after", before,
	             stress_descriptors());
	print_state();
	printf("%llu acts in %llu turns, %llu of them nested; %llu descriptors closed while "
	       "watched, "
	       "%llu numbers watched anew meanwhile, %llu told so: no callback too many, none "
	       "missing\n",
	       (unsigned long long)removers.acts, (unsigned long long)removers.turn,
	       (unsigned long long)removers.nested, (unsigned long long)removers.closes,
	       (unsigned long long)removers.reopened, (unsigned long long)removers.errors_told);
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "stress_removers", run);
}
