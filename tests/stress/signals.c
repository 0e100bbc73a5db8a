/*
 * stress_signals: threads send two signals in a storm, to two loops, while wakes and posts go on
 * and the signals' sources are removed and added anew.  A signal that was sent while its source was
 * there, and stayed, makes the source run afterwards; one that comes while it is not there goes to
 * the handler that was there before.
 *
 * A sender numbers each signal, before it is sent.  A run of the source, and a run of the handler
 * below, say which number they saw.  A patient sender waits until its number was seen; but where
 * the source has been removed meanwhile, the signal may have gone with it, and is not waited for.
 */
#include "stress.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { SITES = 2, SENDERS = 3, PATIENT = 2 };

static struct site {
	int signo;
	pthread_t thread;
	struct stress_loop home;
	struct stress_memory memory;
	rouse_remote *remote;
	rouse_waker *waker;
	rouse_source source, toggler;
	int watched; /* the loop's */
	uint64_t random;
	_Atomic uint64_t sent, seen, below; /* below: by the handler that was there before */
	_Atomic uint64_t removals;
	_Atomic uint64_t runs, handled;
	_Atomic uint64_t waking, woken, posts, posts_run;
	atomic_int ready;
} sites[SITES] = {{.signo = SIGUSR1}, {.signo = SIGUSR2}};

/*
 * STORM   the flood is on, sources come and go
 * CALM    the patient senders are alone, sources come and go
 * STILL   the patient senders are alone, and the sources stay: nothing makes up for one that is
 * lost
 */
enum phase { STORM, CALM, STILL, PHASES };

static _Atomic enum phase phase;
static atomic_int busy; /* senders that are at it */
static _Atomic uint64_t patient, forgone, flood;
static atomic_int stop;

static void print_state(void)
{
	for (unsigned i = 0; i < SITES; i++) {
		const struct site *s = &sites[i];

		fprintf(stderr,
		        "signal %d: sent %llu, seen %llu by %llu runs, %llu below by %llu; "
		        "%swatched, "
		        "removed %llu times; wakes %llu, seen %llu; posts %llu, ran %llu\n",
		        s->signo, (unsigned long long)s->sent, (unsigned long long)s->seen,
		        (unsigned long long)s->runs, (unsigned long long)s->below,
		        (unsigned long long)s->handled, s->watched ? "" : "not ",
		        (unsigned long long)s->removals, (unsigned long long)s->waking,
		        (unsigned long long)s->woken, (unsigned long long)s->posts,
		        (unsigned long long)s->posts_run);
	}
}

static struct site *site_of(int signo)
{
	return &sites[signo == sites[0].signo ? 0 : 1];
}

static void raise_to(_Atomic uint64_t *seen, uint64_t number)
{
	uint64_t old = atomic_load(seen);

	while (old < number && !atomic_compare_exchange_weak(seen, &old, number))
		;
}

static void below(int signo)
{
	struct site *site = site_of(signo);

	raise_to(&site->below, atomic_load(&site->sent));
	atomic_fetch_add(&site->handled, 1);
}

static void set_below(int signo)
{
	struct sigaction action = {.sa_handler = below, .sa_flags = SA_RESTART};

	STRESS_CHECK(!sigaction(signo, &action, NULL), "sigaction");
}

/* ---- On the loops' threads ------------------------------------------------------------- */

static void remove_signal(struct site *site);

static void caught(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct site *site = data;

	(void)loop;
	STRESS_CHECK(site->watched && self.id == site->source.id,
	             "a signal's source that is removed");
	STRESS_CHECK(signo == site->signo, "signal %d runs %d's", signo, site->signo);
	STRESS_CHECK(pthread_equal(pthread_self(), site->thread), "a signal on another thread");
	raise_to(&site->seen, atomic_load_explicit(&site->sent, memory_order_relaxed));
	atomic_fetch_add(&site->runs, 1);
	stress_alive();
	if (atomic_load(&phase) != STILL && stress_once_in(&site->random, 64))
		remove_signal(site);
}

static void add_signal(struct site *site)
{
	if (site->watched) {
		STRESS_CHECK(rouse_signal_add(site->home.loop, site->signo, caught, site, NULL) ==
		                     ROUSE_EEXIST,
		             "a signal is watched twice");
		return;
	}
	site->watched = 1;
	stress_must(rouse_signal_add(site->home.loop, site->signo, caught, site, &site->source),
	            "watch a signal");
}

static void remove_signal(struct site *site)
{
	struct sigaction now;

	if (!site->watched)
		return;
	site->watched = 0;
	stress_must(rouse_remove(site->home.loop, site->source), "remove a signal");
	/* After the removal: a sender that has seen the count has sent to what comes next. */
	atomic_fetch_add(&site->removals, 1);
	STRESS_CHECK(!sigaction(site->signo, NULL, &now) && now.sa_handler == below,
	             "the handler that was there before was not put back");
	STRESS_CHECK(rouse_remove(site->home.loop, site->source) == ROUSE_ESTALE, "removed twice");
}

static void toggle(struct site *site)
{
	if (atomic_load(&phase) == STILL) {
		add_signal(site);
		return;
	}
	if (stress_once_in(&site->random, 2))
		remove_signal(site);
	if (stress_once_in(&site->random, 2))
		add_signal(site);
}

static void toggle_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct site *site = data;

	(void)deadline;
	toggle(site);
	stress_must(rouse_timer_set(loop, self,
	                            rouse_loop_now(loop) + stress_below(&site->random, 300000), 0,
	                            0),
	            "set the timer");
}

static void posted(rouse_loop *loop, void *data)
{
	struct site *site = data;

	(void)loop;
	atomic_fetch_add(&site->posts_run, 1);
	if (stress_once_in(&site->random, 8))
		toggle(site);
}

static void woken(rouse_loop *loop, void *data)
{
	struct site *site = data;

	(void)loop;
	atomic_store(&site->woken, atomic_load_explicit(&site->waking, memory_order_relaxed));
	if (stress_once_in(&site->random, 8))
		toggle(site);
}

static void *live(void *data)
{
	struct site *site = data;

	site->random = stress_random_state();
	site->thread = pthread_self();
	stress_memory_init(&site->memory);
	stress_open(&site->home, &site->memory, 0);
	site->remote = rouse_loop_remote(site->home.loop);
	stress_must(rouse_waker_create(site->home.loop, woken, site, &site->waker),
	            "create a waker");
	stress_must(rouse_timer_add(site->home.loop, 0, 0, 0, toggle_timer, site, &site->toggler),
	            "add a timer");
	add_signal(site);
	atomic_store(&site->ready, 1);
	stress_run(&site->home);
	while (site->posts_run < site->posts || site->woken < site->waking)
		stress_turn(&site->home, 0);
	stress_close(&site->home);
	return NULL;
}

/* ---- The senders ----------------------------------------------------------------------- */

/* One of the process's threads gets it, this one too, as a rule. */
static uint64_t send_signal(struct site *site)
{
	uint64_t number = atomic_fetch_add(&site->sent, 1) + 1;

	STRESS_CHECK(!kill(getpid(), site->signo), "kill: %d", errno);
	return number;
}

static int was_seen(struct site *site, uint64_t number)
{
	return atomic_load(&site->seen) >= number || atomic_load(&site->below) >= number;
}

/* Alone, lest another's signal stand in for this one. */
static void send_patiently(struct site *site)
{
	uint64_t removals = atomic_load(&site->removals);
	uint64_t number = send_signal(site);
	rouse_ns begun = rouse_now();

	while (!was_seen(site, number)) {
		if (atomic_load(&site->removals) != removals) {
			atomic_fetch_add(&forgone, 1);
			return;
		}
		STRESS_CHECK(rouse_now() - begun < stress_patience() * UINT64_C(1000000000),
		             "signal %d was sent %u s ago, its source is there, and has not run",
		             site->signo, stress_patience());
		sched_yield();
	}
	atomic_fetch_add(&patient, 1);
}

/* A sender counts itself in before it looks; who changes the phase waits until none is in. */
static int begin(int storm)
{
	atomic_fetch_add(&busy, 1);
	if (!atomic_load(&stop) && atomic_load(&phase) != PHASES &&
	    (atomic_load(&phase) == STORM) == storm)
		return 1;
	atomic_fetch_sub(&busy, 1);
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return 0;
}

static void *send_one_by_one(void *data)
{
	while (!atomic_load(&stop))
		if (begin(0)) {
			send_patiently(data);
			atomic_fetch_sub(&busy, 1);
		}
	return NULL;
}

static void change_phase(void)
{
	static enum phase now;
	enum phase next = (enum phase)((now + 1) % PHASES);
	rouse_ns begun = rouse_now();

	/* None begins in a phase that is not there. */
	atomic_store(&phase, PHASES);
	while (atomic_load(&busy)) {
		STRESS_CHECK(rouse_now() - begun < 2 * stress_patience() * UINT64_C(1000000000),
		             "a sender hangs");
		sched_yield();
	}
	now = next;
	atomic_store(&phase, now);
}

static void *send_flood(void *data)
{
	uint64_t random = stress_random_state();

	(void)data;
	while (!atomic_load(&stop)) {
		struct site *site = &sites[stress_below(&random, SITES)];
		unsigned dice = stress_below(&random, 10);

		if (!begin(1))
			continue;
		if (dice < 5) {
			(void)send_signal(site);
			atomic_fetch_add(&flood, 1);
		} else if (dice < 7) {
			atomic_fetch_add_explicit(&site->waking, 1, memory_order_relaxed);
			stress_must(rouse_wake(site->waker), "a wake");
		} else if (dice < 8 && site->posts - site->posts_run < 1000) {
			atomic_fetch_add(&site->posts, 1);
			STRESS_CHECK(rouse_post(site->remote, posted, site, NULL) == 0, "a post");
		} else {
			sched_yield();
		}
		atomic_fetch_sub(&busy, 1);
	}
	return NULL;
}

/* Signals end each sleep. */
static void wait_out_phase(void)
{
	rouse_ns until = rouse_now() + 100000000;

	while (rouse_now() < until)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static void run(void)
{
	pthread_t loops[SITES], patients[SITES], floods[SENDERS];

	stress.print_state = print_state;
	for (unsigned i = 0; i < SITES; i++) {
		set_below(sites[i].signo);
		loops[i] = stress_start(live, &sites[i]);
		while (!atomic_load(&sites[i].ready))
			sched_yield();
	}
	for (unsigned i = 0; i < SITES; i++)
		patients[i] = stress_start(send_one_by_one, &sites[i]);
	for (unsigned i = 0; i < SENDERS; i++)
		floods[i] = stress_start(send_flood, NULL);
	while (!stress_over()) {
		wait_out_phase();
		change_phase();
	}
	atomic_store(&stop, 1);
	for (unsigned i = 0; i < SENDERS; i++)
		stress_join(floods[i]);
	for (unsigned i = 0; i < SITES; i++) {
		stress_join(patients[i]);
		stress_must(rouse_remote_stop(sites[i].remote), "stop");
		stress_join(loops[i]);
		rouse_waker_unref(sites[i].waker);
		rouse_remote_unref(sites[i].remote);
		stress_memory_check(&sites[i].memory);
	}
	printf("signals sent %llu: %llu one by one (%llu more given up with their source), %llu in "
	       "a "
	       "flood; %llu + %llu runs, %llu + %llu below, removed %llu + %llu times; wakes %llu, "
	       "posts %llu: none lost\n",
	       (unsigned long long)(sites[0].sent + sites[1].sent), (unsigned long long)patient,
	       (unsigned long long)forgone, (unsigned long long)flood,
	       (unsigned long long)sites[0].runs, (unsigned long long)sites[1].runs,
	       (unsigned long long)sites[0].handled, (unsigned long long)sites[1].handled,
	       (unsigned long long)sites[0].removals, (unsigned long long)sites[1].removals,
	       (unsigned long long)(sites[0].waking + sites[1].waking),
	       (unsigned long long)(sites[0].posts_run + sites[1].posts_run));
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "stress_signals", run);
}
