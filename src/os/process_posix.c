#include "os/os.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#ifdef ROUSE_KQUEUE
#include <fcntl.h>
#include <sys/event.h>
#else
#include <sys/syscall.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

/* ---- Which process this is ---------------------------------------------------- */

/*
 * The word is 0 in a process that has not been numbered, a forked child for one: it stands in a
 * page that the system wipes on fork, however the fork is made; where there is no such page,
 * a handler that fork() calls clears it.  `numbered` is copied by a fork, so a child's
 * number is none that an inherited loop may have.
 */
static _Atomic uint64_t elsewhere;
static _Atomic uint64_t numbered;
_Atomic uint64_t *rouse__process_word = &elsewhere;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int start_error;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

/* Who held the lock is not there.  (It is not held over a fork instead: other handlers of fork()
 * may want it.)  What it guards is whole enough at every instant: calls are told by their
 * process, and signals' entries are written so. */
static void after_fork_in_child(void)
{
	/* Where the page is one that only pretends to be wiped, too. */
	atomic_store_explicit(rouse__process_word, 0, memory_order_relaxed);
	mutex = unlocked;
}

static void *wiped_page(void)
{
#ifdef MADV_WIPEONFORK
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, size, MADV_WIPEONFORK) == 0)
		return page;
	munmap(page, size);
#endif
	return NULL;
}

static void start(void)
{
	void *page = wiped_page();

	start_error = pthread_atfork(NULL, NULL, after_fork_in_child);
	if (page)
		rouse__process_word = page;
}

int rouse__process_number(uint64_t *ret_number)
{
	uint64_t none = 0;

	pthread_once(&once, start);
	if (start_error)
		return rouse__os_failed(start_error);
	if (rouse__process() == 0 && atomic_load(&numbered))
		mutex = unlocked; /* a child that fork() knows nothing of */
	if (rouse__process() == 0)
		(void)atomic_compare_exchange_strong(rouse__process_word, &none,
		                                     atomic_fetch_add(&numbered, 1) + 1);
	*ret_number = rouse__process();
	return 0;
}

/* ---- One lock for the process ---------------------------------------------------- */

void rouse__lock(void)
{
	pthread_mutex_lock(&mutex);
}

void rouse__unlock(void)
{
	pthread_mutex_unlock(&mutex);
}

/* ---- Children ----------------------------------------------------------------- */

#ifdef ROUSE_KQUEUE
/* A kqueue for that one event does what a pidfd does. */
int rouse__pidfd_open(rouse_process process)
{
	int error, fd = rouse__fd_adopt(kqueue());
	struct kevent event;

	if (fd < 0)
		return -1;
	EV_SET(&event, (uintptr_t)process, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && kevent(fd, &event, 1, NULL, 0, NULL) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}
#else
int rouse__pidfd_open(rouse_process process)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, process, 0);
#else
	(void)process;
	errno = ENOSYS;
	return -1;
#endif
}
#endif

static int wait_id(idtype_t type, id_t id, siginfo_t *info, int flags)
{
	int result;

	info->si_pid = 0;
	do
		result = waitid(type, id, info, WEXITED | WNOHANG | flags);
	while (result < 0 && errno == EINTR);
	return result;
}

int rouse__child_check(rouse_process process)
{
	siginfo_t info;

	return wait_id(P_PID, (id_t)process, &info, WNOWAIT) ? errno : 0;
}

/* By pidfd where there is one: the number of a child that someone else has waited for may be
 * another child's by now. */
static int wait_for(rouse_process process, int pidfd, siginfo_t *info)
{
	/* P_PIDFD is younger than the rest. */
	const idtype_t by_pidfd = (idtype_t)3;

	if (pidfd >= 0) {
		int result = wait_id(by_pidfd, (id_t)pidfd, info, 0);

		if (result == 0 || errno != EINVAL)
			return result;
	}
	return wait_id(P_PID, (id_t)process, info, 0);
}

int rouse__child_ended(rouse_process process, int pidfd, rouse_exit *how)
{
	siginfo_t info;

	*how = (rouse_exit){0};
	if (wait_for(process, pidfd, &info))
		return 1;
	if (info.si_pid == 0)
		return 0;
	how->known = 1;
	if (info.si_code == CLD_EXITED)
		how->code = (uint32_t)info.si_status;
	else
		how->signo = info.si_status;
	return 1;
}
