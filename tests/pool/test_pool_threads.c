/* Threads: their pools are their own, and what is pending is released as they end. */
#include "pool_test.h"

#include "pool/stack.h"

#include <limits.h>
#include <stdatomic.h>
#include <unistd.h>

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <process.h>
#include <windows.h>
#else
#include <sys/wait.h>
#include <threads.h>
#endif

static atomic_int released;

static void count_release(void *object)
{
	(void)object;
	atomic_fetch_add(&released, 1);
}

static void add(void)
{
	EXPECT(rouse_autorelease(&released, count_release) == &released);
}

/* ---- Each its own ------------------------------------------------------------------------ */

static rouse_pool theirs;

static void pop_theirs(void)
{
	rouse_pool_stack *stack;
	rouse_pool mine = rouse_pool_push();

	add();
	EXPECT(rouse_pool_pop(theirs) == ROUSE_EWRONGTHREAD);
	EXPECT(rouse_autorelease_to(theirs, &released, count_release) == ROUSE_EWRONGTHREAD);
	EXPECT(rouse_pool_detach(theirs, &stack) == ROUSE_EWRONGTHREAD);
	EXPECT(thread_stats().wrong_thread == 3 && thread_stats().live == 1);
	EXPECT(atomic_load(&released) == 0);
	EXPECT(rouse_pool_pop(mine) == 0);
	EXPECT(atomic_load(&released) == 1);
}

static void pop_theirs_first(void)
{
	EXPECT(rouse_pool_pop(theirs) == ROUSE_EWRONGTHREAD);
}

static void p5_a_pop_on_the_wrong_thread(void **state)
{
	(void)state;
	atomic_store(&released, 0);
	theirs = rouse_pool_push();
	add();
	add();
	on_a_thread(pop_theirs_first);
	on_a_thread(pop_theirs);
	assert_int_equal(thread_stats().live, 2);
	assert_int_equal(rouse_pool_pop(theirs), 0);
	assert_int_equal(atomic_load(&released), 3);
}

static _Atomic uint64_t shared[2];
static pthread_barrier_t barrier;

static void *storm(void *data)
{
	unsigned self = (unsigned)(uintptr_t)data;

	for (int round = 0; round < 200; round++) {
		rouse_pool mine = rouse_pool_push(), other;

		for (int i = 0; i < 20; i++)
			add();
		atomic_store(&shared[self], mine.token);
		pthread_barrier_wait(&barrier);
		other.token = atomic_load(&shared[!self]);
		EXPECT(other.token != mine.token);
		EXPECT(rouse_pool_pop(other) == ROUSE_EWRONGTHREAD);
		EXPECT(process_stats().live <= 80);
		EXPECT(rouse_pool_pop(mine) == 0);
		EXPECT(rouse_pool_pop(mine) == ROUSE_ESTALE);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void p5_two_threads_pop_each_others(void **state)
{
	pthread_t threads[2];

	(void)state;
	atomic_store(&released, 0);
	assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
	for (uintptr_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, storm, (void *)i), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(atomic_load(&released), 2 * 200 * 20);
}

static rouse_pool_stack *in_transit;

static void attach_and_pop(void)
{
	EXPECT(rouse_pool_attach(in_transit) == 0);
	EXPECT(thread_stats().live == 300);
	EXPECT(rouse_pool_pop(theirs) == 0);
	EXPECT(thread_stats().live == 0);
}

static void p8_a_stack_moves_to_another_thread(void **state)
{
	(void)state;
	atomic_store(&released, 0);
	theirs = rouse_pool_push();
	for (int i = 0; i < 300; i++)
		add();
	assert_int_equal(rouse_pool_detach(theirs, &in_transit), 0);
	assert_int_equal(rouse_pool_pop(theirs), ROUSE_ESTALE);
	on_a_thread(attach_and_pop);
	assert_int_equal(atomic_load(&released), 300);
}

/* ---- The end --------------------------------------------------------------------------------- */

static void add_without_a_pool(void)
{
	for (int i = 0; i < 100000; i++)
		add();
	EXPECT(thread_stats().missing == 100000);
	EXPECT(thread_stats().live == 100000);
	EXPECT(atomic_load(&released) == 0);
}

static void p1_a_thread_without_a_pool(void **state)
{
	uint64_t before = process_stats().missing;

	(void)state;
	atomic_store(&released, 0);
	on_a_thread(add_without_a_pool);
	assert_int_equal(atomic_load(&released), 100000);
	assert_int_equal(process_stats().missing, before + 100000);
	assert_int_equal(process_stats().live, 0);
	assert_true(process_stats().peak >= 100000 - 4096);
}

static pthread_key_t early_key, late_key;

static void add_at_the_end(void *data)
{
	(void)data;
	add();
}

static void leave_with_destructors(void)
{
	rouse_pool pool;

	EXPECT(pthread_setspecific(early_key, &released) == 0);
	EXPECT(pthread_setspecific(late_key, &released) == 0);
	add();
	pool = rouse_pool_push();
	add();
	EXPECT(pool.token);
}

/* Destructors of both ages, before and after the library's own. */
static void p10_what_destructors_add_is_released(void **state)
{
	(void)state;
	atomic_store(&released, 0);
	on_a_thread(leave_with_destructors);
	assert_int_equal(atomic_load(&released), 4);
	assert_int_equal(process_stats().live, 0);
	assert_int_equal(process_stats().stranded, 0);
}

#ifndef _WIN32
static int leave_c11(void *data)
{
	(void)data;
	leave_with_destructors();
	return 0;
}

static void p10_a_c11_thread_is_no_other(void **state)
{
	thrd_t thread;

	(void)state;
#ifdef __SANITIZE_THREAD__
	/* It does not know these threads. */
	skip();
#endif
	atomic_store(&released, 0);
	assert_int_equal(thrd_create(&thread, leave_c11, NULL), thrd_success);
	assert_int_equal(thrd_join(thread, NULL), thrd_success);
	assert_int_equal(atomic_load(&released), 4);
	assert_int_equal(process_stats().live, 0);
}
#endif

/* The system's own: the library's end lies between these two, and what the second adds is left to
 * what comes after all of them. */
#ifdef _WIN32
static DWORD early_slot, late_slot;
static int released_before;

static void WINAPI add_early(void *data)
{
	add_at_the_end(data);
}

static void WINAPI add_late(void *data)
{
	released_before = atomic_load(&released);
	add_at_the_end(data);
}

static void leave_with_storage(void)
{
	EXPECT(FlsSetValue(early_slot, &released) && FlsSetValue(late_slot, &released));
	add();
	EXPECT(rouse_pool_push().token);
	add();
}

static void p10_what_fiber_local_storage_adds_is_released(void **state)
{
	(void)state;
	atomic_store(&released, 0);
	on_a_thread(leave_with_storage);
	/* Outside of the loader's lock, all that was there. */
	assert_int_equal(released_before, 3);
	assert_int_equal(atomic_load(&released), 4);
	assert_int_equal(process_stats().live, 0);
	assert_int_equal(process_stats().stranded, 0);
}
#endif

static void p10_a_thread_that_only_pops_nothing(void)
{
	rouse_pool none = {0};

	EXPECT(rouse_pool_pop(none) == 0);
	EXPECT(pthread_setspecific(late_key, &released) == 0);
}

static void p10_first_use_in_a_destructor(void **state)
{
	(void)state;
	atomic_store(&released, 0);
	on_a_thread(p10_a_thread_that_only_pops_nothing);
	assert_int_equal(atomic_load(&released), 1);
}

static void exit_in_a_release(void *object)
{
	(void)object;
	atomic_fetch_add(&released, 1);
	pthread_exit(NULL);
}

static void leave_from_a_release(void)
{
	rouse_pool pool = rouse_pool_push();

	add();
	EXPECT(rouse_autorelease(&released, exit_in_a_release) == &released);
	add();
	(void)rouse_pool_pop(pool);
	abort();
}

static void p10_a_thread_that_ends_in_a_release(void **state)
{
	(void)state;
	atomic_store(&released, 0);
	on_a_thread(leave_from_a_release);
	assert_int_equal(atomic_load(&released), 3);
	assert_int_equal(process_stats().live, 0);
}

/* As a cache does that is emptied by its key's destructor.  (On Windows keys are the C runtime's,
 * or a library's like this one, and end before the system's own.) */
#ifndef _WIN32
static void arm_a_key(void *object)
{
	EXPECT(pthread_setspecific(late_key, object) == 0);
	atomic_fetch_add(&released, 1);
}

static void leave_an_arming(void)
{
	EXPECT(rouse_autorelease(&released, arm_a_key) == &released);
}

static void p10_a_release_may_still_want_a_destructor(void **state)
{
	(void)state;
	atomic_store(&released, 0);
	on_a_thread(leave_an_arming);
	assert_int_equal(atomic_load(&released), 2);
	assert_int_equal(process_stats().stranded, 0);
}

static pthread_key_t last_key;
static int rounds;

/* Comes by as often as the system allows. */
static void add_in_each_round(void *data)
{
	rounds++;
	if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1)
		EXPECT(pthread_setspecific(last_key, data) == 0);
	add();
}

static void come_by_often(void)
{
	EXPECT(pthread_setspecific(last_key, &released) == 0);
	add();
}

static void p10_what_nobody_can_release_is_counted(void **state)
{
	uint64_t before = process_stats().stranded;

	(void)state;
	atomic_store(&released, 0);
	rounds = 0;
	on_a_thread(come_by_often);
	assert_int_equal(rounds, PTHREAD_DESTRUCTOR_ITERATIONS - 1);
	assert_int_equal(atomic_load(&released), rounds);
	assert_int_equal(process_stats().stranded, before + 1);
}

#endif

static uint64_t tokens[300];
static unsigned token_count;

static void give_a_name(void)
{
	tokens[token_count++] = rouse_pool_push().token;
	EXPECT(thread_stats().released == 0 && thread_stats().peak == 0);
	add();
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void threads_leave_nothing_and_names_are_not_reused(void **state)
{
	unsigned records = 0;

	(void)state;
	assert_int_equal(rouse_pool_drain_thread(), 0);
	token_count = 0;
	while (token_count < COUNT(tokens))
		on_a_thread(give_a_name);
	/* As many records as there were threads at once. */
	for (const struct rouse__pool_thread *t = rouse__pool_threads(); t; t = t->next)
		records++;
	assert_in_range(records, 1, 3);
	/* But for this thread's first chunk. */
	assert_int_equal(process_stats().bytes, thread_stats().bytes);
	qsort(tokens, token_count, sizeof *tokens, by_value);
	for (unsigned i = 1; i < token_count; i++)
		assert_true(tokens[i] != tokens[i - 1]);
}

/* ---- The process's end -------------------------------------------------------------------- */

static void exit_with_9(void *object)
{
	(void)object;
	_exit(9);
}

static char *self;

/* Of a process of its own that does this and returns from main(). */
#ifdef _WIN32
static int status_of(void (*fn)(void), const char *name)
{
	(void)fn;
	return (int)_spawnl(_P_WAIT, self, "test", name, NULL);
}
#else
static int status_of(void (*fn)(void), const char *name)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (name)
			execl(self, self, name, (char *)NULL);
		else
			fn();
		_exit(0);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#endif

static void leave_pending(void)
{
	EXPECT(rouse_pool_push().token);
	EXPECT(rouse_autorelease(&released, exit_with_9) == &released);
}

static int end_so(const char *how)
{
	leave_pending();
	if (!strcmp(how, "drain"))
		(void)rouse_pool_drain_thread();
	if (!strcmp(how, "end-the-thread"))
		pthread_exit(NULL);
	return 0;
}

static void p11_nothing_is_done_at_exit(void **state)
{
	(void)state;
	assert_int_equal(status_of(NULL, "return"), 0);
	assert_int_equal(status_of(NULL, "drain"), 9);
	/* The last thread's end is the process's there. */
#ifdef _WIN32
	assert_int_equal(status_of(NULL, "end-the-thread"), 0);
#else
	assert_int_equal(status_of(NULL, "end-the-thread"), 9);
#endif
}

#ifndef _WIN32
static void pop_in_the_child(void)
{
	EXPECT(thread_stats().live == 2);
	EXPECT(rouse_pool_pop(theirs) == 0);
	EXPECT(atomic_load(&released) == 2);
	theirs = rouse_pool_push();
	add();
	EXPECT(rouse_pool_pop(theirs) == 0);
	on_a_thread(give_a_name);
	EXPECT(atomic_load(&released) == 4);
}

static void a_child_has_a_copy(void **state)
{
	(void)state;
	atomic_store(&released, 0);
	token_count = 0;
	theirs = rouse_pool_push();
	add();
	add();
	assert_int_equal(status_of(pop_in_the_child, NULL), 0);
	assert_int_equal(atomic_load(&released), 0);
	assert_int_equal(rouse_pool_pop(theirs), 0);
	assert_int_equal(atomic_load(&released), 2);
}

#endif

/* ---- First use ---------------------------------------------------------------------------- */

#ifndef _WIN32
static atomic_int locks;
static _Thread_local int watched;

#define WRAP(name, type)                                                                           \
	int __real_##name(type *lock);                                                             \
	int __wrap_##name(type *lock);                                                             \
	int __wrap_##name(type *lock)                                                              \
	{                                                                                          \
		if (watched)                                                                       \
			atomic_fetch_add(&locks, 1);                                               \
		return __real_##name(lock);                                                        \
	}
WRAP(pthread_mutex_lock, pthread_mutex_t)
WRAP(pthread_rwlock_rdlock, pthread_rwlock_t)
WRAP(pthread_rwlock_wrlock, pthread_rwlock_t)
WRAP(pthread_spin_lock, pthread_spinlock_t)

static pthread_mutex_t proof = PTHREAD_MUTEX_INITIALIZER;

static void use_for_the_first_time(void)
{
	rouse_pool pool;

	watched = 1;
	pool = rouse_pool_push();
	add();
	EXPECT(rouse_pool_pop(pool) == 0);
	add();
	watched = 0;
}

static void p15_first_use_takes_no_lock(void **state)
{
	(void)state;
	watched = 1;
	pthread_mutex_lock(&proof);
	pthread_mutex_unlock(&proof);
	watched = 0;
	assert_int_equal(atomic_exchange(&locks, 0), 1);
	on_a_thread(use_for_the_first_time);
	assert_int_equal(atomic_load(&locks), 0);
}
#endif

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(p5_a_pop_on_the_wrong_thread),
	        cmocka_unit_test(p5_two_threads_pop_each_others),
	        cmocka_unit_test(p8_a_stack_moves_to_another_thread),
	        cmocka_unit_test(p1_a_thread_without_a_pool),
	        cmocka_unit_test(p10_what_destructors_add_is_released),
	        cmocka_unit_test(p10_first_use_in_a_destructor),
	        cmocka_unit_test(p10_a_thread_that_ends_in_a_release),
	        cmocka_unit_test(threads_leave_nothing_and_names_are_not_reused),
	        cmocka_unit_test(p11_nothing_is_done_at_exit),
#ifndef _WIN32
	        cmocka_unit_test(p10_a_c11_thread_is_no_other),
	        cmocka_unit_test(a_child_has_a_copy),
	        cmocka_unit_test(p15_first_use_takes_no_lock),
	        cmocka_unit_test(p10_a_release_may_still_want_a_destructor),
	        cmocka_unit_test(p10_what_nobody_can_release_is_counted),
#else
	        cmocka_unit_test(p10_what_fiber_local_storage_adds_is_released),
#endif
	};

	self = argv[0];
	if (argc > 1)
		return end_so(argv[1]);
#ifdef _WIN32
	early_slot = FlsAlloc(add_early);
#endif
	if (pthread_key_create(&early_key, add_at_the_end))
		return EXIT_FAILURE;
	/* Now the library makes its own. */
	if (!rouse_pool_push().token)
		return EXIT_FAILURE;
	(void)rouse_pool_drain_thread();
#ifdef _WIN32
	late_slot = FlsAlloc(add_late);
#else
	if (pthread_key_create(&last_key, add_in_each_round))
		return EXIT_FAILURE;
#endif
	if (pthread_key_create(&late_key, add_at_the_end))
		return EXIT_FAILURE;
	return cmocka_run_group_tests_name("pool_threads", tests, NULL, NULL);
}
