/*
 * Reading ends of pipes.
 *
 * A pipe is no object to wait for.  But a read of no bytes ends when there is something to read, or
 * nobody to write any more, and takes nothing; so that is what is waited for.  What is told then is
 * what the pipe itself says when it is looked at: a read may also end because someone wrote
 * nothing, or cancelled what the process had under way.
 *
 *   overlapped   The read has an event, which is waited for as any handle is.
 *   others       A read blocks, and so each has a thread for it.  It reads when it is told to,
 * once, and puts the record into the poller's list as the pool's thread does.  The system lets one
 * at a time do anything with such a pipe: so it reads only while the loop waits or serves others,
 * never while the callback runs.
 *
 * As with handles, a duplicate is read from.  The original's number is compared with it before
 * anything is told.
 */
#include "poller/win32.h"

#include "base/alloc.h"
#include "core/fault.h"
#include "os/os.h"

#include <process.h>
#include <winternl.h>

struct pipe {
	struct rouse__signalled s; /* first; its object is the read's event, or asks the thread */
	HANDLE pipe;               /* a duplicate, and ours */
	OVERLAPPED read;
	DWORD error; /* of the read that ended last */
	HANDLE thread;
	atomic_int reading, ends;
};

static struct pipe *of(struct rouse__record *record)
{
	return (struct pipe *)record;
}

static int last_error(void)
{
	return rouse__os_failed((int)GetLastError());
}

/* ---- What there is --------------------------------------------------------------------- */

/* Without an answer there is nobody to write, in one way or another. */
static unsigned look(HANDLE pipe)
{
	DWORD there;

	if (!PeekNamedPipe(pipe, NULL, 0, NULL, &there, NULL))
		return ROUSE_READABLE | ROUSE_HANGUP;
	return there ? ROUSE_READABLE : 0;
}

/* 1: there was something, or it is closed. */
static int tell(struct rouse__poller *p, struct pipe *r)
{
	unsigned events;

	if (!rouse__handle_names((HANDLE)r->s.record.watch->fd, r->pipe)) {
		rouse__found_closed(p, &r->s.record);
		return 1;
	}
	events = look(r->pipe);
	if (events)
		rouse__win32_seen(p, &r->s.record, events);
	return events != 0;
}

/* A file's mode, as the system has it: does it wait for each of its reads? */
static int blocks(HANDLE pipe, int *ret)
{
	enum { MODE = 16, ALERT = 0x10, NONALERT = 0x20 };
	IO_STATUS_BLOCK status;
	ULONG mode = 0;
	NTSTATUS result = NtQueryInformationFile(pipe, &status, &mode, sizeof mode,
	                                         (FILE_INFORMATION_CLASS)MODE);

	if (result < 0)
		return rouse__os_failed((int)RtlNtStatusToDosError(result));
	*ret = (mode & (ALERT | NONALERT)) != 0;
	return 0;
}

/* A read of one that does not wait for data would end at once, and so on. */
static int check(HANDLE pipe)
{
	DWORD state, there;

	if (GetFileType(pipe) != FILE_TYPE_PIPE)
		return ROUSE_ENOTSUP;
	if (!PeekNamedPipe(pipe, NULL, 0, NULL, &there, NULL) &&
	    GetLastError() != ERROR_BROKEN_PIPE)
		/* A socket, or a device with a pipe's type. */
		return GetLastError() == ERROR_NOT_SUPPORTED ||
		                       GetLastError() == ERROR_INVALID_FUNCTION ||
		                       GetLastError() == ERROR_INVALID_PARAMETER
		               ? ROUSE_ENOTSUP
		               : last_error();
	if (GetNamedPipeHandleStateW(pipe, &state, NULL, NULL, NULL, NULL, 0) &&
	    (state & PIPE_NOWAIT))
		return ROUSE_ENOTSUP;
	return 0;
}

/* ---- The thread ------------------------------------------------------------------------------ */

static unsigned __stdcall read_when_asked(void *data)
{
	struct pipe *r = data;

	for (;;) {
		char nothing;
		DWORD count;

		WaitForSingleObject(r->s.object, INFINITE);
		atomic_store_explicit(&r->reading, 1, memory_order_release);
		if (atomic_load_explicit(&r->ends, memory_order_acquire))
			return 0;
		r->error = ROUSE__WIN(ROUSE__PIPE_READ, FALSE,
		                      ReadFile(r->pipe, &nothing, 0, &count, NULL))
		                   ? 0
		                   : GetLastError();
		atomic_store_explicit(&r->reading, 0, memory_order_release);
		rouse__signalled_tell(&r->s);
	}
}

static int begin_thread(struct pipe *r)
{
	r->thread = ROUSE__WIN(ROUSE__PIPE, NULL,
	                       (HANDLE)_beginthreadex(NULL, 0, read_when_asked, r, 0, NULL));
	return r->thread ? 0 : last_error();
}

/* It may be on its way into the read, where there is nothing to cancel yet. */
static void end_thread(struct rouse__poller *p, struct pipe *r)
{
	r->s.record.watch = NULL;
	atomic_store_explicit(&r->ends, 1, memory_order_release);
	rouse__signalled_hurry(p, 1);
	SetEvent(r->s.object);
	do {
		if (atomic_load_explicit(&r->reading, memory_order_acquire))
			CancelSynchronousIo(r->thread);
	} while (WaitForSingleObject(r->thread, 1) == WAIT_TIMEOUT);
	rouse__signalled_hurry(p, 0);
	CloseHandle(r->thread);
	CloseHandle(r->s.object);
	rouse__handles_collect(p);
	rouse__list_unlink(&r->s.record.link);
}

/* ---- The overlapped read ------------------------------------------------------------------------
 */

/* Its memory is the system's until it has ended, which it does at once. */
static void end_read(struct rouse__poller *p, struct pipe *r)
{
	DWORD count;

	if (r->s.waiting && (CancelIoEx(r->pipe, &r->read) || GetLastError() == ERROR_NOT_FOUND))
		(void)GetOverlappedResult(r->pipe, &r->read, &count, TRUE);
	rouse__signalled_end(p, &r->s);
}

static int begin_read(struct rouse__poller *p, struct pipe *r)
{
	/* The lowest bit: it is not to be told to a port that the program may have for the pipe. */
	r->read.hEvent = (HANDLE)((ULONG_PTR)r->s.object | 1);
	return rouse__signalled_begin(p, &r->s);
}

static int ask(struct pipe *r)
{
	if (r->thread) {
		r->s.waiting = 1;
		SetEvent(r->s.object);
		return 0;
	}
	if (!ROUSE__WIN(ROUSE__PIPE_READ, FALSE, ReadFile(r->pipe, r, 0, NULL, &r->read)) &&
	    GetLastError() != ERROR_IO_PENDING)
		return last_error();
	rouse__signalled_arm(&r->s);
	return 0;
}

/* ---- Pipes as the loop knows them -------------------------------------------------------------
 */

static int begin(struct rouse__poller *p, struct pipe *r)
{
	int error, by_thread = 0;

	error = check(r->pipe);
	if (!error)
		error = blocks(r->pipe, &by_thread);
	if (error)
		return error;
	r->s.poller = p;
	r->s.record.kind = ROUSE__PIPE_END;
	rouse__list_init(&r->s.record.link);
	r->s.object = ROUSE__WIN(ROUSE__PIPE, NULL, CreateEventW(NULL, !by_thread, FALSE, NULL));
	if (!r->s.object)
		return last_error();
	error = by_thread ? begin_thread(r) : begin_read(p, r);
	if (error)
		CloseHandle(r->s.object);
	return error;
}

int rouse__pipes_add(struct rouse__poller *p, struct rouse__watch *watch)
{
	const HANDLE self = GetCurrentProcess();
	struct pipe *r = rouse__zalloc(p->allocator, sizeof *r);
	int error;

	if (!r)
		return ROUSE_ENOMEM;
	if (!ROUSE__WIN(ROUSE__DUPLICATE, FALSE,
	                DuplicateHandle(self, (HANDLE)watch->fd, self, &r->pipe, 0, FALSE,
	                                DUPLICATE_SAME_ACCESS))) {
		error = last_error();
		goto no_pipe;
	}
	error = begin(p, r);
	if (error)
		goto not_begun;
	r->s.record.watch = watch;
	watch->own = &r->s.record;
	watch->in_poller = 1;
	watch->events = ROUSE_READABLE;
	rouse__list_append(&p->again, &r->s.record.link);
	return 0;

not_begun:
	CloseHandle(r->pipe);
no_pipe:
	rouse__free(p->allocator, r, sizeof *r);
	return error;
}

int rouse__pipes_renew(struct rouse__poller *p, struct rouse__record *record)
{
	struct pipe *r = of(record);
	DWORD error = r->error;

	if (r->s.waiting || record->closed)
		return 0;
	r->error = 0;
	if (tell(p, r))
		return 0;
	/* Cancelled by the program, with everything that it had under way. */
	if (error && error != ERROR_OPERATION_ABORTED)
		return rouse__os_failed((int)error);
	return ask(r);
}

void rouse__pipes_came(struct rouse__poller *p, struct rouse__record *record)
{
	struct pipe *r = of(record);
	DWORD count;

	if (!r->thread && !GetOverlappedResult(r->pipe, &r->read, &count, FALSE))
		r->error = GetLastError();
	if (!tell(p, r) && record->watch->events && rouse__list_empty(&record->link))
		rouse__list_append(&p->again, &record->link);
}

void rouse__pipes_remove(struct rouse__poller *p, struct rouse__record *record)
{
	struct pipe *r = of(record);

	if (r->thread)
		end_thread(p, r);
	else
		end_read(p, r);
	CloseHandle(r->pipe);
	rouse__free(p->allocator, r, sizeof *r);
}
