/*
 * stress_producers: many threads post, wake and call, callbacks post and cancel, and every one of
 * them is accounted for.
 *
 * What a producer sends is a parcel: how often it is queued, and the number of the last.  A parcel
 * with one post under way carries the order of its thread; one that is posted several times over
 * with the same data is there to be cancelled by it.
 */
#include "stress.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCERS = 4, PARCELS = 256, TASKS = 16, WAKERS = 6, MAX_QUEUED = 6000, MANY = 4 };

struct producer;

struct parcel {
	struct producer *from;
	atomic_int queued;
	uint64_t number;
};

struct task {
	rouse_task task;
	_Atomic uint64_t accepted, ran;
};

struct producer {
	pthread_t thread;
	uint64_t random;
	struct parcel single[PARCELS], many[MANY];
	uint64_t number; /* the producer's: posts in order so far */
	uint64_t last;   /* the loop's: the newest that ran or was cancelled */
	_Atomic uint64_t sent, ran, cancelled, calls, wakes, stops;
};

static struct stress_memory memory;
static struct stress_loop home;
static rouse_remote *remote;
static struct producer producers[PRODUCERS];
static struct producer self; /* what callbacks send */
static struct task tasks[TASKS];
static struct bell {
	rouse_waker *waker;
	_Atomic uint64_t sent[PRODUCERS];
	_Atomic uint64_t seen[PRODUCERS];
	_Atomic uint64_t runs;
} bells[WAKERS];
static pthread_t loop_thread;
static atomic_int active;
static _Atomic uint64_t cancel_calls, stops_taken, in_flight;
static int cancelled_here; /* by the rouse_cancel_posts() under way */

static void print_state(void)
{
	for (unsigned i = 0; i <= PRODUCERS; i++) {
		struct producer *p = i < PRODUCERS ? &producers[i] : &self;

		fprintf(stderr,
		        "producer %u: posts %llu, ran %llu, cancelled %llu; calls %llu, wakes "
		        "%llu\n",
		        i, (unsigned long long)p->sent, (unsigned long long)p->ran,
		        (unsigned long long)p->cancelled, (unsigned long long)p->calls,
		        (unsigned long long)p->wakes);
	}
}

static void on_loop_thread(const char *what)
{
	STRESS_CHECK(pthread_equal(pthread_self(), loop_thread), "%s ran on another thread", what);
}

/* ---- Callbacks: what was sent comes to its end, and sends more ------------------------- */

static void send_from_callback(rouse_loop *loop);

static void arrived(struct parcel *parcel, _Atomic uint64_t *how)
{
	int was = atomic_fetch_sub(&parcel->queued, 1);

	STRESS_CHECK(was > 0, "a post came to its end twice");
	atomic_fetch_sub(&in_flight, 1);
	atomic_fetch_add(how, 1);
}

static void in_order(struct parcel *parcel)
{
	struct producer *from = parcel->from;

	STRESS_CHECK(parcel->number > from->last, "post %llu ran after %llu of its thread",
	             (unsigned long long)parcel->number, (unsigned long long)from->last);
	from->last = parcel->number;
}

static void run_single(rouse_loop *loop, void *data)
{
	struct parcel *parcel = data;

	on_loop_thread("a post");
	in_order(parcel);
	arrived(parcel, &parcel->from->ran);
	send_from_callback(loop);
}

static void run_many(rouse_loop *loop, void *data)
{
	struct parcel *parcel = data;

	on_loop_thread("a post");
	arrived(parcel, &parcel->from->ran);
	send_from_callback(loop);
}

static void cancel_parcel(void *data)
{
	struct parcel *parcel = data;

	on_loop_thread("a cancel function");
	cancelled_here++;
	arrived(parcel, &parcel->from->cancelled);
}

static void run_task(rouse_loop *loop, rouse_task *node)
{
	struct task *task = (struct task *)node;

	on_loop_thread("a task");
	atomic_fetch_add(&task->ran, 1);
	send_from_callback(loop);
}

static void run_bell(rouse_loop *loop, void *data)
{
	struct bell *bell = data;

	on_loop_thread("a waker");
	for (unsigned i = 0; i < PRODUCERS; i++) {
		uint64_t sent = atomic_load_explicit(&bell->sent[i], memory_order_relaxed);

		atomic_store_explicit(&bell->seen[i], sent, memory_order_release);
	}
	atomic_fetch_add(&bell->runs, 1);
	send_from_callback(loop);
}

struct errand {
	int ran;
	uint64_t question, answer;
};

static void run_call(rouse_loop *loop, void *data)
{
	struct errand *errand = data;

	(void)loop;
	on_loop_thread("a call");
	errand->ran++;
	errand->answer = errand->question * 3;
}

/* ---- Sending --------------------------------------------------------------------------- */

static void posted(int result)
{
	STRESS_CHECK(result == 0, "a post: %s", result > 0 ? "doorbell" : rouse_strerror(result));
}

static void post(struct producer *p, struct parcel *parcel, rouse_post_fn fn)
{
	atomic_fetch_add(&parcel->queued, 1);
	atomic_fetch_add(&p->sent, 1);
	atomic_fetch_add(&in_flight, 1);
	posted(rouse_post(remote, fn, parcel, cancel_parcel));
}

static void post_single(struct producer *p)
{
	struct parcel *parcel = &p->single[stress_below(&p->random, PARCELS)];

	if (atomic_load(&parcel->queued))
		return;
	parcel->number = ++p->number;
	post(p, parcel, run_single);
}

static void post_task(struct producer *p)
{
	struct task *task = &tasks[stress_below(&p->random, TASKS)];
	int result;

	result = rouse_post_task(remote, &task->task);
	if (result == ROUSE_EEXIST)
		return;
	posted(result);
	atomic_fetch_add(&task->accepted, 1);
}

static void wake(struct producer *p)
{
	struct bell *bell = &bells[stress_below(&p->random, WAKERS)];
	unsigned index = (unsigned)(p - producers);

	atomic_fetch_add_explicit(&p->wakes, 1, memory_order_relaxed);
	atomic_store_explicit(&bell->sent[index], atomic_load(&p->wakes), memory_order_relaxed);
	stress_must(rouse_wake(bell->waker), "a wake");
}

static void call(struct producer *p)
{
	struct errand errand = {.question = stress_random(&p->random)};

	atomic_fetch_add(&p->calls, 1);
	stress_must(rouse_call(remote, run_call, &errand), "a call");
	STRESS_CHECK(errand.ran == 1 && errand.answer == errand.question * 3,
	             "a call returned having run %d times", errand.ran);
}

static void cancel_some(rouse_loop *loop)
{
	struct producer *p = &producers[stress_below(&self.random, PRODUCERS)];
	struct parcel *parcel = stress_once_in(&self.random, 2)
	                                ? &p->many[stress_below(&self.random, MANY)]
	                                : &p->single[stress_below(&self.random, PARCELS)];
	int count;

	cancelled_here = 0;
	count = stress_must(rouse_cancel_posts(loop, parcel), "cancel posts");
	STRESS_CHECK(count == cancelled_here, "%d posts cancelled, their functions ran %d times",
	             count, cancelled_here);
	atomic_fetch_add(&cancel_calls, 1);
}

/* Nobody else posts these: not one is left. */
static void cancel_own(rouse_loop *loop)
{
	struct parcel *parcel = &self.many[0];

	stress_must(rouse_cancel_posts(loop, parcel), "cancel posts");
	STRESS_CHECK(atomic_load(&parcel->queued) == 0, "a cancelled post is still queued");
}

static void send_from_callback(rouse_loop *loop)
{
	static int nested;
	struct errand errand = {.question = 1};

	if (nested || !atomic_load(&active))
		return;
	nested = 1;
	switch (stress_below(&self.random, 64)) {
	case 0:
		post_single(&self);
		break;
	case 1:
		post(&self, &self.many[0], run_many);
		break;
	case 2:
		post_task(&self);
		break;
	case 3:
		stress_must(rouse_call(remote, run_call, &errand), "a call in a callback");
		STRESS_CHECK(errand.ran == 1, "an inline call did not run");
		break;
	case 4:
	case 5:
	case 6:
		cancel_some(loop);
		break;
	case 7:
		cancel_own(loop);
		break;
	default:
		break;
	}
	stress_alive();
	nested = 0;
}

/* ---- The threads ----------------------------------------------------------------------- */

static void *produce(void *data)
{
	struct producer *p = data;

	while (!stress_over()) {
		unsigned dice = stress_below(&p->random, 1000);

		if (atomic_load(&in_flight) > MAX_QUEUED)
			sched_yield();
		else if (dice < 400)
			post_single(p);
		else if (dice < 550)
			post(p, &p->many[stress_below(&p->random, MANY)], run_many);
		else if (dice < 700)
			post_task(p);
		else if (dice < 950)
			wake(p);
		else if (dice < 995)
			call(p);
		else if (dice < 997)
			stress_must(rouse_remote_stop(remote), "stop");
		else
			sched_yield();
	}
	atomic_fetch_sub(&active, 1);
	stress_must(rouse_remote_stop(remote), "stop");
	return NULL;
}

static void set_up(struct producer *p)
{
	p->random = stress_random_state();
	for (unsigned i = 0; i < PARCELS; i++)
		p->single[i].from = p;
	for (unsigned i = 0; i < MANY; i++)
		p->many[i].from = p;
}

static void account(struct producer *p, unsigned index)
{
	STRESS_CHECK(p->sent == p->ran + p->cancelled,
	             "producer %u: %llu posts, but %llu ran and %llu were cancelled", index,
	             (unsigned long long)p->sent, (unsigned long long)p->ran,
	             (unsigned long long)p->cancelled);
	for (unsigned w = 0; index < PRODUCERS && w < WAKERS; w++)
		STRESS_CHECK(bells[w].seen[index] == bells[w].sent[index],
		             "waker %u: the wake %llu of producer %u was not answered", w,
		             (unsigned long long)bells[w].sent[index], index);
}

static void run(void)
{
	uint64_t posts = 0, wakes = 0, calls = 0, runs = 0, task_runs = 0, cancelled = 0;

	stress.print_state = print_state;
	loop_thread = pthread_self();
	stress_memory_init(&memory);
	stress_open(&home, &memory, 0);
	remote = rouse_loop_remote(home.loop);
	for (unsigned i = 0; i < WAKERS; i++)
		stress_must(rouse_waker_create(home.loop, run_bell, &bells[i], &bells[i].waker),
		            "create a waker");
	for (unsigned i = 0; i < TASKS; i++)
		tasks[i].task.run = run_task;
	set_up(&self);
	atomic_store(&active, PRODUCERS);
	for (unsigned i = 0; i < PRODUCERS; i++) {
		set_up(&producers[i]);
		producers[i].thread = stress_start(produce, &producers[i]);
	}
	while (atomic_load(&active)) {
		stress_run(&home);
		atomic_fetch_add(&stops_taken, 1);
	}
	for (unsigned i = 0; i < PRODUCERS; i++)
		stress_join(producers[i].thread);
	/* All are queued; at most max_batch of them run in a turn. */
	for (unsigned quiet = 0; quiet < 3;)
		quiet = stress_turn(&home, 0) ? 0 : quiet + 1;
	for (unsigned i = 0; i <= PRODUCERS; i++) {
		struct producer *p = i < PRODUCERS ? &producers[i] : &self;

		account(p, i);
		posts += p->sent, wakes += p->wakes, calls += p->calls, cancelled += p->cancelled;
	}
	for (unsigned i = 0; i < TASKS; i++) {
		STRESS_CHECK(tasks[i].accepted == tasks[i].ran,
		             "task %u was taken %llu times and ran %llu times", i,
		             (unsigned long long)tasks[i].accepted,
		             (unsigned long long)tasks[i].ran);
		task_runs += tasks[i].ran;
	}
	for (unsigned i = 0; i < WAKERS; i++) {
		runs += bells[i].runs;
		rouse_waker_unref(bells[i].waker);
	}
	rouse_remote_unref(remote);
	stress_close(&home);
	stress_memory_check(&memory);
	printf("posts %llu (%llu cancelled), tasks %llu, calls %llu, wakes %llu in %llu runs, "
	       "stops %llu: none lost\n",
	       (unsigned long long)posts, (unsigned long long)cancelled,
	       (unsigned long long)task_runs, (unsigned long long)calls, (unsigned long long)wakes,
	       (unsigned long long)runs, (unsigned long long)stops_taken);
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "stress_producers", run);
}
