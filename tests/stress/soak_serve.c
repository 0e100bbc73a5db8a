/* What runs on a loop's thread: the callbacks, which count, and the beat, which changes things. */
#include "soak_site.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

void soak_must(int result, const char *what)
{
	SOAK_CHECK(result >= 0, "%s: %s", what, rouse_strerror(result));
}

/* ---- Posts, tasks and calls ------------------------------------------------------------ */

void *soak_ticket(const struct soak_lane *lane, uint64_t number)
{
	uint64_t where = (uint64_t)(lane->site - soak.sites) * SOAK_LANES + lane->index;

	return (void *)(uintptr_t)(number * (SOAK_SITES * SOAK_LANES) + where);
}

static void served_in_order(struct soak_lane *lane, uint64_t number)
{
	struct soak_flow *flow = &lane->flows[FLOW_POSTS];

	SOAK_CHECK(number == soak_get(&flow->served) + 1,
	           "%s: post %llu ran after %llu: lost, doubled or out of order", lane->site->name,
	           (unsigned long long)number, (unsigned long long)soak_get(&flow->served));
	soak_bump(&flow->served, 1);
}

static struct soak_lane *take_ticket(void *ticket)
{
	uint64_t number = (uintptr_t)ticket / (SOAK_SITES * SOAK_LANES);
	uint64_t where = (uintptr_t)ticket % (SOAK_SITES * SOAK_LANES);
	struct soak_lane *lane = &soak.sites[where / SOAK_LANES].lanes[where % SOAK_LANES];

	served_in_order(lane, number);
	return lane;
}

void soak_task_run(rouse_loop *loop, rouse_task *node)
{
	struct soak_task *task = (struct soak_task *)node;

	(void)loop;
	served_in_order(task->lane, task->number);
	atomic_store_explicit(&task->queued, 0, memory_order_release);
}

static void errand_none(rouse_loop *loop, void *ticket)
{
	(void)loop;
	(void)take_ticket(ticket);
}

/* ---- Wakes, signals, descriptors ------------------------------------------------------- */

/* The number is read plainly: that the run sees it is the waker's promise. */
static void seen(struct soak_flow *flow)
{
	uint64_t sent = atomic_load_explicit(&flow->sent, memory_order_relaxed);

	atomic_store_explicit(&flow->served, sent, memory_order_release);
}

void soak_woken(rouse_loop *loop, void *data)
{
	struct soak_bell *bell = data;

	(void)loop;
	if (bell->flow) {
		seen(bell->flow);
		return;
	}
	for (unsigned i = 0; i < SOAK_LANES; i++)
		seen(&bell->site->lanes[i].flows[FLOW_SHARED + bell->which]);
}

void soak_signalled(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct soak_site *site = data;

	(void)loop;
	(void)self;
	SOAK_CHECK(signo == site->signo, "%s: signal %d", site->name, signo);
	for (unsigned i = 0; i < SOAK_LANES; i++)
		seen(&site->lanes[i].flows[FLOW_SIGNALS]);
}

void soak_bytes_came(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct soak_lane *lane = data;
	unsigned char bytes[512];
	ssize_t got = read(fd, bytes, sizeof bytes);

	(void)loop;
	(void)self;
	SOAK_CHECK(events == ROUSE_READABLE, "%s: a pipe reports %x", lane->site->name, events);
	SOAK_CHECK(got > 0, "%s: a pipe was called for nothing", lane->site->name);
	for (ssize_t i = 0; i < got; i++)
		SOAK_CHECK(bytes[i] == lane->next_in++, "%s: a byte is lost", lane->site->name);
	soak_bump(&lane->flows[FLOW_BYTES].served, (uint64_t)got);
}

void soak_events_came(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct soak_lane *lane = data;
	uint64_t count = 0;

	(void)loop;
	(void)self;
	SOAK_CHECK(events == ROUSE_READABLE, "%s: an eventfd reports %x", lane->site->name, events);
	SOAK_CHECK(read(fd, &count, sizeof count) == sizeof count,
	           "%s: an eventfd was called for nothing", lane->site->name);
	soak_bump(&lane->flows[FLOW_EVENTS].served, count);
}

/* ---- One-shot timers ------------------------------------------------------------------- */

void soak_one_shot_fired(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct soak_timer *timer = data;

	(void)self;
	SOAK_CHECK(timer->due != ROUSE_NEVER, "%s: a timer fired that is not armed",
	           timer->site->name);
	SOAK_CHECK(deadline == timer->due, "%s: a timer fired for another deadline",
	           timer->site->name);
	SOAK_CHECK(rouse_loop_now(loop) >= deadline, "%s: a timer fired early", timer->site->name);
	timer->due = ROUSE_NEVER;
	soak_bump(&timer->site->fired, 1);
	soak_bump(&timer->site->armed.served, 1);
}

static void disarm(struct soak_timer *timer)
{
	if (timer->due == ROUSE_NEVER)
		return;
	timer->due = ROUSE_NEVER;
	soak_must(rouse_timer_set(timer->site->loop, timer->source, ROUSE_NEVER, 0, 0), "disarm");
	soak_bump(&timer->site->cancelled, 1);
	soak_bump(&timer->site->armed.served, 1);
}

/* An armed one is armed anew. */
static void errand_arm(rouse_loop *loop, void *ticket)
{
	struct soak_site *site = take_ticket(ticket)->site;
	uint64_t r = soak_random(&site->random);
	struct soak_timer *timer = &site->one_shots[r % SOAK_ONE_SHOTS];

	disarm(timer);
	timer->due = rouse_loop_now(loop) + (r >> 32) % (site->resting ? SOAK_MS : 20 * SOAK_MS);
	soak_bump(&site->armed.sent, 1);
	soak_must(rouse_timer_set(loop, timer->source, timer->due, 0, (r >> 16) % SOAK_MS), "arm");
}

static void errand_cancel(rouse_loop *loop, void *ticket)
{
	struct soak_site *site = take_ticket(ticket)->site;

	(void)loop;
	disarm(&site->one_shots[soak_random(&site->random) % SOAK_ONE_SHOTS]);
}

/* ---- Periodic timers ------------------------------------------------------------------- */

/* What the loop skipped before it called this one was this one's: so its next deadline is known,
 * and each period is accounted for. */
static void period_elapsed(struct soak_timer *timer, rouse_ns deadline)
{
	struct soak_site *site = timer->site;
	rouse_stats stats = {.size = sizeof stats};
	uint64_t missed;

	soak_must(rouse_loop_stats(site->loop, &stats), "stats");
	missed = stats.timers_skipped - site->skipped_seen;
	site->skipped_seen = stats.timers_skipped;
	SOAK_CHECK(deadline == timer->due, "%s: a period of %llu ns is lost or doubled", site->name,
	           (unsigned long long)timer->period);
	timer->due = deadline + (missed + 1) * timer->period;
	soak_bump(&site->skipped, missed);
	soak_bump(&site->periods.sent, missed + 1);
	soak_bump(&site->periods.served, missed + 1);
}

void soak_periodic_fired(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	period_elapsed(data, deadline);
}

static void start_period(struct soak_timer *timer)
{
	timer->due = rouse_loop_now(timer->site->loop) + timer->period;
	soak_must(rouse_timer_set(timer->site->loop, timer->source, timer->due, timer->period, 0),
	          "start a period");
}

static void stop_period(struct soak_timer *timer)
{
	SOAK_CHECK(timer->due + SOAK_PATIENCE * 1000 * SOAK_MS > rouse_loop_now(timer->site->loop),
	           "%s: a periodic timer stopped", timer->site->name);
	soak_must(rouse_timer_set(timer->site->loop, timer->source, ROUSE_NEVER, 0, 0),
	          "stop a period");
}

/* ---- Sources that come and go ---------------------------------------------------------- */

static void churn_timer_fired(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct soak_site *site = data;

	(void)loop;
	(void)self;
	(void)deadline;
	SOAK_CHECK(!site->timer_called++, "%s: a removed timer, or twice", site->name);
}

static void churn_fd_ready(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                           void *data)
{
	struct soak_site *site = data;
	char byte;

	(void)loop;
	(void)self;
	(void)events;
	SOAK_CHECK(!site->fd_called++, "%s: a removed descriptor, or twice", site->name);
	SOAK_CHECK(fd == site->churn_pair[0] && read(fd, &byte, 1) == 1,
	           "%s: another descriptor's event", site->name);
}

static void churn_waker_run(rouse_loop *loop, void *data)
{
	struct soak_site *site = data;

	(void)loop;
	SOAK_CHECK(!site->waker_called++, "%s: a closed waker, or twice", site->name);
}

static void churn_add(struct soak_site *site)
{
	rouse_ns soon = rouse_loop_now(site->loop) + soak_random(&site->random) % SOAK_BEAT;

	site->timer_called = site->fd_called = site->waker_called = 0;
	soak_must(rouse_timer_add(site->loop, soon, 0, 0, churn_timer_fired, site,
	                          &site->churn_timer),
	          "add a timer");
	SOAK_CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
	                       site->churn_pair),
	           "socketpair: %d", errno);
	soak_must(rouse_fd_add(site->loop, site->churn_pair[0], ROUSE_READABLE, churn_fd_ready,
	                       site, &site->churn_fd),
	          "add a descriptor");
	SOAK_CHECK(write(site->churn_pair[1], "", 1) == 1, "write: %d", errno);
	soak_must(rouse_waker_create(site->loop, churn_waker_run, site, &site->churn_waker),
	          "create a waker");
	soak_must(rouse_wake(site->churn_waker), "wake");
	site->adds += 3;
	site->churning = 1;
	soak_bump(&site->churned.sent, 3);
}

void soak_churn_remove(struct soak_site *site)
{
	if (!site->churning)
		return;
	site->churning = 0;
	soak_must(rouse_remove(site->loop, site->churn_timer), "remove a timer");
	soak_must(rouse_remove(site->loop, site->churn_fd), "remove a descriptor");
	close(site->churn_pair[0]);
	close(site->churn_pair[1]);
	/* Closed it is gone at once; dropped, once the loop comes by. */
	if (++site->beats % 2)
		soak_must(rouse_waker_close(site->churn_waker), "close a waker");
	site->churn_waker = rouse_waker_unref(site->churn_waker);
	soak_bump(&site->churned.served, 3);
}

/* Between two beats nothing of the churn is alive, but a waker that was dropped: every other time
 * what is allocated is known. */
static void take_sample(struct soak_site *site)
{
	if (site->beats % 2 == 0)
		return;
	pthread_mutex_lock(&site->lock);
	site->sample = (struct soak_sample){
	        .bytes = soak_get(&site->memory.bytes),
	        .blocks = soak_get(&site->memory.blocks),
	        .extra = soak_get(&site->memory.made) - site->adds,
	};
	pthread_mutex_unlock(&site->lock);
}

static void listen_to_pipes(struct soak_site *site, unsigned events)
{
	for (unsigned i = 0; i < SOAK_LANES; i++)
		soak_must(rouse_fd_set_events(site->loop, site->lanes[i].pipe_source, events),
		          "set a descriptor's events");
}

void soak_beat(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct soak_timer *timer = data;
	struct soak_site *site = timer->site;

	(void)loop;
	(void)self;
	period_elapsed(timer, deadline);
	soak_churn_remove(site);
	take_sample(site);
	churn_add(site);
	listen_to_pipes(site, soak_random(&site->random) % 8 ? ROUSE_READABLE : 0);
}

/* ---- Rest and work --------------------------------------------------------------------- */

static void errand_rest(rouse_loop *loop, void *ticket)
{
	struct soak_site *site = take_ticket(ticket)->site;

	(void)loop;
	for (unsigned i = 0; i < SOAK_ONE_SHOTS; i++)
		disarm(&site->one_shots[i]);
	for (unsigned i = 0; i < SOAK_PERIODIC; i++)
		stop_period(&site->periodic[i]);
	stop_period(&site->beat);
	soak_churn_remove(site);
	listen_to_pipes(site, ROUSE_READABLE);
	site->resting = 1;
}

void soak_start_periods(struct soak_site *site)
{
	for (unsigned i = 0; i < SOAK_PERIODIC; i++)
		start_period(&site->periodic[i]);
	start_period(&site->beat);
	site->resting = 0;
}

static void errand_work(rouse_loop *loop, void *ticket)
{
	(void)loop;
	soak_start_periods(take_ticket(ticket)->site);
}

rouse_post_fn soak_errand_fn(enum soak_errand errand)
{
	static const rouse_post_fn fns[] = {errand_none, errand_arm, errand_cancel, errand_rest,
	                                    errand_work};

	return fns[errand];
}
