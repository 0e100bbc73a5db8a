/* What a forked child does with the inherited loop. */
#include "forkers.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ---- A child that is refused ----------------------------------------------------------- */

static void ignore_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)loop;
	(void)self;
	(void)fd;
	(void)events;
	(void)data;
}

static void refused(int result, const char *what)
{
	STRESS_CHECK(result == ROUSE_EFORKED, "%s in a forked child: %s", what,
	             result < 0 ? rouse_strerror(result) : "success");
}

void child_be_refused(void)
{
	static rouse_task task = {.run = forkers_run_task};
	rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};
	rouse_stats stats = {.size = sizeof stats};
	rouse_waker *waker;
	rouse_ns deadline;
	int unused = 0;

	refused(rouse_wake(forkers.bells[0].waker), "a wake");
	refused(rouse_post(forkers.remote, forkers_count_up, &unused, NULL), "a post");
	refused(rouse_post_task(forkers.remote, &task), "a task");
	refused(rouse_call(forkers.remote, forkers_count_up, &unused), "a call");
	refused(rouse_remote_stop(forkers.remote), "a remote stop");
	refused(rouse_waker_close(forkers.bells[0].waker), "closing a waker");
	refused(rouse_waker_create(forkers.home.loop, forkers_woken, NULL, &waker), "a new waker");
	refused(rouse_loop_turn(forkers.home.loop, 0), "a turn");
	refused(rouse_loop_run(forkers.home.loop), "a run");
	refused(rouse_loop_stop(forkers.home.loop), "a stop");
	refused(rouse_loop_take_stop(forkers.home.loop), "taking a stop");
	refused(rouse_loop_prepare(forkers.home.loop, 0, &deadline), "prepare");
	refused(rouse_loop_check(forkers.home.loop, 1), "check");
	refused(rouse_loop_dispatch(forkers.home.loop), "dispatch");
	refused(rouse_fd_add(forkers.home.loop, forkers.data_pipe[0], 0, ignore_fd, NULL, NULL),
	        "a descriptor");
	refused(rouse_fd_set_events(forkers.home.loop, forkers.pipe_source, 0),
	        "a descriptor's events");
	refused(rouse_timer_add(forkers.home.loop, 0, 0, 0, forkers_ticked, NULL, NULL), "a timer");
	refused(rouse_timer_set(forkers.home.loop, forkers.ticker, 0, 0, 0), "setting a timer");
	refused(rouse_signal_add(forkers.home.loop, SIGUSR2, forkers_signalled, NULL, NULL),
	        "a signal");
	refused(rouse_hook_add(forkers.home.loop, &hook, NULL, NULL), "a hook");
	refused(rouse_remove(forkers.home.loop, forkers.ticker), "removing");
	refused(rouse_cancel_posts(forkers.home.loop, &unused), "cancelling posts");
	refused(rouse_loop_stats(forkers.home.loop, &stats), "stats");
	refused(rouse_remote_stats(forkers.remote, &stats), "remote stats");
	refused(rouse_loop_destroy(forkers.home.loop), "destroying");
	/* The loop's handler is inherited, and must do nothing. */
	raise(SIGUSR1);
	STRESS_CHECK(unused == 0, "something ran");
	rouse_waker_unref(forkers.bells[1].waker);
	rouse_remote_unref(forkers.remote);
}

/* ---- A child that takes the loop over -------------------------------------------------- */

static void host_anew(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	rouse_fd fd;

	if (forkers.home.outer < 0)
		return;
	close(forkers.home.outer);
	forkers.home.outer = epoll_create1(EPOLL_CLOEXEC);
	stress_must(rouse_loop_fd(forkers.home.loop, &fd), "the loop's descriptor in a child");
	STRESS_CHECK(!epoll_ctl(forkers.home.outer, EPOLL_CTL_ADD, fd, &event),
	             "epoll in a child: %d", errno);
}

static void *post_from_thread(void *data)
{
	STRESS_CHECK(rouse_post(forkers.remote, forkers_count_up, data, NULL) == 0,
	             "a post of a child's thread");
	return NULL;
}

static void fd_once(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)fd;
	(void)events;
	stress_must(rouse_fd_set_events(loop, self, 0), "pause");
	++*(int *)data;
}

static void timer_once(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	++*(int *)data;
}

static void account_in_child(void)
{
	for (unsigned i = 0; i < PRODUCERS; i++) {
		const struct producer *p = &forkers.producers[i];
		uint64_t ends = p->ran + p->cancelled;

		STRESS_CHECK(
		        ends >= p->accepted && ends <= p->begun,
		        "child: producer %u: begun %llu, accepted %llu, but %llu came to their end",
		        i, (unsigned long long)p->begun, (unsigned long long)p->accepted,
		        (unsigned long long)ends);
	}
}

/* All that a loop does, of its own and with nobody else about. */
static void use_own_loop(void)
{
	int timer = 0, posted = 0, ready = 0;
	uint64_t before = forkers.signals;
	int ends[2];
	pthread_t thread;

	STRESS_CHECK(!pipe(ends) && write(ends[1], "x", 1) == 1, "pipe: %d", errno);
	stress_must(rouse_fd_add(forkers.home.loop, ends[0], ROUSE_READABLE, fd_once, &ready, NULL),
	            "a descriptor in a child");
	stress_must(rouse_timer_add(forkers.home.loop, rouse_loop_now(forkers.home.loop) + 100000,
	                            0, 0, timer_once, &timer, NULL),
	            "a timer in a child");
	while (!timer || !ready)
		stress_turn(&forkers.home, ROUSE_NEVER);
	raise(SIGUSR1);
	while (forkers.signals == before)
		stress_turn(&forkers.home, ROUSE_NEVER);
	/* It refuses new threads after a fork of many. */
	if (STRESS_TSAN)
		return;
	thread = stress_start(post_from_thread, &posted);
	while (!posted)
		stress_turn(&forkers.home, ROUSE_NEVER);
	stress_join(thread);
}

void child_take_over(void)
{
	host_anew();
	/* A tick would end waits that nothing else ends. */
	stress_must(rouse_timer_set(forkers.home.loop, forkers.ticker, ROUSE_NEVER, 0, 0),
	            "stop the ticker");
	if (!stress_once_in(&forkers.random, 4)) {
		while (!forkers_all_seen() || forkers_letters_under_way())
			stress_turn(&forkers.home, ROUSE_NEVER);
		use_own_loop();
	}
	stress_close(&forkers.home);
	account_in_child();
	STRESS_CHECK(rouse_wake(forkers.bells[0].waker) == ROUSE_ECLOSED,
	             "a wake after the child's end");
}
