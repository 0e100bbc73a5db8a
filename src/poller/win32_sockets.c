/*
 * Sockets: the ancillary function driver is asked for readiness, as select() asks it.
 *
 * A poll of one socket ends once, with what it is ready for, and that comes over the port.  What it
 * writes to then is the system's until it has come: so a record that is removed meanwhile is
 * kept, without a watch, until then.  What is wanted besides while a poll is under way cancels
 * it, and the next one asks for all.
 *
 * A second poll is under way all the time, and asks for nothing but the socket's end.  It is of the
 * socket, not of its number: so it tells, also while nothing else is asked, that the number was
 * closed, and may name another socket by now.  (Where a duplicate keeps the socket open it has not
 * ended, and nothing tells.)
 *
 * The driver looks through the polls of a handle of its own one after the other, so no more than a
 * few sockets share one.
 */
#include "poller/win32.h"

#include "base/alloc.h"
#include "core/fault.h"
#include "os/os.h"

#include <mswsock.h>
#include <stdatomic.h>
#include <winternl.h>

/* ---- The driver ------------------------------------------------------------------------ */

#define AFD_POLL 0x00012024

enum afd_events {
	AFD_RECEIVE = 0x0001,
	AFD_SEND = 0x0004,
	AFD_DISCONNECT = 0x0008,
	AFD_ABORT = 0x0010,
	AFD_LOCAL_CLOSE = 0x0020,
	AFD_ACCEPT = 0x0080,
	AFD_CONNECT_FAIL = 0x0100
};

struct afd_poll {
	LARGE_INTEGER timeout;
	ULONG count, exclusive;
	HANDLE socket;
	ULONG events;
	NTSTATUS status;
};

#define STATUS_IS_PENDING ((NTSTATUS)0x00000103)
#define STATUS_WAS_CANCELLED ((NTSTATUS)0xC0000120)
#define STATUS_NO_SUCH_HANDLE ((NTSTATUS)0xC0000008)
#define STATUS_DENIED ((NTSTATUS)0xC0000022)
#define STATUS_NO_SOCKET ((NTSTATUS)0xC0000024)

/* The system's headers do not have it. */
NTSTATUS NTAPI NtCancelIoFileEx(HANDLE file, IO_STATUS_BLOCK *which, IO_STATUS_BLOCK *how);

/* One handle of the driver, and the sockets that share it. */
struct group {
	struct rouse__list link;
	HANDLE driver;
	unsigned members;
};
#define MEMBERS 16u

/* A poll, as the driver knows it. */
struct question {
	IO_STATUS_BLOCK status;
	struct afd_poll poll;
	unsigned char pending, cancelled;
	unsigned char of_end;
};

struct socket {
	struct rouse__record record; /* first */
	struct group *group;
	HANDLE base;
	struct question ready, end;
};

static struct socket *of(struct rouse__record *record)
{
	return (struct socket *)record;
}

static struct socket *asked_of(struct question *q)
{
	return q->of_end ? ROUSE__CONTAINER(q, struct socket, end)
	                 : ROUSE__CONTAINER(q, struct socket, ready);
}

static void cancel(struct socket *s, struct question *q)
{
	IO_STATUS_BLOCK unused;

	if (q->pending && !q->cancelled)
		q->cancelled = NtCancelIoFileEx(s->group->driver, &q->status, &unused) >= 0;
}

/* No error, but for who is asked next. */
enum { BY_EVENT = 1 };

/* It is not there, not for this process, or does not know what it is asked. */
static int is_no_driver(NTSTATUS status)
{
	switch ((ULONG)status) {
	case 0xC0000002: /* not implemented */
	case 0xC000000E: /* no such device */
	case 0xC0000010: /* invalid device request */
	case 0xC0000022: /* access denied */
	case 0xC0000034: /* no such name */
	case 0xC000003A: /* no such path */
	case 0xC00000BB: /* not supported */
		return 1;
	default:
		return 0;
	}
}

static int failed(NTSTATUS status)
{
	return rouse__os_failed((int)RtlNtStatusToDosError(status));
}

/* 0, BY_EVENT, or a ROUSE_E*. */
static int open_driver(HANDLE *ret_driver)
{
	static WCHAR path[] = L"\\Device\\Afd\\Rouse";
	UNICODE_STRING name = {sizeof path - sizeof *path, sizeof path, path};
	OBJECT_ATTRIBUTES attributes = {.Length = sizeof attributes, .ObjectName = &name};
	IO_STATUS_BLOCK status;
	NTSTATUS result =
	        ROUSE__WIN(ROUSE__AFD_OPEN, (NTSTATUS)(GetLastError() | 0xC0000000u),
	                   NtCreateFile(ret_driver, SYNCHRONIZE, &attributes, &status, NULL, 0,
	                                FILE_SHARE_READ | FILE_SHARE_WRITE, FILE_OPEN, 0, NULL, 0));

	if (result >= 0)
		return 0;
	return is_no_driver(result) ? BY_EVENT : failed(result);
}

static int new_group(struct rouse__poller *p, struct group **ret)
{
	struct group *group = rouse__zalloc(p->allocator, sizeof *group);
	int error;

	if (!group)
		return ROUSE_ENOMEM;
	error = open_driver(&group->driver);
	if (error)
		goto no_driver;
	if (!CreateIoCompletionPort(group->driver, p->bell->port, ROUSE__SOCKET_KEY, 0)) {
		error = rouse__os_failed((int)GetLastError());
		CloseHandle(group->driver);
		goto no_driver;
	}
	rouse__list_append(&p->sockets.groups, &group->link);
	*ret = group;
	return 0;

no_driver:
	rouse__free(p->allocator, group, sizeof *group);
	return error;
}

/* Those with room are last. */
static int join(struct rouse__poller *p, struct socket *s)
{
	struct rouse__list *last = p->sockets.groups.prev;
	int error = 0;

	if (last != &p->sockets.groups &&
	    ROUSE__CONTAINER(last, struct group, link)->members < MEMBERS)
		s->group = ROUSE__CONTAINER(last, struct group, link);
	else
		error = new_group(p, &s->group);
	if (!error)
		s->group->members++;
	return error;
}

static void leave(struct rouse__poller *p, struct socket *s)
{
	struct group *group = s->group;

	rouse__list_unlink(&group->link);
	if (--group->members) {
		rouse__list_append(&p->sockets.groups, &group->link);
		return;
	}
	CloseHandle(group->driver);
	rouse__free(p->allocator, group, sizeof *group);
}

/* ---- Polls ------------------------------------------------------------------------------- */

static ULONG mask_for(unsigned events)
{
	ULONG mask = AFD_ABORT | AFD_LOCAL_CLOSE | AFD_CONNECT_FAIL;

	if (events & ROUSE_READABLE)
		mask |= AFD_RECEIVE | AFD_ACCEPT | AFD_DISCONNECT;
	if (events & ROUSE_WRITABLE)
		mask |= AFD_SEND;
	if (events & ROUSE_HANGUP)
		mask |= AFD_DISCONNECT;
	return mask;
}

static unsigned events_of(ULONG mask, unsigned wanted)
{
	unsigned events = 0;

	if (mask & (AFD_RECEIVE | AFD_ACCEPT | AFD_DISCONNECT | AFD_ABORT | AFD_CONNECT_FAIL))
		events |= ROUSE_READABLE;
	if (mask & (AFD_SEND | AFD_CONNECT_FAIL))
		events |= ROUSE_WRITABLE;
	if ((mask & AFD_ABORT) || ((mask & AFD_DISCONNECT) && (wanted & ROUSE_HANGUP)))
		events |= ROUSE_HANGUP;
	if (mask & (AFD_CONNECT_FAIL | AFD_LOCAL_CLOSE))
		events |= ROUSE_FDERROR;
	return events;
}

static NTSTATUS ask(struct rouse__poller *p, struct socket *s, struct question *q, ULONG mask)
{
	NTSTATUS result;

	q->poll = (struct afd_poll){
	        .timeout.QuadPart = INT64_MAX, .count = 1, .socket = s->base, .events = mask};
	q->status.Status = STATUS_IS_PENDING;
	result = ROUSE__WIN(ROUSE__AFD_POLL, (NTSTATUS)(GetLastError() | 0xC0000000u),
	                    NtDeviceIoControlFile(s->group->driver, NULL, NULL, q, &q->status,
	                                          AFD_POLL, &q->poll, sizeof q->poll, &q->poll,
	                                          sizeof q->poll));
	if (result >= 0) {
		q->pending = 1;
		p->sockets.pending++;
	}
	return result;
}

int rouse__sockets_renew(struct rouse__poller *p, struct rouse__record *record)
{
	struct socket *s = of(record);
	ULONG mask = mask_for(record->watch->events);
	NTSTATUS result = 0;

	if (record->closed || !record->watch->events)
		return 0;
	if (!s->end.pending)
		result = ask(p, s, &s->end, AFD_LOCAL_CLOSE);
	if (result >= 0 && !s->ready.pending)
		result = ask(p, s, &s->ready, mask);
	else if (mask & ~s->ready.poll.events)
		cancel(s, &s->ready);
	if (result == STATUS_NO_SUCH_HANDLE || result == STATUS_NO_SOCKET)
		rouse__found_closed(p, &s->record);
	else if (result < 0)
		return failed(result);
	return 0;
}

static void discard(struct rouse__poller *p, struct socket *s)
{
	leave(p, s);
	rouse__free(p->allocator, s, sizeof *s);
}

static void ask_anew(struct rouse__poller *p, struct socket *s)
{
	if (s->record.watch->events && rouse__list_empty(&s->record.link))
		rouse__list_append(&p->again, &s->record.link);
}

static void answered(struct rouse__poller *p, struct socket *s, const struct question *q)
{
	unsigned events = 0;

	if (q->status.Status >= 0 && q->poll.count)
		events = events_of(q->poll.events, s->record.watch->events);
	else if (q->status.Status < 0 && q->status.Status != STATUS_WAS_CANCELLED)
		events = ROUSE_FDERROR;
	if (q->status.Status >= 0 && q->poll.count && (q->poll.events & AFD_LOCAL_CLOSE))
		rouse__found_closed(p, &s->record);
	else if (!q->of_end && events & (s->record.watch->events | ROUSE_HANGUP | ROUSE_FDERROR))
		rouse__win32_seen(p, &s->record, events);
	else
		/* Not what is wanted now, or cancelled. */
		ask_anew(p, s);
}

void rouse__sockets_arrived(struct rouse__poller *p, const OVERLAPPED_ENTRY *entry)
{
	struct question *q = (struct question *)(void *)entry->lpOverlapped;
	struct socket *s = asked_of(q);

	q->pending = q->cancelled = 0;
	p->sockets.pending--;
	if (s->record.watch)
		answered(p, s, q);
	else if (!s->ready.pending && !s->end.pending)
		discard(p, s);
}

/* ---- Sockets as the loop knows them ------------------------------------------------------- */

void rouse__sockets_init(struct rouse__poller *p)
{
	rouse__list_init(&p->sockets.groups);
	rouse__list_init(&p->sockets.by_event);
}

/* What layered providers have made of it, the driver does not know.  0, BY_EVENT, or a ROUSE_E*. */
static int base_of(rouse_fd fd, HANDLE *ret_base)
{
	SOCKET base;
	DWORD bytes, flags;

	if (ROUSE__WIN(ROUSE__BASE_HANDLE, SOCKET_ERROR,
	               WSAIoctl((SOCKET)fd, SIO_BASE_HANDLE, NULL, 0, &base, sizeof base, &bytes,
	                        NULL, NULL)) == 0) {
		*ret_base = (HANDLE)base;
		return 0;
	}
	switch (WSAGetLastError()) {
	case WSAEOPNOTSUPP:
	case WSAENOPROTOOPT:
	case WSAEINVAL:
		return BY_EVENT;
	case WSAENOTSOCK:
		break;
	default:
		return rouse__os_failed(WSAGetLastError());
	}
	return GetHandleInformation((HANDLE)fd, &flags) ? ROUSE_ENOTSUP
	                                                : rouse__os_failed(ROUSE__NO_DESCRIPTOR);
}

/* Whether the system has said that an older watch's socket has ended.  It says so while the
 * socket is closed, over the port. */
static int is_gone(struct rouse__poller *p, const struct rouse__watch *known)
{
	struct rouse__record *record = known->own;

	if (record->kind == ROUSE__BY_EVENT)
		return rouse__events_gone(record);
	if (!record->closed)
		rouse__win32_look(p);
	return record->closed;
}

static int begin(struct rouse__poller *p, struct socket *s)
{
	NTSTATUS result;
	int error = join(p, s);

	if (error)
		return error;
	s->end.of_end = 1;
	rouse__list_init(&s->record.link);
	result = ask(p, s, &s->end, AFD_LOCAL_CLOSE);
	if (result >= 0)
		return 0;
	leave(p, s);
	/* Denied is this socket, and not the driver. */
	return is_no_driver(result) && result != STATUS_DENIED ? BY_EVENT : failed(result);
}

static int add_by_poll(struct rouse__poller *p, struct rouse__watch *watch, unsigned events,
                       HANDLE base)
{
	struct socket *s = rouse__zalloc(p->allocator, sizeof *s);
	int error;

	if (!s)
		return ROUSE_ENOMEM;
	s->base = base;
	error = begin(p, s);
	if (error) {
		rouse__free(p->allocator, s, sizeof *s);
		return error;
	}
	s->record.watch = watch;
	watch->own = &s->record;
	watch->in_poller = 1;
	watch->events = events;
	if (events)
		rouse__list_append(&p->again, &s->record.link);
	return 0;
}

int rouse__sockets_add(struct rouse__poller *p, struct rouse__watch *watch, unsigned events,
                       struct rouse__watch *known)
{
	HANDLE base = NULL;
	int error = base_of(watch->fd, &base);

	if (error < 0)
		return error;
	if (known && !is_gone(p, known))
		return ROUSE_EEXIST;
	if (!error)
		error = add_by_poll(p, watch, events, base);
	if (error == BY_EVENT)
		error = rouse__events_add(p, watch, events);
	if (error)
		return error;
	if (known)
		rouse__win32_forget(p, known);
	return 0;
}

void rouse__sockets_remove(struct rouse__poller *p, struct rouse__record *record)
{
	struct socket *s = of(record);

	rouse__list_unlink(&record->link);
	record->watch = NULL;
	cancel(s, &s->ready);
	cancel(s, &s->end);
	if (!s->ready.pending && !s->end.pending)
		discard(p, s);
}

/* Polls that were cancelled end soon.  One that does not within a second keeps its memory: the
 * system may still write to it. */
void rouse__sockets_finish(struct rouse__poller *p)
{
	OVERLAPPED_ENTRY entry;
	ULONG count;

	while (p->sockets.pending &&
	       GetQueuedCompletionStatusEx(p->bell->port, &entry, 1, &count, 1000, FALSE))
		if (entry.lpCompletionKey == ROUSE__SOCKET_KEY)
			rouse__sockets_arrived(p, &entry);
}
