#include "os/os.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

/*
 * Who takes which signal.  An entry is claimed by the number of a process, so that what a forked
 * child inherited does not keep its own loops from the signal.
 *
 * The handler may run on any thread at any time, in the middle of giving the signal back too:
 * it counts itself in before it reads `arg`, and giving back first clears `arg` and then waits
 * until nobody is inside, which is a matter of the few instructions that the handler has.  All four
 * steps are sequentially consistent: either the handler sees that `arg` is gone, or the other
 * sees that it is inside.  The count carries the number of its process: in a child those who were
 * inside at the fork are not there to count themselves out, and the first claim starts anew.
 * Nobody counts himself in before that; the signal is only noted.
 */
struct entry {
	_Atomic uint64_t claim; /* a process; 0: free */
	_Atomic(void *) arg;
	_Atomic uint64_t inside; /* a process, and how many */
	atomic_int noted;        /* it came in a forked child, before the claim was renewed */
	struct sigaction before;
};

typedef void record_fn(void *arg);

static struct entry entries[NSIG];
static _Atomic(record_fn *) record;

static void do_record(void *arg)
{
	record_fn *fn = atomic_load(&record);

	fn(arg);
}

static void handler(int signo)
{
	struct entry *entry = &entries[signo];
	uint64_t process = rouse__process();
	void *arg;

	if (process == 0 || atomic_load(&entry->claim) != process) {
		atomic_store(&entry->noted, 1);
		return;
	}
	atomic_fetch_add(&entry->inside, 1);
	arg = atomic_load(&entry->arg);
	if (arg)
		do_record(arg);
	atomic_fetch_sub(&entry->inside, 1);
}

/* What comes from an instruction comes again when its handler returns. */
static int can_wait(int signo)
{
	switch (signo) {
	case SIGKILL:
	case SIGSTOP:
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
	case SIGSYS:
	case SIGABRT:
		return 0;
	default:
		return signo > 0 && signo < NSIG;
	}
}

#define OF_PROCESS(process) ((uint64_t)(uint32_t)(process) << 32)

static void claim(struct entry *entry)
{
	uint64_t mine = rouse__process();

	if (atomic_load(&entry->inside) >> 32 != (uint32_t)mine)
		atomic_store(&entry->inside, OF_PROCESS(mine));
	atomic_store(&entry->claim, mine);
}

static void release(struct entry *entry)
{
	atomic_store(&entry->arg, NULL);
	while ((uint32_t)atomic_load(&entry->inside))
		sched_yield();
	atomic_store(&entry->claim, 0);
}

/* Under the lock.  Ready before the first signal can come: it is not lost. */
static int take(int signo, void *arg)
{
	struct sigaction ours = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct entry *entry = &entries[signo];
	struct sigaction before;
	int error;

	if (atomic_load(&entry->claim) == rouse__process())
		return EEXIST;
	if (sigaction(signo, NULL, &before))
		return errno;
	/* Known before it is claimed, for a child forked in between; but an inherited handler of
	 * ours is not what was there before it. */
	if (before.sa_handler != handler)
		entry->before = before;
	atomic_store(&entry->noted, 0);
	atomic_store(&entry->arg, arg);
	claim(entry);
	sigfillset(&ours.sa_mask);
	if (sigaction(signo, &ours, NULL)) {
		error = errno;
		release(entry);
		return error;
	}
	return 0;
}

int rouse__signal_take(int signo, void (*fn)(void *arg), void *arg)
{
	int error;

	if (!can_wait(signo))
		return ROUSE_EINVAL;
	rouse__lock();
	atomic_store(&record, fn);
	error = take(signo, arg);
	rouse__unlock();
	switch (error) {
	case 0:
		return 0;
	case EEXIST:
		return ROUSE_EEXIST;
	case EINVAL:
		return ROUSE_EINVAL;
	default:
		return rouse__os_failed(error);
	}
}

void rouse__signal_give_back(int signo, const void *arg)
{
	struct entry *entry = &entries[signo];
	struct sigaction now;

	if (atomic_load(&entry->arg) != arg || atomic_load(&entry->claim) != rouse__process())
		return;
	if (sigaction(signo, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
	    now.sa_handler == handler)
		sigaction(signo, &entry->before, NULL);
	release(entry);
}

void rouse__signal_inherit(int signo, void *arg)
{
	struct entry *entry = &entries[signo];

	rouse__lock();
	if (atomic_load(&entry->arg) == arg && atomic_load(&entry->claim) != rouse__process()) {
		claim(entry);
		if (atomic_exchange(&entry->noted, 0))
			do_record(arg);
	}
	rouse__unlock();
}
