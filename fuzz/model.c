/* The world that is the model: its calls. */
#include "model.h"

#include <rouse/null.h>

#include <signal.h>
#include <string.h>

struct model m;

/* Whether the library was refused memory in the call that both are in. */
static int refused(void)
{
	const struct event *ahead = trace_ahead();

	return ahead->what == RESULT && ahead->refused;
}

/* ---- Life ----------------------------------------------------------------------- */

static void begin(void)
{
	m.loop = m.last = NULL;
	m.loop_count = 0;
	memset(m.sources, 0, sizeof m.sources);
	memset(m.wakers, 0, sizeof m.wakers);
	memset(m.task_queued, 0, sizeof m.task_queued);
}

static void end(void)
{
}

/* The large arrays' ends say what is in them. */
static void init(struct loop *loop, unsigned max_batch)
{
	loop->closed = 0;
	loop->first_source = 1;
	loop->max_batch = max_batch ? max_batch : ROUSE_DEFAULT_BATCH;
	loop->clock = ROUSE_NULL_EPOCH;
	loop->queue.first = loop->queue.end = 0;
	loop->taken.first = loop->taken.end = 0;
	loop->seen = 0;
	loop->budget = 0;
	loop->asleep = loop->bell = loop->rung = 0;
	loop->stop_queued = loop->stop = 0;
	loop->order = loop->due = 0;
	loop->late = 0;
	loop->watches = loop->report_from = 0;
	loop->batch_next = loop->batch_end = 0;
	memset(loop->ready, 0, sizeof loop->ready);
	loop->changes = 0;
	loop->frames = loop->no_turn = loop->hosted = 0;
	memset(loop->counters, 0, sizeof loop->counters);
}

static int loop_create(unsigned max_batch)
{
	if (max_batch > 65536)
		return ROUSE_EINVAL;
	if (refused())
		return ROUSE_ENOMEM;
	m.loop = m.last = &m.loops[m.loop_count++];
	init(m.loop, max_batch);
	return 0;
}

/* Sources are let go of in whatever order: the library's. */
static int let_go_of_next(void)
{
	const struct event *ahead = trace_ahead();
	int number = ahead->what == ON_RELEASE ? (int)ahead->arguments[0] : 0;

	if (m.sources[number].kind == HOOK)
		return number;
	for (int i = 1; i < SOURCES; i++)
		if (m.sources[i].kind)
			return i;
	return 0;
}

static int loop_destroy(void)
{
	struct loop *loop = m.loop;
	int source;

	if (!loop)
		return 0;
	if (loop->frames)
		return ROUSE_EBUSY;
	loop->closed = 1;
	loop->asleep = 0;
	loop->frames = 1;
	loop->no_turn = 1;
	for (int i = 0; i < WAKERS + SOURCES; i++)
		if (m.wakers[i].loop == loop)
			m.wakers[i].closed = 1;
	model_cancel(loop);
	while ((source = let_go_of_next()))
		model_remove(loop, source);
	m.loop = NULL;
	return 0;
}

static rouse_ns loop_now(void)
{
	return m.loop ? m.loop->clock : 0;
}

static int loop_stats(uint64_t counters[COUNTERS])
{
	if (!m.loop)
		return ROUSE_EINVAL;
	memcpy(counters, m.loop->counters, sizeof m.loop->counters);
	return 0;
}

static int remote_stats(uint64_t counters[COUNTERS])
{
	if (!m.last)
		return ROUSE_EINVAL;
	memcpy(counters, m.last->counters, sizeof m.last->counters);
	return 0;
}

/* ---- Wakers -------------------------------------------------------------------------- */

static int waker_create(int number, int has_fn)
{
	if (!m.loop)
		return ROUSE_EINVAL;
	if (m.loop->closed)
		return ROUSE_ECLOSED;
	if (refused())
		return ROUSE_ENOMEM;
	m.wakers[number] = (struct waker){.loop = m.loop, .users = 1, .has_fn = has_fn};
	return 0;
}

static int wake(int number)
{
	return m.wakers[number].users ? model_wake(number) : ROUSE_EINVAL;
}

static void waker_ref(int number)
{
	m.wakers[number].users++;
}

static void waker_unref(int number)
{
	struct waker *waker = &m.wakers[number];

	if (--waker->users || waker->closed)
		return;
	waker->closed = 1;
	if (!waker->pending)
		(void)model_push(waker->loop, (struct item){.kind = WAKER, .number = number});
}

static int waker_close(int number)
{
	if (!m.wakers[number].users)
		return ROUSE_EINVAL;
	m.wakers[number].closed = 1;
	return 0;
}

/* ---- Posts ---------------------------------------------------------------------------- */

/* As rouse_post(): a ring is no news. */
static int posted(int pushed)
{
	return pushed < 0 ? pushed : 0;
}

static int post(int tag, int fn, int has_cancel)
{
	if (!m.last)
		return ROUSE_EINVAL;
	if (m.last->closed)
		return ROUSE_ECLOSED;
	if (refused())
		return ROUSE_ENOMEM;
	return posted(model_push(m.last, (struct item){POSTED, tag, fn, has_cancel}));
}

static int post_task(int task)
{
	if (!m.last)
		return ROUSE_EINVAL;
	if (m.task_queued[task])
		return ROUSE_EEXIST;
	if (m.last->closed)
		return ROUSE_ECLOSED;
	m.task_queued[task] = 1;
	return posted(model_push(m.last, (struct item){TASK, task, 0, task != 0}));
}

static int call(int tag)
{
	struct loop *loop = m.last;

	if (!loop)
		return ROUSE_EINVAL;
	if (loop->closed)
		return ROUSE_ECLOSED;
	loop->counters[COUNTER(posts_run)]++;
	loop->counters[COUNTER(callbacks)]++;
	loop->frames++;
	(void)player_called(ON_CALL, (uint64_t)tag, 0, 0);
	loop->frames--;
	return 0;
}

static int cancel_posts(int tag)
{
	return m.loop ? model_cancel_posts(m.loop, tag) : ROUSE_EINVAL;
}

static int remote_stop(void)
{
	if (!m.last)
		return ROUSE_EINVAL;
	if (m.last->stop_queued)
		return 0;
	if (m.last->closed)
		return ROUSE_ECLOSED;
	m.last->stop_queued = 1;
	return posted(model_push(m.last, (struct item){.kind = STOP}));
}

/* ---- Sources ---------------------------------------------------------------------------- */

/* While the loop is being destroyed, the library says whether a source is gone already. */
static struct source *live(int number)
{
	struct source *source = &m.sources[number];
	const struct event *ahead = trace_ahead();

	if (m.loop->closed && source->kind && ahead->what == RESULT &&
	    ahead->arguments[0] == (uint64_t)ROUSE_ESTALE &&
	    !(source->kind == HOOK && (source->functions & RELEASES)))
		model_remove(m.loop, number);
	return source->kind ? source : NULL;
}

/* What adding a source answers before it looks at what is added. */
static int may_add(void)
{
	if (refused())
		return ROUSE_ENOMEM;
	return m.loop->closed ? ROUSE_ECLOSED : 0;
}

static int signal_source(int signo)
{
	for (int i = 1; i < SOURCES; i++)
		if (m.sources[i].kind == SIGNAL && m.sources[i].signo == signo)
			return i;
	return 0;
}

static int timer_add(int number, rouse_ns deadline, rouse_ns period, rouse_ns slack)
{
	int error = m.loop ? may_add() : ROUSE_EINVAL;

	if (error)
		return error;
	m.sources[number] = (struct source){
	        .kind = TIMER, .deadline = deadline, .period = period, .slack = slack, .fd = -1};
	model_arm(m.loop, &m.sources[number]);
	return 0;
}

static int timer_set(int number, rouse_ns deadline, rouse_ns period, rouse_ns slack)
{
	struct source *timer;

	if (!m.loop)
		return ROUSE_EINVAL;
	timer = live(number);
	if (!timer)
		return ROUSE_ESTALE;
	if (timer->kind != TIMER)
		return ROUSE_EINVAL;
	timer->deadline = deadline;
	timer->period = period;
	timer->slack = slack;
	if (!timer->running)
		model_arm(m.loop, timer);
	return 0;
}

static int known_events(unsigned events)
{
	return !(events & ~(unsigned)(ROUSE_READABLE | ROUSE_WRITABLE | ROUSE_HANGUP));
}

static int add_watching(int number, struct source source)
{
	int error = may_add();

	if (error)
		return error;
	if (source.fd > ROUSE_NULL_MAX_FD)
		return ROUSE_EINVAL;
	for (int i = 0; i < m.loop->watches && source.fd >= 0; i++)
		if (m.sources[m.loop->watched[i]].fd == source.fd)
			return ROUSE_EEXIST;
	m.sources[number] = source;
	if (source.fd >= 0)
		model_watch(m.loop, number);
	return 0;
}

static int fd_add(int number, rouse_fd fd, unsigned events)
{
	if (!m.loop || fd < 0 || !known_events(events))
		return ROUSE_EINVAL;
	return add_watching(number, (struct source){.kind = FD, .fd = fd, .events = events});
}

static int hook_add(int number, rouse_fd fd, unsigned events, unsigned functions)
{
	if (!m.loop || (fd == ROUSE_NO_FD ? events != 0 : fd < 0 || !known_events(events)))
		return ROUSE_EINVAL;
	return add_watching(
	        number,
	        (struct source){.kind = HOOK, .fd = fd, .events = events, .functions = functions});
}

static int fd_set_events(int number, unsigned events)
{
	struct source *source;

	if (!m.loop)
		return ROUSE_EINVAL;
	source = live(number);
	if (!source)
		return ROUSE_ESTALE;
	if ((source->kind != FD && source->kind != HOOK) || source->fd < 0 || !known_events(events))
		return ROUSE_EINVAL;
	source->events = events;
	return 0;
}

static int signal_add(int number, int signo)
{
	int error = m.loop ? may_add() : ROUSE_EINVAL;

	if (error)
		return error;
	if (signo == 0 || signo == SIGKILL)
		return ROUSE_EINVAL;
	if (signal_source(signo))
		return ROUSE_EEXIST;
	m.sources[number] = (struct source){.kind = SIGNAL, .signo = signo, .fd = -1};
	m.wakers[WAKERS + number] = (struct waker){.loop = m.loop, .has_fn = 1};
	return 0;
}

static void raise_it(int signo)
{
	int number = signal_source(signo);

	if (number)
		(void)model_wake(WAKERS + number);
}

static int remove_source(int number)
{
	if (!m.loop)
		return ROUSE_EINVAL;
	if (!live(number))
		return ROUSE_ESTALE;
	model_remove(m.loop, number);
	return 0;
}

/* ---- The null poller ------------------------------------------------------------------- */

static int null_script(rouse_ns at, rouse_fd fd, unsigned events)
{
	struct loop *loop = m.loop;
	int i;

	if (!loop || fd < 0 || fd > ROUSE_NULL_MAX_FD || events > 15)
		return ROUSE_EINVAL;
	if (at <= loop->clock) {
		loop->ready[model_place(fd)] = events;
		return 0;
	}
	if (refused())
		return ROUSE_ENOMEM;
	for (i = loop->changes++; i > 0 && loop->script[i - 1].at > at; i--)
		loop->script[i] = loop->script[i - 1];
	loop->script[i] = (struct change){at, model_place(fd), events};
	return 0;
}

static int null_advance(rouse_ns by)
{
	struct loop *loop = m.loop;

	if (!loop)
		return ROUSE_EINVAL;
	loop->clock = by > ROUSE_NEVER - 1 - loop->clock ? ROUSE_NEVER - 1 : loop->clock + by;
	model_play_script(loop);
	return 0;
}

const struct world model = {
        .begin = begin,
        .end = end,
        .loop_create = loop_create,
        .loop_destroy = loop_destroy,
        .loop_run = model_run,
        .loop_turn = model_turn,
        .loop_stop = model_stop,
        .loop_fd = model_fd,
        .loop_prepare = model_prepare,
        .loop_check = model_check,
        .loop_dispatch = model_dispatch,
        .loop_take_stop = model_take_stop,
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
