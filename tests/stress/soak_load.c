/*
 * The producers.
 *
 * Each takes its place in a fixed schedule of absolute times, and at each sends one thing to
 * every site.  Steady traffic hides a lost ring, because what comes next rings again; so every
 * SOAK_LULL seconds there is a lull: the others park, the site's timers rest, and the first
 * producer sends one thing at a time and waits for it, with nothing else about that could wake
 * the loop.
 */
#include "soak.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Rounds of one thing of every kind, in a lull. */
enum { ROUNDS = 150 };

static int can_signal(const struct soak_site *site)
{
	return site->signo != 0;
}

static void queued(int result)
{
	SOAK_CHECK(result >= 0, "a post was refused: %s", rouse_strerror(result));
	SOAK_CHECK(result == 0, "the doorbell failed");
}

/* ---- One thing of each kind ------------------------------------------------------------ */

static void send_errand(struct soak_lane *lane, enum soak_errand errand)
{
	struct soak_flow *flow = &lane->flows[FLOW_POSTS];

	soak_bump(&flow->sent, 1);
	queued(rouse_post(lane->site->remote, soak_errand_fn(errand),
	                  soak_ticket(lane, soak_get(&flow->sent)), NULL));
}

static void send_call(struct soak_lane *lane)
{
	struct soak_flow *flow = &lane->flows[FLOW_POSTS];
	int result;

	soak_bump(&flow->sent, 1);
	soak_bump(&lane->calls, 1);
	result = rouse_call(lane->site->remote, soak_errand_fn(ERRAND_NONE),
	                    soak_ticket(lane, soak_get(&flow->sent)));
	SOAK_CHECK(result == 0, "a call was refused: %s", rouse_strerror(result));
	SOAK_CHECK(soak_get(&flow->served) == soak_get(&flow->sent),
	           "a call returned before it had run");
}

static void send_task(struct soak_lane *lane)
{
	struct soak_flow *flow = &lane->flows[FLOW_POSTS];
	struct soak_task *task = &lane->pool[soak_get(&lane->tasks) % SOAK_TASKS];

	if (atomic_load_explicit(&task->queued, memory_order_acquire)) {
		send_errand(lane, ERRAND_NONE);
		return;
	}
	atomic_store_explicit(&task->queued, 1, memory_order_relaxed);
	soak_bump(&flow->sent, 1);
	soak_bump(&lane->tasks, 1);
	task->number = soak_get(&flow->sent);
	queued(rouse_post_task(lane->site->remote, &task->task));
}

static void wake(rouse_waker *waker)
{
	int result = rouse_wake(waker);

	SOAK_CHECK(result >= 0, "a wake was refused: %s", rouse_strerror(result));
}

/* Only when the last one was answered: so none hides that another was lost. */
static void wake_own(struct soak_lane *lane, unsigned which)
{
	struct soak_flow *flow = lane->own[which].flow;

	if (soak_get(&flow->sent) != soak_get(&flow->served)) {
		soak_bump(&lane->skipped, 1);
		send_errand(lane, ERRAND_NONE);
		return;
	}
	soak_bump(&flow->sent, 1);
	wake(lane->own[which].waker);
}

static void wake_shared(struct soak_lane *lane, unsigned which)
{
	soak_bump(&lane->flows[FLOW_SHARED + which].sent, 1);
	wake(lane->site->shared[which].waker);
}

static void send_byte(struct soak_lane *lane)
{
	ssize_t wrote;

	soak_bump(&lane->flows[FLOW_BYTES].sent, 1);
	wrote = write(lane->pipe[1], &lane->next_out, 1);
	SOAK_CHECK(wrote == 1, "a pipe is full: nobody reads it");
	lane->next_out++;
}

static void send_event(struct soak_lane *lane)
{
	uint64_t one = 1;
	ssize_t wrote;

	soak_bump(&lane->flows[FLOW_EVENTS].sent, 1);
	wrote = write(lane->event, &one, sizeof one);
	SOAK_CHECK(wrote == sizeof one, "an eventfd is full: nobody reads it");
}

static void send_signal(struct soak_lane *lane)
{
	soak_bump(&lane->flows[FLOW_SIGNALS].sent, 1);
	SOAK_CHECK(kill(getpid(), lane->site->signo) == 0, "kill: %d", errno);
}

/* ---- The mix --------------------------------------------------------------------------- */

static void send_something(struct soak_lane *lane, uint64_t *random)
{
	uint64_t r = soak_random(random);
	unsigned dice = (unsigned)(r % 1000), which = (unsigned)(r >> 32);

	if (dice < 200)
		wake_own(lane, which % SOAK_OWN);
	else if (dice < 350)
		wake_shared(lane, which % SOAK_SHARED);
	else if (dice < 550)
		send_errand(lane, ERRAND_NONE);
	else if (dice < 700)
		send_task(lane);
	else if (dice < 800)
		send_byte(lane);
	else if (dice < 880)
		send_event(lane);
	else if (dice < 970)
		send_errand(lane, ERRAND_ARM);
	else if (dice < 990)
		send_errand(lane, ERRAND_CANCEL);
	else if (dice < 993 || !can_signal(lane->site))
		send_call(lane);
	else
		send_signal(lane);
}

/* ---- A lull ---------------------------------------------------------------------------- */

/* A loop that waits has nothing but this to end its wait; the watch ends us if it does not. */
static void await(const struct soak_flow *flow)
{
	while (soak_get(&flow->served) != soak_get(&flow->sent))
		soak_pause(20000);
}

static void await_armed(const struct soak_site *site)
{
	await(&site->armed);
}

static void one_at_a_time(struct soak_lane *lane)
{
	struct soak_site *site = lane->site;

	send_errand(lane, ERRAND_REST);
	await(&lane->flows[FLOW_POSTS]);
	for (unsigned round = 0; round < ROUNDS; round++) {
		wake_own(lane, round % SOAK_OWN);
		await(lane->own[round % SOAK_OWN].flow);
		wake_shared(lane, round % SOAK_SHARED);
		await(&lane->flows[FLOW_SHARED + round % SOAK_SHARED]);
		send_errand(lane, ERRAND_NONE);
		await(&lane->flows[FLOW_POSTS]);
		send_task(lane);
		await(&lane->flows[FLOW_POSTS]);
		send_byte(lane);
		await(&lane->flows[FLOW_BYTES]);
		send_event(lane);
		await(&lane->flows[FLOW_EVENTS]);
		send_errand(lane, ERRAND_ARM);
		await(&lane->flows[FLOW_POSTS]);
		await_armed(site);
		if (can_signal(site)) {
			send_signal(lane);
			await(&lane->flows[FLOW_SIGNALS]);
		}
	}
	send_errand(lane, ERRAND_WORK);
	await(&lane->flows[FLOW_POSTS]);
}

static void lull(void)
{
	atomic_store(&soak.lull, 1);
	while (atomic_load(&soak.parked) != SOAK_LANES - 1 && !atomic_load(&soak.stop))
		soak_pause(100000);
	for (unsigned i = 0; i < SOAK_SITES && !atomic_load(&soak.stop); i++)
		one_at_a_time(&soak.sites[i].lanes[0]);
	soak_bump(&soak.lulls, 1);
	atomic_store(&soak.lull, 0);
}

static void park(void)
{
	atomic_fetch_add(&soak.parked, 1);
	while (atomic_load(&soak.lull) && !atomic_load(&soak.stop))
		soak_pause(1000000);
	atomic_fetch_sub(&soak.parked, 1);
}

/* ---- The schedule ---------------------------------------------------------------------- */

static void sleep_until(rouse_ns at)
{
	struct timespec when = {.tv_sec = (time_t)(at / 1000000000u),
	                        .tv_nsec = (long)(at % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
		;
}

void *soak_produce(void *lane_index)
{
	const rouse_ns step = 1000000000u / (SOAK_RATE / (SOAK_LANES * SOAK_SITES));
	const unsigned index = *(unsigned *)lane_index;
	uint64_t random = soak.seed + 1000 + index;
	rouse_ns at = rouse_now() + index * step / SOAK_LANES;
	rouse_ns next_lull = at + SOAK_LULL * UINT64_C(100000000);

	while (!atomic_load(&soak.stop)) {
		sleep_until(at);
		for (unsigned i = 0; i < SOAK_SITES; i++)
			send_something(&soak.sites[i].lanes[index], &random);
		at += step;
		if (index == 0 && rouse_now() >= next_lull) {
			lull();
			next_lull = rouse_now() + SOAK_LULL * UINT64_C(1000000000);
			at = rouse_now();
		} else if (atomic_load(&soak.lull) && index != 0) {
			park();
			at = rouse_now();
		}
		/* A machine that was elsewhere for long is not made up for. */
		if (rouse_now() > at + 200000000u)
			at = rouse_now();
	}
	return NULL;
}
