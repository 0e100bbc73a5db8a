/*
 * stress_destroyers: loops are created and destroyed while other threads hold wakers and remotes of
 * them and go on using these.  Every post runs or is cancelled exactly once, or was refused; every
 * call has run or was refused; nothing of a loop is called once it is closed.
 *
 * An owner lives through rounds, each with a loop of its own.  A guest joins the round that is
 * published, does as it likes until the loop refuses it, or longer, and leaves; the round is
 * over when the loop is destroyed and all guests have left.  Some wakers are handed to one guest
 * alone, which drops the last reference, before or after the loop's end.
 */
#include "stress.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OWNERS = 2, GUESTS = 4, SHARED = 3, SPARE = 8, ABANDONED = 30, PER_LOOP = 5 };

struct round {
	struct stress_memory memory;
	struct stress_loop home;
	rouse_remote *remote;
	rouse_waker *shared[SHARED], *spare[SPARE];
	atomic_int spare_taken, members;
	_Atomic uint64_t accepted, refused, ran, cancelled;
	int closed, released, hooks; /* the owner's: no callback from now on */
	uint64_t random;
	pthread_t thread;
};

struct letter {
	rouse_task task; /* a letter is a task, or the data of a post */
	struct round *round;
	int opened;
};

static struct {
	pthread_mutex_t lock;
	struct round *round; /* published; NULL: none */
} slots[OWNERS];

static struct {
	_Atomic uint64_t rounds, accepted, refused, ran, cancelled, calls, calls_refused, wakes,
	        wakes_refused, abandoned;
} sums;

/* An abandoned loop's memory is nobody's; here it can be found. */
static struct round *abandoned[ABANDONED];

static void print_state(void)
{
	fprintf(stderr,
	        "rounds %llu; posts accepted %llu, ran %llu, cancelled %llu, refused %llu; calls "
	        "%llu, "
	        "refused %llu; wakes %llu, refused %llu\n",
	        (unsigned long long)sums.rounds, (unsigned long long)sums.accepted,
	        (unsigned long long)sums.ran, (unsigned long long)sums.cancelled,
	        (unsigned long long)sums.refused, (unsigned long long)sums.calls,
	        (unsigned long long)sums.calls_refused, (unsigned long long)sums.wakes,
	        (unsigned long long)sums.wakes_refused);
}

/* ---- On the loop's thread -------------------------------------------------------------- */

static void belongs(struct round *round, const char *what)
{
	STRESS_CHECK(pthread_equal(pthread_self(), round->thread), "%s on another thread", what);
	STRESS_CHECK(!round->closed, "%s after the loop's end", what);
	stress_alive();
}

static void open_letter(struct letter *letter, _Atomic uint64_t *how, const char *what)
{
	struct round *round = letter->round;

	belongs(round, what);
	STRESS_CHECK(!letter->opened++, "%s a second time", what);
	atomic_fetch_add(how, 1);
	free(letter);
}

static void run_letter(rouse_loop *loop, void *data)
{
	struct letter *letter = data;

	STRESS_CHECK(loop == letter->round->home.loop, "a post runs on another loop");
	open_letter(letter, &letter->round->ran, "a post");
}

static void must_be_refused(int result, const char *what)
{
	STRESS_CHECK(result == ROUSE_ECLOSED, "%s on a loop being destroyed: %s", what,
	             result < 0 ? rouse_strerror(result) : "success");
}

static void nothing(rouse_loop *loop, void *data)
{
	(void)loop;
	(void)data;
}

static void no_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	(void)data;
}

/* Also of rouse_cancel_posts(), and then the loop is open. */
static void cancel_letter(void *data)
{
	struct letter *letter = data;
	struct round *round = letter->round;

	if (round->released && stress_once_in(&round->random, 8)) {
		rouse_waker *waker;

		must_be_refused(rouse_post(round->remote, nothing, NULL, NULL), "a post");
		must_be_refused(rouse_waker_create(round->home.loop, nothing, NULL, &waker),
		                "a new waker");
		must_be_refused(rouse_timer_add(round->home.loop, 0, 0, 0, no_timer, NULL, NULL),
		                "a new timer");
		must_be_refused(rouse_wake(round->shared[0]), "a wake");
		must_be_refused(rouse_call(round->remote, nothing, NULL), "a call");
	}
	open_letter(letter, &round->cancelled, "a cancel function");
}

static void run_letter_task(rouse_loop *loop, rouse_task *task)
{
	run_letter(loop, task);
}

/* It is ours again, not queued any more. */
static void cancel_letter_task(rouse_task *task)
{
	struct letter *letter = (struct letter *)task;

	must_be_refused(rouse_post_task(letter->round->remote, task), "a cancelled task");
	cancel_letter(task);
}

static void woken(rouse_loop *loop, void *data)
{
	(void)loop;
	belongs(data, "a waker");
}

static void ticked(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	belongs(data, "a timer");
}

static void released(rouse_loop *loop, void *data)
{
	struct round *round = data;

	(void)loop;
	belongs(round, "a hook's release");
	round->hooks--;
	STRESS_CHECK(round->hooks >= 0, "a hook was released twice");
}

/* ---- Any thread ------------------------------------------------------------------------ */

static struct letter *write_letter(struct round *round)
{
	struct letter *letter = calloc(1, sizeof *letter);

	STRESS_CHECK(letter, "no memory");
	letter->round = round;
	letter->task.run = run_letter_task;
	letter->task.cancel = cancel_letter_task;
	return letter;
}

/* 1: the loop is closed. */
static int post_letter(struct round *round, int as_task)
{
	struct letter *letter = write_letter(round);
	int result;

	result = as_task ? rouse_post_task(round->remote, &letter->task)
	                 : rouse_post(round->remote, run_letter, letter, cancel_letter);
	if (result == 0) {
		atomic_fetch_add(&round->accepted, 1);
		return 0;
	}
	STRESS_CHECK(result == ROUSE_ECLOSED, "a post: %d", result);
	atomic_fetch_add(&round->refused, 1);
	free(letter);
	return 1;
}

static void add_one(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
}

static int call(struct round *round)
{
	int ran = 0, result = rouse_call(round->remote, add_one, &ran);

	atomic_fetch_add(&sums.calls, 1);
	if (result == 0) {
		STRESS_CHECK(ran == 1, "a call returned having run %d times", ran);
		return 0;
	}
	STRESS_CHECK(result == ROUSE_ECLOSED && ran == 0, "a call: %d, ran %d times", result, ran);
	atomic_fetch_add(&sums.calls_refused, 1);
	return 1;
}

static int wake(rouse_waker *waker)
{
	int result = rouse_wake(waker);

	atomic_fetch_add_explicit(&sums.wakes, 1, memory_order_relaxed);
	if (result >= 0)
		return 0;
	STRESS_CHECK(result == ROUSE_ECLOSED, "a wake: %d", result);
	atomic_fetch_add_explicit(&sums.wakes_refused, 1, memory_order_relaxed);
	return 1;
}

/* ---- Guests ---------------------------------------------------------------------------- */

static struct round *join(unsigned owner)
{
	struct round *round;

	pthread_mutex_lock(&slots[owner].lock);
	round = slots[owner].round;
	if (round)
		atomic_fetch_add(&round->members, 1);
	pthread_mutex_unlock(&slots[owner].lock);
	return round;
}

static rouse_waker *take_spare(struct round *round)
{
	int n = atomic_fetch_add(&round->spare_taken, 1);

	return n < SPARE ? round->spare[n] : NULL;
}

static void be_guest(struct round *round, uint64_t *random)
{
	rouse_waker *own = take_spare(round);
	rouse_waker *shared = rouse_waker_ref(round->shared[stress_below(random, SHARED)]);
	unsigned stay = stress_below(random, 400), after_end = stress_below(random, 4);

	for (unsigned i = 0; i < stay && after_end > 0; i++) {
		unsigned dice = stress_below(random, 100);
		int refused = 0;

		if (dice < 35)
			refused = post_letter(round, 0);
		else if (dice < 60)
			refused = post_letter(round, 1);
		else if (dice < 80)
			refused = wake(shared);
		else if (dice < 90)
			refused = own && wake(own);
		else if (dice < 92)
			refused = call(round);
		else if (dice < 94)
			refused = rouse_remote_stop(round->remote) == ROUSE_ECLOSED;
		else if (dice < 95)
			own = rouse_waker_unref(own);
		else if (dice < 97)
			rouse_remote_unref(rouse_remote_ref(round->remote));
		else
			sched_yield();
		after_end -= refused ? 1 : 0;
	}
	rouse_waker_unref(shared);
	rouse_waker_unref(own);
	atomic_fetch_sub_explicit(&round->members, 1, memory_order_acq_rel);
}

static void *visit(void *data)
{
	uint64_t random = stress_random_state();

	(void)data;
	while (!stress_over()) {
		struct round *round = join(stress_below(&random, OWNERS));

		if (round)
			be_guest(round, &random);
		else
			sched_yield();
	}
	return NULL;
}

/* ---- Owners ---------------------------------------------------------------------------- */

static void publish(unsigned owner, struct round *round)
{
	pthread_mutex_lock(&slots[owner].lock);
	slots[owner].round = round;
	pthread_mutex_unlock(&slots[owner].lock);
}

static struct round *begin_round(uint64_t *random)
{
	struct round *round = calloc(1, sizeof *round);
	rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .release = released};

	STRESS_CHECK(round, "no memory");
	round->random = stress_random(random);
	round->thread = pthread_self();
	round->hooks = 1;
	stress_memory_init(&round->memory);
	stress_open(&round->home, &round->memory, stress_below(random, 8));
	round->remote = rouse_loop_remote(round->home.loop);
	for (unsigned i = 0; i < SHARED; i++)
		stress_must(rouse_waker_create(round->home.loop, woken, round, &round->shared[i]),
		            "create a waker");
	for (unsigned i = 0; i < SPARE; i++)
		stress_must(rouse_waker_create(round->home.loop, woken, round, &round->spare[i]),
		            "create a waker");
	stress_must(rouse_timer_add(round->home.loop, rouse_loop_now(round->home.loop), 300000, 0,
	                            ticked, round, NULL),
	            "add a timer");
	stress_must(rouse_hook_add(round->home.loop, &hook, round, NULL), "add a hook");
	return round;
}

static void live(struct round *round, uint64_t *random)
{
	unsigned turns = stress_below(random, 24);

	for (unsigned i = 0; i < turns; i++) {
		(void)stress_turn(&round->home, stress_below(random, 2) * 1000000);
		if (stress_once_in(random, 8))
			(void)rouse_waker_close(round->shared[stress_below(random, SHARED)]);
		if (stress_once_in(random, 4))
			(void)post_letter(round, (int)stress_below(random, 2));
	}
}

static void account(struct round *round)
{
	STRESS_CHECK(round->accepted == round->ran + round->cancelled,
	             "%llu posts accepted, but %llu ran and %llu were cancelled",
	             (unsigned long long)round->accepted, (unsigned long long)round->ran,
	             (unsigned long long)round->cancelled);
	atomic_fetch_add(&sums.rounds, 1);
	atomic_fetch_add(&sums.accepted, round->accepted);
	atomic_fetch_add(&sums.refused, round->refused);
	atomic_fetch_add(&sums.ran, round->ran);
	atomic_fetch_add(&sums.cancelled, round->cancelled);
}

/* When the last guest has left. */
static void let_go(struct round *round)
{
	while (atomic_load_explicit(&round->members, memory_order_acquire))
		sched_yield();
	for (int i = atomic_load(&round->spare_taken); i < SPARE; i++)
		rouse_waker_unref(round->spare[i]);
	for (unsigned i = 0; i < SHARED; i++)
		rouse_waker_unref(round->shared[i]);
	rouse_remote_unref(round->remote);
}

static void one_round(unsigned owner, uint64_t *random)
{
	struct round *round = begin_round(random);
	int unpublish_first = (int)stress_below(random, 2);

	publish(owner, round);
	live(round, random);
	if (unpublish_first)
		publish(owner, NULL);
	round->released = 1;
	stress_close(&round->home);
	round->closed = 1;
	STRESS_CHECK(round->hooks == 0, "a hook was not released");
	must_be_refused(rouse_post(round->remote, nothing, NULL, NULL), "a post");
	if (!unpublish_first)
		publish(owner, NULL);
	let_go(round);
	account(round);
	stress_memory_check(&round->memory);
	free(round);
}

/* A thread that ends with its loop undestroyed: its queue closes all the same. */
static void *abandon(void *data)
{
	uint64_t random = stress_random_state();
	struct round *round = begin_round(&random);

	live(round, &random);
	(void)post_letter(round, 0);
	publish(*(unsigned *)data, round);
	sched_yield();
	round->released = 1;
	return NULL;
}

static void one_abandoned_round(unsigned owner)
{
	uint64_t n = atomic_fetch_add(&sums.abandoned, 1);
	struct round *round;

	if (n >= ABANDONED)
		return;
	stress_join(stress_start(abandon, &owner));
	round = slots[owner].round;
	must_be_refused(rouse_post(round->remote, nothing, NULL, NULL), "a post");
	publish(owner, NULL);
	let_go(round);
	account(round);
	abandoned[n] = round;
}

static void *own(void *data)
{
	unsigned owner = *(unsigned *)data;
	uint64_t random = stress_random_state();

	while (!stress_over()) {
		one_round(owner, &random);
		if (stress_once_in(&random, 200))
			one_abandoned_round(owner);
	}
	return NULL;
}

static void run(void)
{
	static unsigned index[OWNERS] = {0, 1};
	pthread_t owners[OWNERS], guests[GUESTS];

	unsigned before = stress_descriptors(), lost;

	stress.print_state = print_state;
	for (unsigned i = 0; i < OWNERS; i++)
		pthread_mutex_init(&slots[i].lock, NULL);
	for (unsigned i = 0; i < OWNERS; i++)
		owners[i] = stress_start(own, &index[i]);
	for (unsigned i = 0; i < GUESTS; i++)
		guests[i] = stress_start(visit, NULL);
	for (unsigned i = 0; i < OWNERS; i++)
		stress_join(owners[i]);
	for (unsigned i = 0; i < GUESTS; i++)
		stress_join(guests[i]);
	/* An abandoned loop's stay open. */
	lost = sums.abandoned < ABANDONED ? (unsigned)sums.abandoned : ABANDONED;
	STRESS_CHECK(stress_descriptors() <= before + lost * PER_LOOP,
	             "%u descriptors before, %u after", before, stress_descriptors());
	printf("loops %llu; posts %llu: %llu ran, %llu cancelled, and %llu refused; calls %llu, "
	       "%llu refused; wakes %llu, %llu refused: none lost, none twice\n",
	       (unsigned long long)sums.rounds, (unsigned long long)sums.accepted,
	       (unsigned long long)sums.ran, (unsigned long long)sums.cancelled,
	       (unsigned long long)sums.refused, (unsigned long long)sums.calls,
	       (unsigned long long)sums.calls_refused, (unsigned long long)sums.wakes,
	       (unsigned long long)sums.wakes_refused);
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "stress_destroyers", run);
}
