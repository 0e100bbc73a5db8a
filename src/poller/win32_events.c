/*
 * Sockets without the driver: where it cannot be opened, does not know polls, or what layered
 * providers have made of a socket has no handle of the system's.
 *
 * WSAEventSelect() ends a wait, and WSAPoll() says what there is.  The event tells edges only: that
 * there is something new to read since the last recv(), or room since a send() that found none.
 * So before each wait all sockets are looked at, in this order:
 *
 *   1. What the event has is taken, and it is asked for anew: what comes from here on sets it.
 *   2. WSAPoll(): what there is already is reported, whatever became of its edge.
 *   3. Only of the others the event is waited for, by the pool as any handle's.
 *
 * And an event that was set is no report: WSAPoll() is asked again.  What it does not say on older
 * systems, that a connection was refused, is kept from the event.
 *
 * There is room without an edge where the last send() found just as much as it needed.  So who
 * waits for room looks for it now and then besides.
 *
 * Nothing tells that a socket was closed.  WSAPoll() says so before the next wait, unless its
 * number is another socket's by then.  That one has no event of ours: so a number that is added
 * again is asked whether it can be made to block, which the system refuses where there is one.
 */
#include "poller/win32.h"

#include "base/alloc.h"
#include "core/fault.h"
#include "os/os.h"

struct watched {
	struct rouse__signalled s; /* first; its object is the event */
	struct rouse__list all;
	long asked;
	unsigned char connected, refused, ended, aborted;
};

enum { AT_ONCE = 64, LOOK_FOR_ROOM = 10 /* ms */ };

static struct watched *of(struct rouse__record *record)
{
	return (struct watched *)record;
}

static SOCKET socket_of(const struct watched *w)
{
	return (SOCKET)w->s.record.watch->fd;
}

/* What was told once and still is would be told at once, and so on.  Never nothing: that would
 * be no event. */
static long mask_for(const struct watched *w)
{
	unsigned events = w->s.record.watch->events;
	long mask = FD_OOB;

	if (events & ROUSE_READABLE)
		mask |= FD_READ | FD_ACCEPT;
	if (events & ROUSE_WRITABLE)
		mask |= FD_WRITE;
	if (!w->connected)
		mask |= FD_CONNECT;
	if (!w->ended)
		mask |= FD_CLOSE;
	return mask;
}

/* 0, or a WSAGetLastError(). */
static int select_events(struct watched *w)
{
	w->asked = mask_for(w);
	return ROUSE__WIN(ROUSE__EVENT_SELECT, SOCKET_ERROR,
	                  WSAEventSelect(socket_of(w), w->s.object, w->asked))
	               ? WSAGetLastError()
	               : 0;
}

/* 0, or a WSAGetLastError(). */
static int take_event(struct watched *w)
{
	WSANETWORKEVENTS had;

	if (WSAEnumNetworkEvents(socket_of(w), w->s.object, &had))
		return WSAGetLastError();
	if (had.lNetworkEvents & FD_CONNECT) {
		w->refused = had.iErrorCode[FD_CONNECT_BIT] != 0;
		w->connected = !w->refused;
	}
	if (had.lNetworkEvents & FD_CLOSE) {
		w->ended = 1;
		w->aborted = had.iErrorCode[FD_CLOSE_BIT] != 0;
	}
	return 0;
}

/* 0; a ROUSE_E*, where the socket is there. */
static int failed(struct rouse__poller *p, struct watched *w, int error)
{
	if (error != WSAENOTSOCK)
		return rouse__os_failed(error);
	rouse__found_closed(p, &w->s.record);
	return 0;
}

/* ---- What there is --------------------------------------------------------------------- */

static unsigned events_of(const struct watched *w, int seen)
{
	unsigned wanted = w->s.record.watch->events, events = 0;
	int hung = w->aborted || ((seen & POLLERR) && (seen & POLLHUP) && !w->refused);

	if (seen & (POLLRDNORM | POLLHUP))
		events |= ROUSE_READABLE;
	if (seen & POLLWRNORM)
		events |= ROUSE_WRITABLE;
	if (hung || ((seen & POLLHUP) && (wanted & ROUSE_HANGUP)))
		events |= ROUSE_READABLE | ROUSE_HANGUP;
	if (w->refused || ((seen & POLLERR) && !hung))
		events |= ROUSE_READABLE | ROUSE_WRITABLE | ROUSE_FDERROR;
	return events & (wanted | ROUSE_HANGUP | ROUSE_FDERROR);
}

/* Whatever is asked for, an end is not told without POLLRDNORM. */
static void ask(const struct watched *w, WSAPOLLFD *ret)
{
	int room = w->s.record.watch->events & ROUSE_WRITABLE ? POLLWRNORM : 0;

	*ret = (WSAPOLLFD){.fd = socket_of(w), .events = (SHORT)(POLLRDNORM | room)};
}

/* What is closed fails alone; among others it may or may not make all of them fail. */
static int poll_them(WSAPOLLFD *fds, unsigned count)
{
	int error;

	if (WSAPoll(fds, count, 0) >= 0)
		return 0;
	error = WSAGetLastError();
	if (error != WSAENOTSOCK)
		return rouse__os_failed(error);
	if (count == 1) {
		fds->revents = POLLNVAL;
		return 0;
	}
	error = 0;
	for (unsigned i = 0; i < count && !error; i++)
		error = poll_them(&fds[i], 1);
	return error;
}

static void apply(struct rouse__poller *p, struct watched *w, int seen)
{
	unsigned events;

	if (seen & POLLNVAL) {
		rouse__found_closed(p, &w->s.record);
		return;
	}
	events = events_of(w, seen);
	if (events)
		rouse__win32_seen(p, &w->s.record, events);
}

/* ---- Before each wait ---------------------------------------------------------------------- */

static int is_wanted(const struct watched *w)
{
	return w->s.record.watch->events && !w->s.record.closed && !w->s.record.seen;
}

static int renew(struct rouse__poller *p, struct watched *w)
{
	int error;

	if (w->s.waiting) {
		/* Waited for is something else: let that end, and begin anew. */
		if (w->asked != mask_for(w))
			SetEvent(w->s.object);
		w->asked = mask_for(w);
		return 0;
	}
	error = take_event(w);
	if (!error)
		error = select_events(w);
	if (!error)
		return 0;
	return failed(p, w, error);
}

static void wait_for(struct watched *w)
{
	if (w->s.record.watch->events & ROUSE_WRITABLE)
		rouse__signalled_arm_for(&w->s, LOOK_FOR_ROOM);
	else
		rouse__signalled_arm(&w->s);
}

static int sweep(struct rouse__poller *p, struct watched **these, unsigned count)
{
	WSAPOLLFD fds[AT_ONCE];
	int error;

	for (unsigned i = 0; i < count; i++)
		ask(these[i], &fds[i]);
	error = count ? poll_them(fds, count) : 0;
	for (unsigned i = 0; i < count && !error; i++) {
		apply(p, these[i], fds[i].revents);
		if (is_wanted(these[i]) && !these[i]->s.waiting)
			wait_for(these[i]);
	}
	return error;
}

int rouse__events_sweep(struct rouse__poller *p)
{
	struct watched *these[AT_ONCE];
	unsigned count = 0;
	int first = 0, error;

	for (struct rouse__list *l = p->sockets.by_event.next; l != &p->sockets.by_event;
	     l = l->next) {
		struct watched *w = ROUSE__CONTAINER(l, struct watched, all);

		if (!is_wanted(w))
			continue;
		error = renew(p, w);
		first = first ? first : error;
		if (error || w->s.record.closed)
			continue;
		these[count++] = w;
		if (count == AT_ONCE) {
			error = sweep(p, these, count);
			first = first ? first : error;
			count = 0;
		}
	}
	error = sweep(p, these, count);
	return first ? first : error;
}

/* What cannot be asked now is asked before the next wait. */
void rouse__events_came(struct rouse__poller *p, struct rouse__record *record)
{
	struct watched *w = of(record);
	WSAPOLLFD fd;

	if (!is_wanted(w))
		return;
	if (take_event(w) == WSAENOTSOCK) {
		rouse__found_closed(p, record);
		return;
	}
	ask(w, &fd);
	if (!poll_them(&fd, 1))
		apply(p, w, fd.revents);
}

/* ---- Sockets as the loop knows them --------------------------------------------------------- */

static int begin(struct rouse__poller *p, struct watched *w)
{
	int error;

	w->s.record.kind = ROUSE__BY_EVENT;
	w->s.object = ROUSE__WIN(ROUSE__EVENT_SELECT, NULL, CreateEventW(NULL, TRUE, FALSE, NULL));
	if (!w->s.object)
		return rouse__os_failed((int)GetLastError());
	error = rouse__signalled_begin(p, &w->s);
	if (error) {
		CloseHandle(w->s.object);
		return error;
	}
	error = select_events(w);
	if (!error)
		return 0;
	rouse__signalled_end(p, &w->s);
	return rouse__os_failed(error);
}

int rouse__events_add(struct rouse__poller *p, struct rouse__watch *watch, unsigned events)
{
	struct watched *w = rouse__zalloc(p->allocator, sizeof *w);
	int error;

	if (!w)
		return ROUSE_ENOMEM;
	watch->events = events;
	w->s.record.watch = watch;
	error = begin(p, w);
	if (error) {
		rouse__free(p->allocator, w, sizeof *w);
		return error;
	}
	rouse__list_append(&p->sockets.by_event, &w->all);
	watch->own = &w->s.record;
	watch->in_poller = 1;
	return 0;
}

/* One that has no event can be made to block, which it is not to be here. */
int rouse__events_gone(struct rouse__record *record)
{
	u_long blocking = 0, not_blocking = 1;

	if (!record->closed && !ioctlsocket(socket_of(of(record)), (long)FIONBIO, &blocking)) {
		(void)ioctlsocket(socket_of(of(record)), (long)FIONBIO, &not_blocking);
		record->closed = 1;
	}
	return record->closed;
}

void rouse__events_remove(struct rouse__poller *p, struct rouse__record *record)
{
	struct watched *w = of(record);

	if (!record->closed)
		(void)WSAEventSelect(socket_of(w), NULL, 0);
	rouse__list_unlink(&w->all);
	rouse__signalled_end(p, &w->s);
	rouse__free(p->allocator, w, sizeof *w);
}
