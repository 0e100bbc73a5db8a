#include "os/os.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
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
