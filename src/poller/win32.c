/* win32: one completion port for sockets and the doorbell, thread-pool waits for handles
 * and pipes. */
#include "poller/win32.h"

#include "base/alloc.h"
#include "core/fault.h"
#include "os/os.h"

static size_t size_for(unsigned max_batch)
{
	return sizeof(struct rouse__poller) + max_batch * sizeof(OVERLAPPED_ENTRY);
}

static int create(const struct rouse__poller_config *config, struct rouse__poller **ret)
{
	struct rouse__poller *p = rouse__zalloc(config->allocator, size_for(config->max_batch));

	if (!p)
		return ROUSE_ENOMEM;
	p->allocator = config->allocator;
	p->bell = config->doorbell;
	p->max_batch = config->max_batch;
	p->armed = ROUSE_NEVER;
	rouse__list_init(&p->ready);
	rouse__list_init(&p->again);
	rouse__sockets_init(p);
	*ret = p;
	return 0;
}

static void destroy(struct rouse__poller *p)
{
	rouse__handles_finish(p);
	rouse__sockets_finish(p);
	rouse__free(p->allocator, p, size_for(p->max_batch));
}

/* ---- Watches ------------------------------------------------------------------------ */

static struct rouse__record *record_at(struct rouse__list *link)
{
	return ROUSE__CONTAINER(link, struct rouse__record, link);
}

static void move_to(struct rouse__list *list, struct rouse__record *record)
{
	rouse__list_unlink(&record->link);
	rouse__list_append(list, &record->link);
}

void rouse__win32_seen(struct rouse__poller *p, struct rouse__record *record, unsigned events)
{
	record->seen |= events;
	if (record->watch && record->watch->events)
		move_to(&p->ready, record);
}

static int set(struct rouse__poller *p, struct rouse__watch *watch, unsigned events)
{
	struct rouse__record *record = watch->own;

	watch->events = events;
	if (!events)
		rouse__list_unlink(&record->link);
	else
		move_to(record->seen ? &p->ready : &p->again, record);
	return 0;
}

void rouse__win32_forget(struct rouse__poller *p, struct rouse__watch *watch)
{
	struct rouse__record *record = watch->own;

	watch->in_poller = 0;
	watch->own = NULL;
	switch (record->kind) {
	case ROUSE__HANDLE:
		rouse__handles_remove(p, record);
		break;
	case ROUSE__BY_EVENT:
		rouse__events_remove(p, record);
		break;
	case ROUSE__PIPE_END:
		rouse__pipes_remove(p, record);
		break;
	default:
		rouse__sockets_remove(p, record);
	}
}

static rouse_ns now(const struct rouse__poller *p)
{
	(void)p;
	return rouse__clock();
}

/* ---- The wait ------------------------------------------------------------------------- */

static int renew_one(struct rouse__poller *p, struct rouse__record *record)
{
	switch (record->kind) {
	case ROUSE__HANDLE:
		rouse__handles_renew(p, record);
		return 0;
	case ROUSE__BY_EVENT:
		/* With all of them. */
		return 0;
	case ROUSE__PIPE_END:
		return rouse__pipes_renew(p, record);
	default:
		return rouse__sockets_renew(p, record);
	}
}

/* Each of them once: what is closed by now is put into `ready`, and what the system had no memory
 * for stays.  0, or the first error. */
static int renew(struct rouse__poller *p)
{
	struct rouse__list refused;
	int first = rouse__events_sweep(p);

	rouse__list_init(&refused);
	while (!rouse__list_empty(&p->again)) {
		struct rouse__record *record = record_at(p->again.next);
		int error;

		rouse__list_unlink(&record->link);
		error = renew_one(p, record);
		if (error)
			rouse__list_append(&refused, &record->link);
		first = first ? first : error;
	}
	while (!rouse__list_empty(&refused))
		move_to(&p->again, record_at(refused.next));
	return first;
}

static void report(struct rouse__poller *p, rouse_loop *door)
{
	for (unsigned n = 0; n < p->max_batch && !rouse__list_empty(&p->ready); n++) {
		struct rouse__record *record = record_at(p->ready.next);
		unsigned seen = record->seen;

		record->seen = 0;
		move_to(&p->again, record);
		if (record->closed)
			rouse__ready_closed(door, record->watch);
		else
			rouse__ready(door, record->watch, seen);
	}
}

/* Rounded up: not to wake too early, and again.  Without a timer this is as fine as the system's
 * tick. */
static DWORD milliseconds(rouse_ns deadline)
{
	rouse_ns now = rouse__clock();
	rouse_ns left = deadline > now ? (deadline - now + 999999u) / 1000000u : 0;

	return left < INFINITE - 1 ? (DWORD)left : INFINITE - 1;
}

static DWORD timeout_for(struct rouse__poller *p, rouse_ns deadline)
{
	if (deadline == 0 || p->heard || rouse__bell_carried(p->bell) ||
	    !rouse__list_empty(&p->ready) ||
	    atomic_load_explicit(&p->signalled, memory_order_relaxed))
		return 0;
	if (deadline == ROUSE_NEVER || rouse__timer_arm(p, deadline) == 0)
		return INFINITE;
	return milliseconds(deadline);
}

/* 0, or a ROUSE_E*. */
static int ask_port(struct rouse__poller *p, ULONG had, DWORD timeout, ULONG *ret_count)
{
	if (ROUSE__WIN(ROUSE__PORT_WAIT, FALSE,
	               GetQueuedCompletionStatusEx(p->bell->port, p->entries + had,
	                                           p->max_batch - had, ret_count, timeout, FALSE)))
		return 0;
	*ret_count = 0;
	return GetLastError() == WAIT_TIMEOUT ? 0 : rouse__os_failed((int)GetLastError());
}

/* How many there were, or a ROUSE_E*. */
static int take(struct rouse__poller *p, DWORD timeout)
{
	ULONG had = rouse__bell_held(p->bell, p->entries), count = 0;
	int error = 0;

	if (had < p->max_batch)
		error = ask_port(p, had, had ? 0 : timeout, &count);
	if (had)
		rouse__bell_go_on(p->bell);
	count += had;
	for (ULONG i = 0; i < count; i++)
		if (p->entries[i].lpCompletionKey == ROUSE__SOCKET_KEY)
			rouse__sockets_arrived(p, &p->entries[i]);
		else if (p->entries[i].lpCompletionKey == ROUSE__BELL_KEY &&
		         rouse__bell_arrived(p->bell))
			p->heard = 1;
	return error ? error : (int)count;
}

void rouse__win32_look(struct rouse__poller *p)
{
	while (take(p, 0) == (int)p->max_batch)
		continue;
	/* No wait would tell a host's loop that something is there. */
	if (rouse__bell_carried(p->bell))
		(void)rouse__doorbell_ring(p->bell);
}

/* What could not be asked for is an error of this wait, which does not block then. */
static int wait(struct rouse__poller *p, rouse_ns deadline, rouse_loop *door)
{
	int error = renew(p), taken;

	/* Before looking: what comes after that rings anew. */
	if (rouse__bell_carried(p->bell) && rouse__bell_heard(p->bell))
		p->heard = 1;
	taken = take(p, error ? 0 : timeout_for(p, deadline));
	if (p->heard)
		rouse__ready_rung(door);
	p->heard = 0;
	rouse__handles_collect(p);
	report(p, door);
	if (error)
		return error;
	return taken < 0 ? taken : 0;
}

/* What could not be asked for is tried by the turn that rings. */
static int renew_for_host(struct rouse__poller *p)
{
	return renew(p) || !rouse__list_empty(&p->ready) || rouse__bell_full(p->bell) ||
	       atomic_load_explicit(&p->signalled, memory_order_acquire);
}

const struct rouse__poller_ops rouse__win32 = {
        .name = "win32",
        .caps = ROUSE_CAP_FD | ROUSE_CAP_HANDLE | ROUSE_CAP_SIGNAL_SAFE_WAKE | ROUSE_CAP_SIGNAL |
                ROUSE_CAP_CHILD,
        .create = create,
        .destroy = destroy,
        .add = rouse__sockets_add,
        .add_handle = rouse__handles_add,
        .add_pipe = rouse__pipes_add,
        .set = set,
        .remove = rouse__win32_forget,
        .wait = wait,
        .arm = rouse__timer_arm,
        .renew = renew_for_host,
        .now = now,
};
