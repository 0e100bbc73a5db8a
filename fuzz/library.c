/* The world that is the library, on a null loop. */
#include "core/fault.h"
#include "memory.h"
#include "world.h"

#include <rouse/null.h>

#include <poll.h>
#include <signal.h>
#include <string.h>

struct task {
	rouse_task task; /* first */
	int number;
};

static struct {
	rouse_loop *loop;
	rouse_remote *remotes[LOOPS]; /* the last one is the loop's, or was */
	int loops;
	rouse_source names[SOURCES];
	rouse_waker *wakers[WAKERS];
	unsigned users[WAKERS]; /* besides the first */
	struct task tasks[TASKS];
	int numbers[SOURCES]; /* what callbacks are given the address of */
} lib;

static void *number(int n)
{
	return &lib.numbers[n];
}

static uint64_t numbered(const void *data)
{
	return (uint64_t)((const int *)data - lib.numbers);
}

static rouse_remote *remote(void)
{
	return lib.loops ? lib.remotes[lib.loops - 1] : NULL;
}

void library_refuse(unsigned nth)
{
	memory_refuse(nth);
}

int library_was_refused(void)
{
	return memory_refused();
}

/* ---- Callbacks ------------------------------------------------------------------ */

static void check_loop(const rouse_loop *loop)
{
	if (loop != lib.loop)
		trace_failed("a callback is given another loop");
}

static uint64_t check_self(const rouse_loop *loop, rouse_source self, const void *data)
{
	uint64_t source = numbered(data);

	check_loop(loop);
	if (!ANONYMOUS(source) && self.id != lib.names[source].id)
		trace_failed("a callback is given another source's name");
	return source;
}

static void on_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)player_called(ON_TIMER, check_self(loop, self, data), deadline, 0);
}

static void on_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)player_called(ON_FD, check_self(loop, self, data), (uint64_t)fd, events);
}

static void on_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)player_called(ON_SIGNAL, check_self(loop, self, data), (uint64_t)signo, 0);
}

static rouse_ns on_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	return player_called(ON_PREPARE, check_self(loop, self, data), flags, 0);
}

static int on_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	return (int)player_called(ON_CHECK, check_self(loop, self, data), ready, 0);
}

static int on_dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	return (int)player_called(ON_DISPATCH, check_self(loop, self, data), budget, 0);
}

static void on_release(rouse_loop *loop, void *data)
{
	check_loop(loop);
	(void)player_called(ON_RELEASE, numbered(data), 0, 0);
}

static void on_wake(rouse_loop *loop, void *data)
{
	check_loop(loop);
	(void)player_called(ON_WAKE, numbered(data), 0, 0);
}

static void on_post_0(rouse_loop *loop, void *data)
{
	check_loop(loop);
	(void)player_called(ON_POST, numbered(data), 0, 0);
}

static void on_post_1(rouse_loop *loop, void *data)
{
	check_loop(loop);
	(void)player_called(ON_POST, numbered(data), 1, 0);
}

static void on_post_cancel_0(void *data)
{
	(void)player_called(ON_POST_CANCEL, numbered(data), 0, 0);
}

static void on_post_cancel_1(void *data)
{
	(void)player_called(ON_POST_CANCEL, numbered(data), 1, 0);
}

static void on_call(rouse_loop *loop, void *data)
{
	check_loop(loop);
	(void)player_called(ON_CALL, numbered(data), 0, 0);
}

static void on_task(rouse_loop *loop, rouse_task *task)
{
	check_loop(loop);
	(void)player_called(ON_TASK, (uint64_t)((struct task *)task)->number, 0, 0);
}

static void on_task_cancel(rouse_task *task)
{
	(void)player_called(ON_TASK_CANCEL, (uint64_t)((struct task *)task)->number, 0, 0);
}

static void at(enum rouse__point point, void *data)
{
	(void)data;
	switch (point) {
	case ROUSE__QUEUE_LOOKED_EMPTY:
		player_at(AT_LOOKED_EMPTY);
		break;
	case ROUSE__MARKED_ASLEEP:
		player_at(AT_ASLEEP);
		break;
	case ROUSE__WOKE:
		player_at(AT_WOKE);
		break;
	case ROUSE__TOOK:
		player_at(AT_TOOK);
		break;
	case ROUSE__SET_PENDING:
		player_at(AT_PENDING);
		break;
	case ROUSE__PUBLISHED:
		player_at(AT_PUBLISHED);
		break;
	default:
		break;
	}
}

/* The linker leads poll() here: a null loop asks for no time, or waits for good. */
int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int ready = __real_poll(fds, count, 0);

	if (ready || timeout == 0)
		return ready;
	player_idle();
	ready = __real_poll(fds, count, 0);
	if (!ready)
		trace_failed("the loop sleeps for good, though something was queued");
	return ready;
}

static rouse_source *name_for(int source)
{
	return ANONYMOUS(source) ? NULL : &lib.names[source];
}

/* ---- Calls ------------------------------------------------------------------------ */

#define ALLOCATING(result, call) (memory_allow(1), result = (call), memory_allow(0), result)

static void begin(void)
{
	memset(&lib, 0, sizeof lib);
	for (int i = 0; i < TASKS; i++) {
		lib.tasks[i].task.run = on_task;
		lib.tasks[i].task.cancel = i ? on_task_cancel : NULL;
		lib.tasks[i].number = i;
	}
	memory_reset();
	rouse__fault_pause(at, NULL);
}

static void end(void)
{
	rouse__fault_pause(NULL, NULL);
	for (int i = 0; i < lib.loops; i++)
		rouse_remote_unref(lib.remotes[i]);
	if (memory_blocks())
		trace_failed("memory was not given back");
}

static int loop_create(unsigned max_batch)
{
	const rouse_loop_options options = {
	        .size = sizeof options,
	        .poller = "null",
	        .allocator = &memory,
	        .max_batch = max_batch,
	};
	int error;

	if (ALLOCATING(error, rouse_loop_create(&options, &lib.loop)))
		return error;
	lib.remotes[lib.loops++] = rouse_loop_remote(lib.loop);
	return 0;
}

static int loop_destroy(void)
{
	int error = rouse_loop_destroy(lib.loop);

	if (!error)
		lib.loop = NULL;
	return error;
}

static int loop_run(void)
{
	return rouse_loop_run(lib.loop);
}

static int loop_turn(rouse_ns deadline)
{
	return rouse_loop_turn(lib.loop, deadline);
}

static int loop_stop(void)
{
	return rouse_loop_stop(lib.loop);
}

static int loop_fd(void)
{
	rouse_fd fd;

	return rouse_loop_fd(lib.loop, &fd);
}

static int loop_prepare(unsigned flags, rouse_ns *ret_deadline)
{
	return rouse_loop_prepare(lib.loop, flags, ret_deadline);
}

static int loop_check(int fd_readable)
{
	return rouse_loop_check(lib.loop, fd_readable);
}

static int loop_dispatch(void)
{
	return rouse_loop_dispatch(lib.loop);
}

static int loop_take_stop(void)
{
	return rouse_loop_take_stop(lib.loop);
}

static int counted(int error, const rouse_stats *stats, uint64_t counters[COUNTERS])
{
	const size_t size = sizeof *stats - offsetof(rouse_stats, turns);

	_Static_assert(sizeof *stats - offsetof(rouse_stats, turns) <= COUNTERS * sizeof *counters,
	               "more counters than expected");
	memset(counters, 0, COUNTERS * sizeof *counters);
	if (!error)
		memcpy(counters, &stats->turns, size);
	return error;
}

static int loop_stats(uint64_t counters[COUNTERS])
{
	rouse_stats stats = {.size = sizeof stats};
	int error = rouse_loop_stats(lib.loop, &stats);

	return counted(error, &stats, counters);
}

static int remote_stats(uint64_t counters[COUNTERS])
{
	rouse_stats stats = {.size = sizeof stats};
	int error = rouse_remote_stats(remote(), &stats);

	return counted(error, &stats, counters);
}

static rouse_ns loop_now(void)
{
	return rouse_loop_now(lib.loop);
}

static int waker_create(int waker, int has_fn)
{
	int error;

	return ALLOCATING(error, rouse_waker_create(lib.loop, has_fn ? on_wake : NULL,
	                                            number(waker), &lib.wakers[waker]));
}

static int wake(int waker)
{
	return rouse_wake(lib.wakers[waker]);
}

static void waker_ref(int waker)
{
	(void)rouse_waker_ref(lib.wakers[waker]);
	lib.users[waker]++;
}

static void waker_unref(int waker)
{
	rouse_waker *mine = lib.wakers[waker];

	if (!lib.users[waker]--)
		lib.wakers[waker] = NULL;
	(void)rouse_waker_unref(mine);
}

static int waker_close(int waker)
{
	return rouse_waker_close(lib.wakers[waker]);
}

static int post(int tag, int fn, int has_cancel)
{
	void (*cancel)(void *) = fn ? on_post_cancel_1 : on_post_cancel_0;
	int result;

	memory_allow(1);
	result = rouse_post(remote(), fn ? on_post_1 : on_post_0, number(tag),
	                    has_cancel ? cancel : NULL);
	memory_allow(0);
	return result;
}

static int post_task(int task)
{
	return rouse_post_task(remote(), &lib.tasks[task].task);
}

static int call(int tag)
{
	return rouse_call(remote(), on_call, number(tag));
}

static int cancel_posts(int tag)
{
	return rouse_cancel_posts(lib.loop, number(tag));
}

static int remote_stop(void)
{
	return rouse_remote_stop(remote());
}

static int timer_add(int source, rouse_ns deadline, rouse_ns period, rouse_ns slack)
{
	int error;

	return ALLOCATING(error, rouse_timer_add(lib.loop, deadline, period, slack, on_timer,
	                                         number(source), name_for(source)));
}

static int timer_set(int source, rouse_ns deadline, rouse_ns period, rouse_ns slack)
{
	return rouse_timer_set(lib.loop, lib.names[source], deadline, period, slack);
}

static int fd_add(int source, rouse_fd fd, unsigned events)
{
	int error;

	return ALLOCATING(
	        error, rouse_fd_add(lib.loop, fd, events, on_fd, number(source), name_for(source)));
}

static int fd_set_events(int source, unsigned events)
{
	return rouse_fd_set_events(lib.loop, lib.names[source], events);
}

static int hook_add(int source, rouse_fd fd, unsigned events, unsigned functions)
{
	const rouse_hook hook = {
	        .size = sizeof hook,
	        .fd = fd,
	        .events = events,
	        .prepare = functions & PREPARES ? on_prepare : NULL,
	        .check = functions & CHECKS ? on_check : NULL,
	        .dispatch = functions & DISPATCHES ? on_dispatch : NULL,
	        .release = functions & RELEASES ? on_release : NULL,
	};
	int error;

	return ALLOCATING(error, rouse_hook_add(lib.loop, &hook, number(source), name_for(source)));
}

static int signal_add(int source, int signo)
{
	int error;

	return ALLOCATING(error, rouse_signal_add(lib.loop, signo, on_signal, number(source),
	                                          name_for(source)));
}

static void raise_it(int signo)
{
	(void)raise(signo);
}

static int remove_source(int source)
{
	return rouse_remove(lib.loop, lib.names[source]);
}

static int null_script(rouse_ns at_time, rouse_fd fd, unsigned events)
{
	int error;

	return ALLOCATING(error, rouse_null_script(lib.loop, at_time, fd, events));
}

static int null_advance(rouse_ns by)
{
	return rouse_null_advance(lib.loop, by);
}

const struct world library = {
        .begin = begin,
        .end = end,
        .loop_create = loop_create,
        .loop_destroy = loop_destroy,
        .loop_run = loop_run,
        .loop_turn = loop_turn,
        .loop_stop = loop_stop,
        .loop_fd = loop_fd,
        .loop_prepare = loop_prepare,
        .loop_check = loop_check,
        .loop_dispatch = loop_dispatch,
        .loop_take_stop = loop_take_stop,
        .loop_stats = loop_stats,
        .remote_stats = remote_stats,
        .loop_now = loop_now,
        .waker_create = waker_create,
        .wake = wake,
        .waker_ref = waker_ref,
        .waker_unref = waker_unref,
        .waker_close = waker_close,
        .post = post,
        .post_task = post_task,
        .call = call,
        .cancel_posts = cancel_posts,
        .remote_stop = remote_stop,
        .timer_add = timer_add,
        .timer_set = timer_set,
        .fd_add = fd_add,
        .fd_set_events = fd_set_events,
        .hook_add = hook_add,
        .signal_add = signal_add,
        .raise = raise_it,
        .remove = remove_source,
        .null_script = null_script,
        .null_advance = null_advance,
};
