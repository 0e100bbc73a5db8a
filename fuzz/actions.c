/* The calls an input is made of, and what they are given. */
#include "player.h"

#include <rouse/null.h>

#include <signal.h>

/* ---- Loop --------------------------------------------------------------------- */

void create_loop(void)
{
	static const unsigned batches[] = {0, 1, 2, 3, 4, 7, 1, 65537};
	unsigned batch = batches[take() % 8];

	if (player.have_loop || player.loops == LOOPS)
		return;
	note(LOOP_CREATE, batch, 0, 0, 0);
	if (result(player.world->loop_create(batch)))
		return;
	player.have_loop = 1;
	player.loops++;
	player.first_source = player.next_source;
}

void destroy_loop(void)
{
	int error;

	note(LOOP_DESTROY, 0, 0, 0, 0);
	error = player.world->loop_destroy();
	if (!error) {
		player.have_loop = 0;
		player.first_source = player.next_source;
	}
	result(error);
}

/* Most of the time what was gathered so far shall not be lost. */
static void maybe_destroy(void)
{
	if (take() < 32)
		destroy_loop();
}

static void run(void)
{
	note(LOOP_RUN, 0, 0, 0, 0);
	result(player.world->loop_run());
}

static void turn(void)
{
	unsigned b = take();
	rouse_ns deadline = b < 64 ? 0 : b < 128 ? ROUSE_NEVER : some_time();

	note(LOOP_TURN, deadline, 0, 0, 0);
	result(player.world->loop_turn(deadline));
}

void stop_loop(void)
{
	note(LOOP_STOP, 0, 0, 0, 0);
	result(player.world->loop_stop());
}

static void take_stop(void)
{
	note(LOOP_TAKE_STOP, 0, 0, 0, 0);
	result(player.world->loop_take_stop());
}

static rouse_ns prepare_with(unsigned flags, int asks)
{
	rouse_ns deadline = 0;
	int error;

	note(LOOP_PREPARE, flags, (uint64_t)asks, 0, 0);
	error = player.world->loop_prepare(flags, asks ? &deadline : NULL);
	result_and(error, deadline);
	return error ? 0 : deadline;
}

static void prepare(void)
{
	unsigned b = take();

	(void)prepare_with(b < 240 ? b & 1 : b & 3, b < 250);
}

static void check_with(int readable)
{
	note(LOOP_CHECK, (uint64_t)readable, 0, 0, 0);
	result(player.world->loop_check(readable));
}

static void check(void)
{
	check_with(take() < 192);
}

static void dispatch(void)
{
	note(LOOP_DISPATCH, 0, 0, 0, 0);
	result(player.world->loop_dispatch());
}

static void advance_by(rouse_ns by)
{
	note(NULL_ADVANCE, by, 0, 0, 0);
	result(player.world->null_advance(by));
}

static void advance(void)
{
	advance_by(some_span());
}

/* What a bracket host does: its wait is the null loop's host's, who lets time pass. */
static void bracket(void)
{
	unsigned b = take();
	rouse_ns deadline = prepare_with(b & 1, 1);

	if (deadline > now() && deadline != ROUSE_NEVER)
		advance_by(deadline - now());
	check_with(b < 192);
	if (b & 2)
		dispatch();
}

static void descriptor(void)
{
	note(LOOP_FD, 0, 0, 0, 0);
	result(player.world->loop_fd());
}

static void counted(int error, const uint64_t counters[COUNTERS])
{
	result(error);
	for (unsigned i = 0; !error && i < COUNTERS; i++)
		if (counters[i])
			note(COUNTED, i, counters[i], 0, 0);
}

void show_stats(void)
{
	uint64_t counters[COUNTERS];
	int error;

	note(LOOP_STATS, 0, 0, 0, 0);
	error = player.world->loop_stats(counters);
	counted(error, counters);
}

void show_remote_stats(void)
{
	uint64_t counters[COUNTERS];
	int error;

	note(REMOTE_STATS, 0, 0, 0, 0);
	error = player.world->remote_stats(counters);
	counted(error, counters);
}

static void refuse(void)
{
	unsigned nth = take() % 6;

	note(REFUSE, nth, 0, 0, 0);
	if (player.world == &library)
		library_refuse(nth);
	result(0);
}

/* ---- From any thread ----------------------------------------------------------- */

static int produced(enum context before, int value)
{
	player.context = before;
	return result(value);
}

static enum context produce(void)
{
	enum context before = player.context;

	if (before == ON_LOOP_THREAD)
		player.context = PRODUCING;
	return before;
}

int wake_some(void)
{
	int waker = some_waker(), value;
	enum context before;

	note(WAKE, (uint64_t)waker, 0, 0, 0);
	before = produce();
	player.busy[waker]++;
	value = player.world->wake(waker);
	player.busy[waker]--;
	return produced(before, value);
}

static void wake(void)
{
	(void)wake_some();
}

static void waker_ref(void)
{
	int waker = some_waker();

	if (!player.users[waker])
		return;
	note(WAKER_REF, (uint64_t)waker, 0, 0, 0);
	player.users[waker]++;
	player.world->waker_ref(waker);
	result(0);
}

void unref_waker(int waker)
{
	enum context before;

	note(WAKER_UNREF, (uint64_t)waker, 0, 0, 0);
	before = produce();
	player.users[waker]--;
	player.world->waker_unref(waker);
	produced(before, 0);
}

static void waker_unref(void)
{
	int waker = some_waker();

	if (player.users[waker] > (player.busy[waker] != 0))
		unref_waker(waker);
}

int post_some(void)
{
	unsigned b = take();
	enum context before;
	int fn = (b & 0x40) != 0, has_cancel = (b & 0x80) == 0;

	note(POST, b % TAGS, (uint64_t)fn, (uint64_t)has_cancel, 0);
	before = produce();
	return produced(before, player.world->post((int)(b % TAGS), fn, has_cancel));
}

static void post(void)
{
	(void)post_some();
}

int post_some_task(void)
{
	unsigned task = take() % TASKS;
	enum context before;

	note(POST_TASK, task, 0, 0, 0);
	before = produce();
	return produced(before, player.world->post_task((int)task));
}

static void post_task(void)
{
	(void)post_some_task();
}

void stop_remotely(void)
{
	enum context before;

	note(REMOTE_STOP, 0, 0, 0, 0);
	before = produce();
	produced(before, player.world->remote_stop());
}

static void raise_some(void)
{
	enum context before = player.context;
	int signo = some_signal();

	if (signo == SIGKILL || signo == 0)
		return;
	note(RAISE, (uint64_t)signo, 0, 0, 0);
	player.context = IN_HANDLER;
	player.world->raise(signo);
	player.context = before;
	result(0);
}

/* ---- On the loop's thread -------------------------------------------------------- */

static void waker_create(void)
{
	int has_fn = take() < 224;

	if (player.next_waker == WAKERS)
		return;
	note(WAKER_CREATE, (uint64_t)player.next_waker, (uint64_t)has_fn, 0, 0);
	if (result(player.world->waker_create(player.next_waker, has_fn)) == 0)
		player.users[player.next_waker] = 1;
	player.next_waker++;
}

static void waker_close(void)
{
	int waker = some_waker();

	note(WAKER_CLOSE, (uint64_t)waker, 0, 0, 0);
	result(player.world->waker_close(waker));
}

static void call(void)
{
	unsigned tag = take() % TAGS;

	note(CALL, tag, 0, 0, 0);
	result(player.world->call((int)tag));
}

static void cancel_posts(void)
{
	unsigned tag = take() % TAGS;

	note(CANCEL_POSTS, tag, 0, 0, 0);
	result(player.world->cancel_posts((int)tag));
}

static void timer_add(void)
{
	rouse_ns deadline = some_time(), period = some_span(), slack = some_span();
	int source = new_source();

	if (!source)
		return;
	note(TIMER_ADD, (uint64_t)source, deadline, period, slack);
	result(player.world->timer_add(source, deadline, period, slack));
}

static void timer_set(void)
{
	int source = some_source();
	rouse_ns deadline = some_time(), period = some_span(), slack = some_span();

	note(TIMER_SET, (uint64_t)source, deadline, period, slack);
	result(player.world->timer_set(source, deadline, period, slack));
}

static void fd_add(void)
{
	rouse_fd fd = some_fd();
	unsigned events = some_events();
	int source = new_source();

	if (!source)
		return;
	note(FD_ADD, (uint64_t)source, (uint64_t)(int64_t)fd, events, 0);
	result(player.world->fd_add(source, fd, events));
}

static void fd_set_events(void)
{
	int source = some_source();
	unsigned events = some_events();

	note(FD_SET_EVENTS, (uint64_t)source, events, 0, 0);
	result(player.world->fd_set_events(source, events));
}

static void hook_add(void)
{
	unsigned b = take(), functions = b & 0x80 ? b & 15 : 15;
	rouse_fd fd = b & 0x40 ? some_fd() : ROUSE_NO_FD;
	unsigned events = fd == ROUSE_NO_FD ? b >> 5 & 1 : some_events();
	int source = new_source();

	if (!source)
		return;
	note(HOOK_ADD, (uint64_t)source, (uint64_t)(int64_t)fd, events, functions);
	result(player.world->hook_add(source, fd, events, functions));
}

static void signal_add(void)
{
	int signo = some_signal();
	int source = new_source();

	if (!source)
		return;
	note(SIGNAL_ADD, (uint64_t)source, (uint64_t)signo, 0, 0);
	result(player.world->signal_add(source, signo));
}

static void remove_source(void)
{
	int source = some_source();

	note(REMOVE, (uint64_t)source, 0, 0, 0);
	result(player.world->remove(source));
}

static void script(void)
{
	rouse_ns at = some_time();
	rouse_fd fd = some_fd();
	unsigned b = take();
	unsigned events = b < 128 ? b & 3 : b < 252 ? b & 15 : b & 31;

	note(NULL_SCRIPT, at, (uint64_t)(int64_t)fd, events, 0);
	result(player.world->null_script(at, fd, events));
}

typedef void action(void);

void act(void)
{
	/* How often each stands here is how often it is wanted. */
	static action *const actions[] = {
	        turn,          turn,          turn,          run,
	        bracket,       prepare,       check,         dispatch,
	        timer_add,     timer_add,     timer_set,     fd_add,
	        fd_add,        fd_set_events, hook_add,      remove_source,
	        remove_source, script,        script,        waker_create,
	        wake,          wake,          waker_ref,     waker_unref,
	        waker_close,   post,          post,          post_task,
	        call,          cancel_posts,  stop_remotely, stop_loop,
	        take_stop,     advance,       show_stats,    show_remote_stats,
	        refuse,        maybe_destroy, create_loop,   descriptor,
	        signal_add,    raise_some,
	};

	actions[take() % (sizeof actions / sizeof *actions)]();
}

void act_elsewhere(void)
{
	static action *const actions[] = {wake,      wake,        post,
	                                  post,      post_task,   stop_remotely,
	                                  waker_ref, waker_unref, raise_some};

	actions[take() % (sizeof actions / sizeof *actions)]();
}
