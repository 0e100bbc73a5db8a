/**
 * @file rouse.h
 * Wake a thread's event loop from any thread, whatever the loop is.
 *
 * One loop belongs to one thread: the thread that created it.  Exactly three
 * kinds of call may be made from elsewhere, and they are marked:
 *
 *   ROUSE_ANY_THREAD   any thread, at any time, while a reference is held
 *   ROUSE_SIGNAL_SAFE  as above, and from a signal handler, where
 *                      rouse_loop_caps() has ROUSE_CAP_SIGNAL_SAFE_WAKE
 *   ROUSE_PURE         any thread, touches no shared state
 *
 * Everything unmarked is for the loop's own thread; what can return an error
 * returns ROUSE_EWRONGTHREAD from any other.
 *
 * Conventions
 *   Errors   int results are >= 0 on success, a negative ROUSE_E* on failure.
 *            A failed call changes nothing: no out parameter is written and no
 *            source is left half added.  rouse_os_error() has the OS's code.
 *   Time     rouse_ns: nanoseconds on the monotonic clock of rouse_now().
 *            Deadlines are absolute.  ROUSE_NEVER means no deadline.
 *   Out      parameters named ret_* are written on success only; where the
 *            text says so they may be NULL.
 *   Memory   comes from the loop's rouse_allocator and nowhere else, but for one page that the
 *            process has to tell a fork by, what the C library takes for itself, and malloc's for
 *            a thread that autoreleases (pool.h).
 *   Fork     in a forked child every call with an inherited loop, waker or remote that can
 *            return an error returns ROUSE_EFORKED, and none touches what the parent uses,
 *            until rouse_loop_after_fork().
 */
#ifndef ROUSE_ROUSE_H
#define ROUSE_ROUSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Build decorations ------------------------------------------------- */

#if defined(ROUSE_STATIC)
#define ROUSE_API
#elif defined(_WIN32)
#ifdef ROUSE_BUILDING
#define ROUSE_API __declspec(dllexport)
#else
#define ROUSE_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ROUSE_API __attribute__((visibility("default")))
#else
#define ROUSE_API
#endif

#if defined(__GNUC__)
#define ROUSE_MUST_USE __attribute__((warn_unused_result))
#else
#define ROUSE_MUST_USE
#endif

/* clang records them in the AST, where a test reads them. */
#if defined(__clang__)
#define ROUSE_ANY_THREAD __attribute__((annotate("rouse:any-thread")))
#define ROUSE_SIGNAL_SAFE __attribute__((annotate("rouse:signal-safe")))
#define ROUSE_PURE __attribute__((annotate("rouse:pure")))
#else
#define ROUSE_ANY_THREAD
#define ROUSE_SIGNAL_SAFE
#define ROUSE_PURE
#endif

/* ---- Types ------------------------------------------------------------- */

/** A loop.  Opaque; owned by the thread that created it. */
typedef struct rouse_loop rouse_loop;

/** A coalescing doorbell with a callback.  Opaque, reference counted, outlives its loop. */
typedef struct rouse_waker rouse_waker;

/** What other threads hold of a loop: post, call, stop.  Reference counted, outlives it. */
typedef struct rouse_remote rouse_remote;

/**
 * Names one source in one loop.  A value, not a pointer: it carries the slot
 * and a generation, so a name kept too long is refused with ROUSE_ESTALE
 * instead of reaching freed memory.  All zero is never a live name.
 */
typedef struct rouse_source {
	uint64_t id;
} rouse_source;

/**
 * Nanoseconds, monotonic.  On Linux and the BSDs the clock stands still while the machine is
 * suspended (CLOCK_MONOTONIC): a timer of ten minutes fires after ten minutes of being awake.  On
 * Windows (QueryPerformanceCounter()) it goes on.
 */
typedef uint64_t rouse_ns;
#define ROUSE_NEVER UINT64_MAX

/** What the OS polls: a file descriptor, or a SOCKET on Windows. */
#ifdef _WIN32
typedef uintptr_t rouse_fd;
#else
typedef int rouse_fd;
#endif

/** What the OS calls a process: a process id (POSIX), or a process HANDLE (Windows). */
#ifdef _WIN32
typedef void *rouse_process;
#else
typedef int rouse_process;
#endif

/** No descriptor: a hook that watches none. */
#define ROUSE_NO_FD ((rouse_fd)-1)

/** The same on every platform, never reused; values may be added. */
enum rouse_error {
	ROUSE_OK = 0,
	ROUSE_EINVAL = -1,       /**< An argument is out of its documented range. */
	ROUSE_ENOMEM = -2,       /**< The allocator returned NULL, or the OS has no memory. */
	ROUSE_ENOTSUP = -3,      /**< This poller cannot do that, or not with that kind of thing. */
	ROUSE_EWRONGTHREAD = -4, /**< Not the loop's thread. */
	ROUSE_ESTALE = -5,       /**< The source was removed already. */
	ROUSE_EEXIST = -6,       /**< That descriptor is watched, or that task queued, already. */
	ROUSE_ECLOSED = -7,      /**< The waker was closed, or its loop destroyed. */
	ROUSE_ELIMIT = -8,       /**< The OS limit on watched objects is reached. */
	ROUSE_EABI = -9,      /**< A versioned struct has fields that this library does not know. */
	ROUSE_EOS = -10,      /**< The OS refused; see rouse_os_error(). */
	ROUSE_EBUSY = -11,    /**< Nested run, inside a callback, or attached already. */
	ROUSE_ELOST = -12,    /**< The display or peer is gone. */
	ROUSE_EFORKED = -13,  /**< In a forked child, before rouse_loop_after_fork(). */
	ROUSE_EDEADLOCK = -14 /**< That loop's thread is waiting for this one. */
};

/**
 * Readiness bits.  HANGUP and FDERROR are reported whenever any interest is set; an
 * interest of 0 pauses: nothing is reported until resumed.  HANGUP alone is allowed, and
 * asking for it adds the peer's half close to what is reported as a hang-up.
 */
enum rouse_events {
	ROUSE_READABLE = 1u << 0,
	ROUSE_WRITABLE = 1u << 1,
	ROUSE_HANGUP = 1u << 2,
	ROUSE_FDERROR = 1u << 3
};

/* Callbacks run on the loop's thread, one at a time, inside rouse_loop_turn() or
 * rouse_loop_dispatch(), and return nothing: what happens next is said by calling a
 * function.  They may add and remove any source, the one being called included. */
typedef void (*rouse_wake_fn)(rouse_loop *loop, void *data);
typedef void (*rouse_fd_fn)(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                            void *data);
typedef void (*rouse_timer_fn)(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data);
typedef void (*rouse_signal_fn)(rouse_loop *loop, rouse_source self, int signo, void *data);

/** `events`: ROUSE_READABLE, or ROUSE_FDERROR where the handle turned out to be closed. */
typedef void (*rouse_handle_fn)(rouse_loop *loop, rouse_source self, void *handle, unsigned events,
                                void *data);

/** How a child process ended. */
typedef struct rouse_exit {
	uint32_t code; /**< What it returned: 8 bits on POSIX, 32 on Windows. */
	int signo;     /**< The signal that ended it; 0: none. */
	int known;     /**< 0: code and signo say nothing: someone else waited for it, or SIGCHLD
	                    is ignored. */
} rouse_exit;

typedef void (*rouse_child_fn)(rouse_loop *loop, rouse_source self, rouse_process process,
                               const rouse_exit *how, void *data);

/* ---- Loop -------------------------------------------------------------- */

/**
 * Memory for one loop.  Both functions are called from any thread: the last
 * reference to a waker can be dropped anywhere.  `size` on free is the size
 * asked for.  alloc returns NULL on failure and memory aligned for
 * max_align_t on success.
 */
typedef struct rouse_allocator {
	void *(*alloc)(size_t size, void *ctx);
	void (*free)(void *ptr, size_t size, void *ctx);
	void *ctx;
} rouse_allocator;

/** Callbacks of one kind between two waits, where rouse_loop_options.max_batch is 0. */
#define ROUSE_DEFAULT_BATCH 128u

/** Which autorelease pools (pool.h) a loop has. */
enum rouse_pool_policy {
	ROUSE_POOL_PER_TURN = 0,     /**< One around all callbacks of a turn. */
	ROUSE_POOL_PER_CALLBACK = 1, /**< One around each. */
	ROUSE_POOL_NONE = 2          /**< None: what callbacks autorelease is for the caller's. */
};

/**
 * Zero it, set `size`; `size` is sizeof the struct the caller was compiled with.
 * Fields are only ever appended and zero is always the default, so an old program
 * runs on a new library; a new program on an old library gets ROUSE_EABI only if it
 * set a field that the library does not know.
 */
typedef struct rouse_loop_options {
	size_t size;
	/** "epoll", "poll", "win32" or "null" (null.h); NULL: the best here. */
	const char *poller;
	const rouse_allocator *allocator; /**< NULL: malloc and free.  Copied; ctx outlives all. */
	unsigned max_batch; /**< Callbacks of one kind between two waits, at most 65536; 0:
	                         ROUSE_DEFAULT_BATCH. */
	unsigned pool;      /**< One of rouse_pool_policy. */
} rouse_loop_options;

/**
 * Create a loop owned by the calling thread.
 *
 * @param options  NULL for the defaults.
 * @param ret_loop Written on success.  Release with rouse_loop_destroy().
 * @return 0; ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_ENOTSUP (no such poller in
 *         this build), ROUSE_EABI, ROUSE_EOS (no descriptors left, for one).
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_loop_create(const rouse_loop_options *options,
                                                                rouse_loop **ret_loop);

/**
 * Cancel what is queued, close every waker, remove every source, release the OS objects.
 * Cancel functions run first, on this thread, in the order of the posts; they and a hook's
 * release find the loop closed: adding, posting and waking answer ROUSE_ECLOSED.
 * Wakers and remotes still referenced elsewhere stay valid and answer ROUSE_ECLOSED.
 *
 * A thread that ends with a loop of its own undestroyed closes its queue the same way: others
 * get ROUSE_ECLOSED, cancel functions run as the thread ends (not, where the loop was made by one
 * of its last thread-specific destructors).  The sources' memory and the descriptors stay
 * until the process ends, and every other thread's call with the loop itself answers
 * ROUSE_EWRONGTHREAD.
 *
 * @param loop NULL is allowed.
 * @return 0; ROUSE_EBUSY from a callback of this loop; ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_loop_destroy(rouse_loop *loop);

/**
 * Run turns until rouse_loop_stop() or until an error.
 *
 * @return 0 when stopped; ROUSE_EBUSY if called from a callback of this loop
 *         or if the loop is a guest; ROUSE_EINVAL, ROUSE_EWRONGTHREAD; ROUSE_EOS or
 *         ROUSE_ENOMEM if waiting failed.
 * @since 0.1
 */
ROUSE_API int rouse_loop_run(rouse_loop *loop);

/**
 * One turn: prepare hooks, wait until `deadline`, check hooks, dispatch.
 *
 * Order within a turn is fixed: posted work, wakers and signals, due timers by deadline, hooks,
 * then descriptors and children as the OS reported them.  At most max_batch of each of these
 * four run, of hooks max_batch each; what is left over runs in the next turn, whose wait then does
 * not block, before what came later.  So however much there is of one kind, the others wait for
 * one such batch of it at most; rouse_stats counts the turns in which that happened.  A source
 * added during a turn is first considered in the next one.
 *
 * With ROUSE_POOL_PER_TURN an autorelease pool is pushed before the first of these callbacks and
 * popped after the last, posted work and calls included.  Hooks' prepare and check, and what runs
 * outside a turn (a call on the loop's own thread, cancel functions, a hook's release), have one
 * for each.  None is open across the wait, or the host's; a nested turn has its own.  Release
 * functions count as callbacks in what they may do.
 *
 * As a guest the loop may be turned from inside a callback (a modal dialog of the host):
 * that turn first finishes what the outer one had gathered, and does not call what is
 * suspended in a callback further out.
 *
 * @param deadline Absolute; 0 polls, ROUSE_NEVER blocks.
 * @return number of callbacks run, those of turns nested in them included; 0 if nothing ran
 *         (spurious ends are allowed);
 *         ROUSE_EBUSY from a callback of a loop that is no guest, and from inside a hook's
 *         prepare, check or release; ROUSE_EINVAL, ROUSE_EWRONGTHREAD, ROUSE_ENOMEM, ROUSE_EOS.
 * @since 0.1
 */
ROUSE_API int rouse_loop_turn(rouse_loop *loop, rouse_ns deadline);

/**
 * Make rouse_loop_run() return after the current turn, or at once if it has not begun.  A turn in
 * which a hook's prepare asks for it does not wait.
 * Used up by exactly one run.  Other threads: rouse_remote_stop().
 *
 * @return 0; ROUSE_EINVAL, ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_loop_stop(rouse_loop *loop);

/* ---- Guest of another loop --------------------------------------------- */

/**
 * The one descriptor a host watches for reading.  Level triggered and complete: readable
 * while there is work, timers and posts included.  From the first call, or the first
 * rouse_loop_prepare(), the loop is a guest.  After a wakeup: rouse_loop_turn(loop, 0),
 * which is check, dispatch, prepare(0).  The descriptor is the loop's and lives as long.  On
 * "epoll" it is a set that holds a set, of five levels that the system allows.
 *
 * @return 0; ROUSE_ENOTSUP where the poller has no one descriptor to watch (poll, null);
 *         ROUSE_EINVAL, ROUSE_EWRONGTHREAD, ROUSE_ENOMEM, ROUSE_EOS.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_loop_fd(rouse_loop *loop, rouse_fd *ret_fd);

/** Nothing but the wait runs between this prepare and the next check. */
enum { ROUSE_PREPARE_HOLD = 1u << 0 };

/**
 * Before the host sleeps; repeatable without a check.
 *
 * @param flags        ROUSE_PREPARE_HOLD or 0.
 * @param ret_deadline The latest moment the host may sleep to, 0 if there is work already;
 *                     the descriptor then does not carry it.  NULL: it does.
 * @return 0; ROUSE_EBUSY from inside a hook's prepare, check or release; ROUSE_ENOTSUP where
 *         the poller has no descriptor (poll; null only with a NULL ret_deadline);
 *         ROUSE_EINVAL, ROUSE_EWRONGTHREAD, ROUSE_ENOMEM, ROUSE_EOS.
 * @since 0.1
 */
ROUSE_API int rouse_loop_prepare(rouse_loop *loop, unsigned flags, rouse_ns *ret_deadline);

/**
 * After the host woke: gather what is to run.
 *
 * @param fd_readable Whether the host saw rouse_loop_fd() readable; non-zero when unsure.
 * @return 1 if dispatch has work; 0 if not, and with fd_readable 0 that costs no system
 *         call; ROUSE_EBUSY from inside a hook's prepare, check or release; ROUSE_EINVAL
 *         (also: the loop is no guest), ROUSE_EWRONGTHREAD, ROUSE_ENOMEM, ROUSE_EOS.
 * @since 0.1
 */
ROUSE_API int rouse_loop_check(rouse_loop *loop, int fd_readable);

/**
 * Run what check gathered.
 *
 * @return number of callbacks run; ROUSE_EBUSY from inside a hook's prepare, check or release;
 *         ROUSE_EINVAL (also: the loop is no guest), ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_loop_dispatch(rouse_loop *loop);

/**
 * For hosts: was a stop asked for?
 *
 * @return 1, and that stop is used up; 0; ROUSE_EINVAL, ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_loop_take_stop(rouse_loop *loop);

/* ---- Fork ---------------------------------------------------------------- */

/**
 * Make an inherited loop the child's own, with a doorbell and poller of its own; the parent's
 * are not touched.  Before any other use of the loop and before the child starts threads, on the
 * thread that owned it, which must be the one that forked; in a callback, too.  Everything
 * stays as it was at the fork: sources, names, rouse_loop_fd()'s number (a host that watches
 * it has a fork of its own to repair), wakes and posts still queued, which run in the parent and
 * in the child.  Only the rouse_call() of a thread that is not there any more is dropped.  A
 * child source is one of the parent's children, and will say that it knows nothing.  The loop's
 * own descriptors are to be left alone until then.
 *
 * Without this an inherited loop is so much memory, and its descriptors a few numbers; a signal
 * that it watched is ignored, and counts once this was called.  A rouse_task that a thread was
 * about to post at the fork still looks queued in the child: zero it.
 *
 * @return 0, also where the process did not fork; ROUSE_EINVAL, ROUSE_EWRONGTHREAD, ROUSE_ENOMEM,
 *         ROUSE_ELIMIT, ROUSE_EOS (it may be tried again); ROUSE_EBUSY from inside a hook's
 *         prepare, check or release, and from a cancel function.
 * @since 0.1
 */
ROUSE_API int rouse_loop_after_fork(rouse_loop *loop);

/* ---- Wakers ------------------------------------------------------------ */

/**
 * Create a waker with one reference.
 *
 * @param fn  Run on the loop's thread after a wake; NULL just ends the wait.
 * @return 0; ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_EWRONGTHREAD; ROUSE_ECLOSED while the loop is
 *         being destroyed.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_waker_create(rouse_loop *loop, rouse_wake_fn fn, void *data,
                                                rouse_waker **ret_waker);

/**
 * Wake the loop.  Never blocks, never allocates, preserves errno and rouse_os_error().
 *
 * Wakes coalesce: for every call that returns >= 0 a run of the callback begins after that
 * call began, unless the waker is closed or the loop destroyed meanwhile; one run may
 * answer many calls.  Memory written before the call is visible in that run.  A full
 * doorbell is success.
 *
 * @return 1 if the OS was asked to wake the loop, 0 if a wake was pending or the
 *         loop awake; ROUSE_ECLOSED; ROUSE_EINVAL for NULL; ROUSE_EOS if the doorbell is
 *         broken for good (counted; the wake stays pending for whatever ends the next wait).
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_SIGNAL_SAFE int rouse_wake(rouse_waker *waker);

/** Take a reference.  @return its argument; NULL for NULL.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD rouse_waker *rouse_waker_ref(rouse_waker *waker);

/**
 * Drop a reference; NULL is allowed.  Dropping the last one closes the waker: a wake that
 * is still pending then does not run.  Elsewhere than on the loop's thread a run may be under
 * way as this returns: who must know when `data` is free calls rouse_waker_close() there.
 *
 * @return NULL, so that w = rouse_waker_unref(w) is safe.  @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD rouse_waker *rouse_waker_unref(rouse_waker *waker);

/**
 * After this returns the callback does not begin again, and `data` is the caller's to
 * free.  Idempotent.  Does not drop a reference.
 *
 * @return 0; ROUSE_EINVAL, ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_waker_close(rouse_waker *waker);

/* ---- Posted work ------------------------------------------------------- */

/**
 * A node of posted work, owned by the loop from rouse_post_task() until run or cancel is
 * called: that is what makes posting from a signal handler, and posting without memory,
 * possible.  From then on it is the caller's again, to free or to post anew.
 */
typedef struct rouse_task rouse_task;
struct rouse_task {       /**< Zero it first. */
	rouse_task *next; /**< The loop's while queued. */
	void (*run)(rouse_loop *loop, rouse_task *task);
	void (*cancel)(rouse_task *task); /**< May be NULL.  Runs on the loop's thread. */
	uintptr_t reserved;
};

typedef void (*rouse_post_fn)(rouse_loop *loop, void *data);

/**
 * What other threads hold of a loop.  Any thread, while the loop lives.
 *
 * @return a new reference, dropped by rouse_remote_unref(); NULL only for NULL.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD rouse_remote *rouse_loop_remote(rouse_loop *loop);
/** Take a reference.  @return its argument; NULL for NULL.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD rouse_remote *rouse_remote_ref(rouse_remote *remote);
/** Drop a reference; NULL is allowed.  @return NULL.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD rouse_remote *rouse_remote_unref(rouse_remote *remote);

/**
 * Run `fn` once on the loop's thread, in order after this thread's earlier posts, always
 * in a later turn.  If the loop is destroyed first, `cancel` (may be NULL) runs once, on
 * the loop's thread.  Allocates only when more posts are under way than ever before.
 *
 * @return 0; 1 if queued but the doorbell failed (unlike rouse_wake(), whose 1 is good news);
 *         ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_ECLOSED (then neither runs).
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_post(rouse_remote *remote, rouse_post_fn fn,
                                                         void *data, void (*cancel)(void *data));

/**
 * As rouse_post(), with the caller's node: never allocates, preserves errno.
 *
 * @return 0; 1; ROUSE_EINVAL; ROUSE_EEXIST (queued already, best effort); ROUSE_ECLOSED.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_SIGNAL_SAFE ROUSE_MUST_USE int rouse_post_task(
        rouse_remote *remote, rouse_task *task);

/**
 * Run `fn` on the loop's thread and wait for it; inline on that thread itself, ahead of
 * queued posts.  Results travel in `data`.  Blocks while the loop takes no turn, and is no
 * point of cancellation.  A loop's thread that waits here takes no turn itself: where
 * the loop's thread is waiting in turn for this one, directly or through others, the last
 * to call is refused.  (Only waits inside rouse_call() are seen, not locks and joins.)
 *
 * @return 0; ROUSE_EINVAL; ROUSE_ECLOSED, ROUSE_EDEADLOCK (it did not run).
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_MUST_USE int rouse_call(rouse_remote *remote, rouse_post_fn fn,
                                                         void *data);

/**
 * Cancel every rouse_post() still queued with this `data`: each one's cancel function runs here,
 * in the order of the posts, and may do all that a callback may, but not turn the loop.
 *
 * @return how many; ROUSE_EWRONGTHREAD, ROUSE_EINVAL.
 * @since 0.1
 */
ROUSE_API int rouse_cancel_posts(rouse_loop *loop, const void *data);

/**
 * rouse_loop_stop() from any thread, in order after this thread's earlier posts; stops coalesce,
 * and where one is queued already this one is that.
 *
 * @return 0; 1 if queued but the doorbell failed; ROUSE_EINVAL, ROUSE_ECLOSED.
 * @since 0.1
 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_SIGNAL_SAFE int rouse_remote_stop(rouse_remote *remote);

/* ---- Sources ----------------------------------------------------------- */

/**
 * Watch a file descriptor (POSIX) or socket (Windows), level triggered.
 *
 * The descriptor stays the caller's and must stay open until removed; it
 * should be non-blocking, because readiness may be stale.  One that was closed while watched
 * leaves its number free to be added anew, and on "epoll" is never mistaken for that number's next
 * owner; on "poll" it is, until that number is added (but not that of an eventfd, timerfd or
 * their like, which cannot be told apart: ROUSE_EEXIST).  Where the loop finds out, because a poll
 * says so or because epoll goes on reporting it (a duplicate is open somewhere, in a forked child
 * for one), it reports ROUSE_FDERROR once and then drops it: the source stays until removed, and is
 * not called again.
 *
 * On Windows a socket is asked for by the system's driver.  Where that cannot be had, or layered
 * providers hide the socket from it, it is by WSAEventSelect(): this makes it non-blocking for
 * good, and that it was closed is noticed as the loop waits next (docs/win32.md).
 *
 * @param events     ROUSE_READABLE | ROUSE_WRITABLE | ROUSE_HANGUP; 0: paused.
 * @param ret_source May be NULL: the source lives as long as the loop.
 * @return 0; ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_EEXIST, ROUSE_ELIMIT,
 *         ROUSE_ENOTSUP (a regular file, on every poller), ROUSE_EWRONGTHREAD, ROUSE_EOS;
 *         ROUSE_ECLOSED while the loop is being destroyed.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_fd_add(rouse_loop *loop, rouse_fd fd, unsigned events,
                                          rouse_fd_fn fn, void *data, rouse_source *ret_source);

/**
 * Change what a descriptor's source, or a hook's descriptor, is watched for.
 *
 * @return 0; ROUSE_EINVAL (also: a source of another kind), ROUSE_ESTALE,
 *         ROUSE_EWRONGTHREAD, ROUSE_ENOMEM, ROUSE_ELIMIT, ROUSE_EOS.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_fd_set_events(rouse_loop *loop, rouse_source source,
                                                 unsigned events);

/**
 * Add a timer.
 *
 * @param deadline First firing; ROUSE_NEVER adds it disarmed.  From here periods are counted:
 *                 rouse_loop_now(), not 0, is "from now on".
 * @param period   0 for one shot, else later deadlines are deadline + n *
 *                 period; missed ones are skipped (by division), counted, not queued.
 * @param slack    How late it may fire, so that timers can share a wakeup; callbacks come
 *                 in order of deadline, ties in order of insertion.  Sums saturate at
 *                 ROUSE_NEVER.
 * @param ret_source May be NULL: the source lives as long as the loop.
 * @return 0; ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_EWRONGTHREAD; ROUSE_ECLOSED while the loop is
 *         being destroyed.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_timer_add(rouse_loop *loop, rouse_ns deadline, rouse_ns period,
                                             rouse_ns slack, rouse_timer_fn fn, void *data,
                                             rouse_source *ret_source);

/**
 * Re-arm, or disarm with ROUSE_NEVER.  Never allocates.
 *
 * @return 0; ROUSE_EINVAL (also: no timer), ROUSE_ESTALE, ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_timer_set(rouse_loop *loop, rouse_source source,
                                             rouse_ns deadline, rouse_ns period, rouse_ns slack);

/**
 * Watch a waitable HANDLE (Windows): an event, a semaphore, a waitable timer, a process, a thread,
 * a console's input. There may be any number of them.  `fn` runs while it is signalled, once a
 * turn; where a wait uses the signal up (an auto-reset event, a semaphore), once for each that was.
 * What was used up and not told yet is gone with the source.  A mutex is refused, because the
 * thread that waits for it would own it, and so are files and pipes, which are signalled whether or
 * not there is something to read: pipes join by rouse_win32_pipe_add().
 *
 * @param handle     Borrowed: it must stay open until removed.  The loop waits for a duplicate
 *                   of it, so one that is closed all the same disturbs nobody else: the wait goes
 *                   on for what it named, and ends with ROUSE_FDERROR, once, when that is
 * signalled.
 * @param ret_source May be NULL: the source lives as long as the loop.
 * @return 0; ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_ENOTSUP (one of those, or not on Windows, or the
 *         poller is "null"), ROUSE_EWRONGTHREAD, ROUSE_EOS (a handle that is closed, or may not be
 *         waited for); ROUSE_ECLOSED while the loop is being destroyed.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_handle_add(rouse_loop *loop, void *handle, rouse_handle_fn fn,
                                              void *data, rouse_source *ret_source);

/**
 * Watch a signal.  Its disposition is taken until the source is removed, and then put back
 * unless someone else has changed it meanwhile; a process watches a signal through one source
 * of one loop.  The handler only records and wakes: `fn` runs on the loop's thread, after the
 * wakes and posts before it; a run begins after each signal, and one may answer many.  The
 * signal must not be blocked in every thread; which thread it interrupts does not matter: its
 * system call is restarted (SA_RESTART), and its alternate stack is used where it has one.
 *
 * Faults of the running instruction (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS) and
 * SIGABRT cannot be put off and are refused, as are SIGKILL and SIGSTOP.
 *
 * On Windows SIGINT is the console's Ctrl-C, SIGBREAK its Ctrl-Break, and the rest ROUSE_ENOTSUP.
 *
 * @param ret_source May be NULL: the source lives as long as the loop.
 * @return 0; ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_ENOTSUP, ROUSE_EEXIST (watched already, by any
 * loop), ROUSE_EWRONGTHREAD, ROUSE_EOS; ROUSE_ECLOSED while the loop is being destroyed.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_signal_add(rouse_loop *loop, int signo, rouse_signal_fn fn,
                                              void *data, rouse_source *ret_source);

/**
 * Watch a child process until it ends, and wait for it: `fn` runs once, with how it ended, and
 * the source is gone when it returns.  Nobody else may wait for that child; a source that is
 * removed first, and a loop that is destroyed, leave it to the caller to do so.
 *
 * Where the system has no pidfds (Linux before 5.3) the loop watches SIGCHLD while it has
 * children: rouse_signal_add()'s rule of one loop for one signal holds for that too, and children
 * have a max_batch of their own.
 *
 * On Windows this takes a process's handle, borrowed as by rouse_handle_add(), of any process.
 * Where that was closed meanwhile, its end is told and nothing is known of it.
 *
 * @param ret_source May be NULL.
 * @return 0; ROUSE_EINVAL, ROUSE_ENOMEM, ROUSE_ENOTSUP (the poller watches no descriptors: "null"),
 *         ROUSE_EEXIST (this loop watches it already, or SIGCHLD is taken), ROUSE_ELIMIT,
 *         ROUSE_EWRONGTHREAD, ROUSE_EOS (ECHILD: no child of this process, or waited for
 *         already); ROUSE_ECLOSED while the loop is being destroyed.
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_child_add(rouse_loop *loop, rouse_process process,
                                             rouse_child_fn fn, void *data,
                                             rouse_source *ret_source);

/**
 * Remove any source.  When this returns its callback will not begin again, even if the OS
 * already reported it this turn; when called from that callback, it finishes and is not
 * called again.  `data` and the descriptor are then the caller's.
 *
 * @return 0; ROUSE_ESTALE if it is gone already; ROUSE_EINVAL, ROUSE_EWRONGTHREAD.
 * @since 0.1
 */
ROUSE_API int rouse_remove(rouse_loop *loop, rouse_source source);

/* ---- Hooks: how a display connection joins a loop ---------------------- */

/**
 * What a hook does around each wait.  `size` as in rouse_loop_options; any function may
 * be NULL.
 *
 * prepare runs before each wait, repeatable without a check, and returns the latest moment
 * the wait may last to: 0 if it has work already, ROUSE_NEVER if it does not mind.  It holds
 * nothing across the wait unless flags has ROUSE_PREPARE_HOLD.
 * check runs after the wait (a host may skip it) with the ready bits of the hook's
 * descriptor, and returns 1 to be dispatched.
 * dispatch may call the user, runs in the same turn, handles at most `budget` events, and
 * returns the number handled; when it handled `budget` and more are left, it also makes its
 * next prepare return 0.
 * A hook of nothing but a release costs a turn nothing, and tells whoever joined the loop that it
 * ends.
 * prepare, check and release may remove sources, and but for a release in rouse_loop_destroy()
 * add them, but not turn the loop.
 * While a guest's dispatch is suspended in a nested turn, prepare still runs (what it
 * returns is ignored), check and dispatch do not.
 */
typedef struct rouse_hook {
	size_t size;
	rouse_fd fd;     /**< Watched for `events`, or ROUSE_NO_FD.  Borrowed. */
	unsigned events; /**< Changed by rouse_fd_set_events(), also in prepare. */
	rouse_ns (*prepare)(rouse_loop *loop, rouse_source self, unsigned flags, void *data);
	int (*check)(rouse_loop *loop, rouse_source self, unsigned ready, void *data);
	int (*dispatch)(rouse_loop *loop, rouse_source self, unsigned budget, void *data);
	/** Runs once, inside rouse_remove() or rouse_loop_destroy(): let go of what is held. */
	void (*release)(rouse_loop *loop, void *data);
} rouse_hook;

/**
 * Add a hook.  The struct is copied.  Removed by rouse_remove().
 *
 * @param ret_source May be NULL: the hook lives as long as the loop.
 * @return 0; ROUSE_EINVAL, ROUSE_EABI, and the errors of rouse_fd_add().
 * @since 0.1
 */
ROUSE_API ROUSE_MUST_USE int rouse_hook_add(rouse_loop *loop, const rouse_hook *hook, void *data,
                                            rouse_source *ret_source);

/* ---- Asking ------------------------------------------------------------ */

enum rouse_caps {
	ROUSE_CAP_FD = 1u << 0,               /**< rouse_fd_add() takes descriptors of the OS. */
	ROUSE_CAP_SIGNAL_SAFE_WAKE = 1u << 1, /**< ROUSE_SIGNAL_SAFE calls are that. */
	ROUSE_CAP_POLLABLE = 1u << 2,         /**< rouse_loop_fd() works. */
	ROUSE_CAP_SIGNAL = 1u << 3,           /**< rouse_signal_add() works. */
	ROUSE_CAP_CHILD = 1u << 4,            /**< rouse_child_add() works. */
	ROUSE_CAP_POOL = 1u << 5,             /**< Callbacks have an autorelease pool. */
	ROUSE_CAP_HANDLE = 1u << 6            /**< rouse_handle_add() works. */
};

/** Counters since creation; `size` as in rouse_loop_options, set before the call. */
typedef struct rouse_stats {
	size_t size;
	uint64_t turns;        /**< Waits that ended. */
	uint64_t callbacks;    /**< Runs of callbacks of every kind, X events and the like too. */
	uint64_t wakes_sent;   /**< Doorbells rung, by wakes, posts and signals. */
	uint64_t wakes_served; /**< Wakes and signals delivered; a run that answers many is one. */
	uint64_t wakes_spurious;  /**< Waits that a doorbell ended with nothing to run. */
	uint64_t wakes_failed;    /**< Doorbells that the OS refused. */
	uint64_t posts_run;       /**< Posts, tasks and calls that ran. */
	uint64_t posts_cancelled; /**< Posts, tasks and calls that were cancelled. */
	uint64_t timers_skipped;  /**< Missed periods. */
	uint64_t fds_dropped;     /**< Descriptors found closed while watched. */
	uint64_t hangups_ignored; /**< Hang-ups and errors reported again in the next wait. */
	/* Turns that used up the budget of that kind and left some over; of hooks and of
	 * descriptors (and children): that used it up, whether or not there were more. */
	uint64_t posts_over, timers_over, hooks_over, fds_over;
} rouse_stats;

/** @return the poller's name, as in rouse_loop_options; static text; NULL for NULL.  Any
 *  thread, while the loop lives.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD const char *rouse_loop_poller(const rouse_loop *loop);
/** @return bits of rouse_caps; 0 for NULL.  Any thread, while the loop lives.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD unsigned rouse_loop_caps(const rouse_loop *loop);
/** The loop's allocator, for what joins the loop and shares its memory; lives as long as the
 *  loop.  NULL for NULL.  Any thread, while the loop lives.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD const rouse_allocator *rouse_loop_allocator(const rouse_loop *loop);
/** @return 0; ROUSE_EINVAL, ROUSE_EWRONGTHREAD; ROUSE_EABI, where `size` is larger than this
 *  library's struct and the tail is not zero.  @since 0.1 */
ROUSE_API int rouse_loop_stats(const rouse_loop *loop, rouse_stats *stats);
/** The same from any thread, and after the loop is destroyed: each counter is one that the
 *  loop had lately, and they are not all of one moment.  @return 0; ROUSE_EINVAL, ROUSE_EABI.
 *  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD int rouse_remote_stats(const rouse_remote *remote, rouse_stats *stats);
/** Pollers in this build, best first; NULL past the end.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_PURE const char *rouse_poller_name(unsigned index);
/** Now, on the system's monotonic clock.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD rouse_ns rouse_now(void);
/** Now, on the loop's clock: rouse_now(), or virtual on "null".  0 for NULL and on a thread
 *  that is not the loop's: other threads stamp with rouse_now().  @since 0.1 */
ROUSE_API rouse_ns rouse_loop_now(const rouse_loop *loop);
/** What a ROUSE_E* means: static English text, never NULL.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_PURE const char *rouse_strerror(int error);
/** errno or GetLastError() behind this thread's last ROUSE_EOS; untouched by the calls marked
 *  ROUSE_SIGNAL_SAFE.  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD int rouse_os_error(void);
/** Version of the library running, 0xMMmmpp; compare with ROUSE_VERSION in version.h.
 *  @since 0.1 */
ROUSE_API ROUSE_ANY_THREAD ROUSE_PURE unsigned rouse_version(void);

#ifdef __cplusplus
}
#endif
#endif
