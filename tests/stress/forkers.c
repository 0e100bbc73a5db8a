/*
 * stress_forkers: the loop's thread forks, between turns and in callbacks, while producers run.
 *
 * A child ends at once, or calls into the inherited loop and is refused everywhere, or makes the
 * loop its own, takes turns, starts a thread, and destroys it.  In a child the producers are gone,
 * at whatever they were: what they had begun to post may be there or not, what had been accepted
 * must be, and nothing comes to its end twice.  The parent, whose producers go on, must not notice,
 * and accounts for everything.
 */
#include "forkers.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

struct forkers forkers;

static struct stress_memory memory;
static rouse_source signal_source;
static uint64_t bytes_read, ticks, raised;
static int ticking;
static pid_t children[CHILDREN]; /* not watched by the loop; 0: none */
static unsigned watched_children;
static uint64_t forks, ended, in_callbacks;
static atomic_int stop_producers;

static void print_state(void)
{
	fprintf(stderr, "%s: forks %llu, of them in callbacks %llu, ended %llu\n",
	        forkers.in_child ? "a child" : "the parent", (unsigned long long)forks,
	        (unsigned long long)in_callbacks, (unsigned long long)ended);
	for (unsigned i = 0; i < PRODUCERS; i++)
		fprintf(stderr,
		        "producer %u: begun %llu, accepted %llu, ran %llu, cancelled %llu\n", i,
		        (unsigned long long)forkers.producers[i].begun,
		        (unsigned long long)forkers.producers[i].accepted,
		        (unsigned long long)forkers.producers[i].ran,
		        (unsigned long long)forkers.producers[i].cancelled);
}

/* ---- Callbacks ------------------------------------------------------------------------- */

static void maybe_fork(int in_callback);

static void come_to_end(struct letter *letter, _Atomic uint64_t *how)
{
	STRESS_CHECK(atomic_exchange(&letter->queued, 0) == 1, "a post came to its end twice");
	atomic_fetch_add(how, 1);
}

static void run_post(rouse_loop *loop, void *data)
{
	struct letter *letter = data;

	(void)loop;
	come_to_end(letter, &letter->from->ran);
	maybe_fork(1);
}

static void cancel_post(void *data)
{
	struct letter *letter = data;

	come_to_end(letter, &letter->from->cancelled);
}

void forkers_run_task(rouse_loop *loop, rouse_task *task)
{
	run_post(loop, task);
}

static void cancel_task(rouse_task *task)
{
	cancel_post(task);
}

void forkers_woken(rouse_loop *loop, void *data)
{
	struct bell *bell = data;
	unsigned which = (unsigned)(bell - forkers.bells);

	(void)loop;
	for (unsigned i = 0; i < PRODUCERS; i++)
		bell->seen[i] = atomic_load_explicit(&forkers.producers[i].waking[which],
		                                     memory_order_relaxed);
	maybe_fork(1);
}

/* A child leaves the bytes to the parent, whose they are. */
static void pipe_ready(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                       void *data)
{
	char bytes[256];
	ssize_t got;

	(void)data;
	STRESS_CHECK(events == ROUSE_READABLE, "the pipe reports %x", events);
	if (forkers.in_child) {
		stress_must(rouse_fd_set_events(loop, self, 0), "pause the pipe");
		return;
	}
	got = read(fd, bytes, sizeof bytes);
	STRESS_CHECK(got > 0, "the pipe was called for nothing");
	bytes_read += (uint64_t)got;
	maybe_fork(1);
}

void forkers_ticked(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	(void)data;
	ticks++;
	ticking = 0;
	maybe_fork(1);
}

/* Seldom: a ticker that always ticks ends waits that a lost ring should have ended. */
static void tick_later(rouse_ns period)
{
	rouse_ns at = rouse_loop_now(forkers.home.loop) + stress_below(&forkers.random, 2000000);

	ticking = 1;
	stress_must(rouse_timer_set(forkers.home.loop, forkers.ticker, at, period, 0),
	            "set the ticker");
}

void forkers_signalled(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)signo;
	(void)data;
	forkers.signals++;
	raised = 0;
}

static void child_ended(rouse_loop *loop, rouse_source self, rouse_process process,
                        const rouse_exit *how, void *data)
{
	(void)loop;
	(void)self;
	(void)data;
	if (forkers.in_child) {
		STRESS_CHECK(!how->known, "a child knows how its parent's child ended");
		return;
	}
	STRESS_CHECK(how->known && how->code == 0 && how->signo == 0,
	             "child %d ended with %u, signal %d, known %d", process, how->code, how->signo,
	             how->known);
	watched_children--;
	ended++;
}

/* ---- Producers ------------------------------------------------------------------------- */

void forkers_count_up(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
}

/* Whose call it was is not there in a child. */
static void run_call(rouse_loop *loop, void *data)
{
	STRESS_CHECK(!forkers.in_child, "a call of the parent's thread runs in a child");
	forkers_count_up(loop, data);
}

static void send_letter(struct producer *p, struct letter *letter, int as_task)
{
	int result;

	if (atomic_load(&letter->queued))
		return;
	atomic_store(&letter->queued, 1);
	atomic_fetch_add(&p->begun, 1);
	result = as_task ? rouse_post_task(forkers.remote, &letter->task)
	                 : rouse_post(forkers.remote, run_post, letter, cancel_post);
	STRESS_CHECK(result == 0, "a post: %s", rouse_strerror(result));
	atomic_fetch_add(&p->accepted, 1);
}

static void wake(struct producer *p, unsigned which)
{
	uint64_t number = atomic_fetch_add_explicit(&p->waking[which], 1, memory_order_relaxed) + 1;

	stress_must(rouse_wake(forkers.bells[which].waker), "a wake");
	atomic_store(&p->woke[which], number);
}

static void write_byte(struct producer *p)
{
	atomic_fetch_add(&p->writing, 1);
	if (write(forkers.data_pipe[1], "x", 1) == 1)
		atomic_fetch_add(&p->wrote, 1);
}

static void *produce(void *data)
{
	struct producer *p = data;
	uint64_t random = stress_random_state();

	while (!atomic_load(&stop_producers)) {
		unsigned dice = stress_below(&random, 100), which = stress_below(&random, LETTERS);
		int ran = 0;

		if (dice < 35) {
			send_letter(p, &p->posts[which], 0);
		} else if (dice < 60) {
			send_letter(p, &p->tasks[which], 1);
		} else if (dice < 85) {
			wake(p, which % WAKERS);
		} else if (dice < 90) {
			write_byte(p);
		} else if (dice < 92) {
			stress_must(rouse_call(forkers.remote, run_call, &ran), "a call");
			STRESS_CHECK(ran == 1, "a call ran %d times", ran);
			atomic_fetch_add(&p->calls, 1);
		} else {
			sched_yield();
		}
	}
	return NULL;
}

/* ---- Forking --------------------------------------------------------------------------- */

enum script { END, REFUSED, OWN, SCRIPTS };

static void begin_child(enum script script, int in_callback)
{
	/* It has no watch of its own. */
	alarm(2 * stress_patience());
	switch (script) {
	case END:
		_exit(0);
	case REFUSED:
		child_be_refused();
		_exit(0);
	default:
		stress_must(rouse_loop_after_fork(forkers.home.loop), "after fork");
		forkers.in_child = 1;
		if (in_callback)
			return; /* the turn goes on; run() does the rest */
		child_take_over();
		_exit(0);
	}
}

static void keep(pid_t child)
{
	for (unsigned i = 0; watched_children < CHILDREN / 2 && i < CHILDREN; i++)
		if (children[i] == 0 && stress_once_in(&forkers.random, 2)) {
			children[i] = child;
			return;
		}
	stress_must(rouse_child_add(forkers.home.loop, child, child_ended, NULL, NULL),
	            "watch a child");
	watched_children++;
}

static int has_room(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < CHILDREN; i++)
		kept += children[i] != 0;
	return kept + watched_children < CHILDREN;
}

static void maybe_fork(int in_callback)
{
	enum script script;
	pid_t child;

	if (forkers.in_child || !stress_once_in(&forkers.random, in_callback ? 4096 : 16) ||
	    !has_room() || atomic_load(&stop_producers))
		return;
	script = (enum script)stress_below(&forkers.random, SCRIPTS);
	(void)stress_random(&forkers.random);
	child = stress_fork();
	STRESS_CHECK(child >= 0, "fork: %d", errno);
	if (child == 0) {
		begin_child(script, in_callback);
		return;
	}
	forks++;
	in_callbacks += in_callback != 0;
	keep(child);
}

static void reap(int flags)
{
	for (unsigned i = 0; i < CHILDREN; i++) {
		int status;

		if (children[i] == 0 || waitpid(children[i], &status, flags) == 0)
			continue;
		STRESS_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		             "child %d ended with %x", (int)children[i], (unsigned)status);
		children[i] = 0;
		ended++;
	}
}

/* ---- The parent ------------------------------------------------------------------------ */

static void set_up(void)
{
	stress_memory_init(&memory);
	memory.forks = 1;
	stress_open(&forkers.home, &memory, 0);
	forkers.remote = rouse_loop_remote(forkers.home.loop);
	forkers.random = stress_random_state();
	STRESS_CHECK(!pipe2(forkers.data_pipe, O_CLOEXEC | O_NONBLOCK), "pipe: %d", errno);
	stress_must(rouse_fd_add(forkers.home.loop, forkers.data_pipe[0], ROUSE_READABLE,
	                         pipe_ready, NULL, &forkers.pipe_source),
	            "add the pipe");
	stress_must(rouse_timer_add(forkers.home.loop, ROUSE_NEVER, 0, 0, forkers_ticked, NULL,
	                            &forkers.ticker),
	            "add the ticker");
	stress_must(rouse_signal_add(forkers.home.loop, SIGUSR1, forkers_signalled, NULL,
	                             &signal_source),
	            "add a signal");
	for (unsigned i = 0; i < WAKERS; i++)
		stress_must(rouse_waker_create(forkers.home.loop, forkers_woken, &forkers.bells[i],
		                               &forkers.bells[i].waker),
		            "create a waker");
	for (unsigned i = 0; i < PRODUCERS; i++)
		for (unsigned k = 0; k < LETTERS; k++) {
			forkers.producers[i].posts[k].from = forkers.producers[i].tasks[k].from =
			        &forkers.producers[i];
			forkers.producers[i].tasks[k].task.run = forkers_run_task;
			forkers.producers[i].tasks[k].task.cancel = cancel_task;
		}
}

int forkers_all_seen(void)
{
	for (unsigned i = 0; i < PRODUCERS; i++)
		for (unsigned w = 0; w < WAKERS; w++)
			if (forkers.bells[w].seen[i] < forkers.producers[i].woke[w])
				return 0;
	return 1;
}

int forkers_letters_under_way(void)
{
	for (unsigned i = 0; i < PRODUCERS; i++)
		if (forkers.producers[i].ran + forkers.producers[i].cancelled <
		    forkers.producers[i].accepted)
			return 1;
	return 0;
}

static int pipe_drained(void)
{
	uint64_t wrote = 0;

	for (unsigned i = 0; i < PRODUCERS; i++)
		wrote += forkers.producers[i].wrote;
	return bytes_read == wrote;
}

static void account(void)
{
	uint64_t letters = 0, calls = 0;

	for (unsigned i = 0; i < PRODUCERS; i++) {
		const struct producer *p = &forkers.producers[i];

		STRESS_CHECK(p->begun == p->accepted && p->accepted == p->ran + p->cancelled,
		             "producer %u: begun %llu, accepted %llu, came to their end %llu", i,
		             (unsigned long long)p->begun, (unsigned long long)p->accepted,
		             (unsigned long long)(p->ran + p->cancelled));
		letters += p->accepted;
		calls += p->calls;
	}
	printf("forks %llu (%llu in callbacks), all %llu children ended well; the parent's posts "
	       "%llu, "
	       "calls %llu, bytes %llu, ticks %llu, signals %llu: none lost\n",
	       (unsigned long long)forks, (unsigned long long)in_callbacks,
	       (unsigned long long)ended, (unsigned long long)letters, (unsigned long long)calls,
	       (unsigned long long)bytes_read, (unsigned long long)ticks,
	       (unsigned long long)forkers.signals);
}

static void step(void)
{
	stress_turn(&forkers.home, ROUSE_NEVER);
	if (forkers.in_child) {
		child_take_over();
		_exit(0);
	}
}

static void run(void)
{
	stress.print_state = print_state;
	set_up();
	for (unsigned i = 0; i < PRODUCERS; i++)
		forkers.producers[i].thread = stress_start(produce, &forkers.producers[i]);
	while (!stress_over()) {
		step();
		maybe_fork(0);
		reap(WNOHANG);
		if (!ticking && stress_once_in(&forkers.random, 256))
			tick_later(0);
		if (!raised && stress_once_in(&forkers.random, 64)) {
			raised = 1;
			raise(SIGUSR1);
		}
	}
	atomic_store(&stop_producers, 1);
	/* From now on it ends each wait: what is missing for ever is never found to be there. */
	tick_later(1000000);
	/* Some may be waiting for a call. */
	for (unsigned i = 0; i < PRODUCERS; i++)
		while (pthread_tryjoin_np(forkers.producers[i].thread, NULL) == EBUSY)
			step();
	while (watched_children || forkers_letters_under_way() || !forkers_all_seen() ||
	       !pipe_drained() || raised)
		step();
	reap(0);
	for (unsigned i = 0; i < WAKERS; i++)
		rouse_waker_unref(forkers.bells[i].waker);
	rouse_remote_unref(forkers.remote);
	stress_close(&forkers.home);
	stress_memory_check(&memory);
	STRESS_CHECK(ended == forks, "%llu forks, %llu children ended", (unsigned long long)forks,
	             (unsigned long long)ended);
	account();
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "stress_forkers", run);
}
