/* Signals: delivered on the loop's thread, whichever thread they interrupt. */
#include "env.h"

#include "core/fault.h"
#include "core/loop.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct seen {
	rouse_source self;
	int signo, runs;
};

static void note(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct seen *s = data;

	(void)loop;
	assert_true(self.id == s->self.id);
	assert_int_equal(signo, s->signo);
	s->runs++;
}

static void watch(struct env *env, struct seen *s, int signo)
{
	*s = (struct seen){.signo = signo};
	assert_int_equal(rouse_signal_add(env->loop, signo, note, s, &s->self), 0);
}

static void unwatch(struct env *env, const struct seen *s)
{
	assert_int_equal(rouse_remove(env->loop, s->self), 0);
	assert_int_equal(rouse_remove(env->loop, s->self), ROUSE_ESTALE);
}

/* ---- Delivery ----------------------------------------------------------------------- */

static void a_signal_before_the_loop_ever_ran_is_delivered(void **state)
{
	struct env *env = *state;
	struct seen s;

	assert_true(rouse_loop_caps(env->loop) & ROUSE_CAP_SIGNAL);
	watch(env, &s, SIGUSR1);
	assert_int_equal(env_drain(env), 0);
	for (int i = 1; i <= 3; i++) {
		raise(SIGUSR1);
		ENV_UNTIL(env, s.runs == i);
		assert_int_equal(env_drain(env), 0);
	}
	unwatch(env, &s);
}

static void each_signal_has_its_own_callback(void **state)
{
	struct env *env = *state;
	struct seen seen[3];
	const int signals[] = {SIGUSR1, SIGCHLD, SIGRTMIN + 1};

	for (int i = 0; i < 3; i++)
		watch(env, &seen[i], signals[i]);
	for (int i = 0; i < 3; i++) {
		raise(signals[i]);
		ENV_UNTIL(env, seen[i].runs);
		assert_int_equal(env_drain(env), 0);
		for (int other = 0; other < 3; other++)
			assert_int_equal(seen[other].runs, other <= i);
	}
	for (int i = 0; i < 3; i++)
		unwatch(env, &seen[i]);
}

static atomic_int asleep;

static void note_sleep(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP)
		atomic_store(&asleep, 1);
}

struct sender {
	pthread_t loops_thread;
	int to; /* whom the system interrupts */
};

enum { TO_PROCESS, TO_LOOP, TO_SENDER };

static void *send_when_asleep(void *data)
{
	struct sender *s = data;

	while (!atomic_load(&asleep))
		sched_yield();
	if (s->to == TO_LOOP)
		return pthread_kill(s->loops_thread, SIGUSR2) ? s : NULL;
	if (s->to == TO_SENDER)
		return pthread_kill(pthread_self(), SIGUSR2) ? s : NULL;
	return kill(getpid(), SIGUSR2) ? s : NULL;
}

static void a_signal_ends_a_wait_whichever_thread_it_interrupts(void **state)
{
	struct env *env = *state;
	struct seen s;

	watch(env, &s, SIGUSR2);
	for (int to = TO_PROCESS; to <= TO_SENDER; to++) {
		struct sender sender = {pthread_self(), to};
		pthread_t thread;

		s.runs = 0;
		atomic_store(&asleep, 0);
		rouse__fault_pause(note_sleep, NULL);
		thread = env_start(send_when_asleep, &sender);
		ENV_UNTIL(env, s.runs);
		rouse__fault_pause(NULL, NULL);
		env_join(thread);
		env_drain(env);
	}
	unwatch(env, &s);
}

/* ---- Order -------------------------------------------------------------------------- */

struct order {
	struct env *env;
	rouse_remote *remote;
	rouse_source self;
	char text[16];
	int length;
};

static void note_post(rouse_loop *loop, void *data)
{
	struct order *o = data;

	(void)loop;
	o->text[o->length++] = 'p';
}

static void note_wake(rouse_loop *loop, void *data)
{
	struct order *o = data;

	(void)loop;
	o->text[o->length++] = 'w';
}

static void note_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct order *o = data;

	(void)loop;
	(void)self;
	(void)signo;
	o->text[o->length++] = 's';
}

static void note_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	struct order *o = data;

	(void)loop;
	(void)self;
	(void)deadline;
	o->text[o->length++] = 't';
}

static void after_the_wakes_and_posts_before_it_and_before_timers(void **state)
{
	struct env *env = *state;
	struct order o = {.remote = rouse_loop_remote(env->loop)};
	rouse_waker *waker;

	assert_int_equal(rouse_waker_create(env->loop, note_wake, &o, &waker), 0);
	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, note_signal, &o, &o.self), 0);
	assert_int_equal(
	        rouse_timer_add(env->loop, rouse_loop_now(env->loop), 0, 0, note_timer, &o, NULL),
	        0);
	assert_int_equal(rouse_post(o.remote, note_post, &o, NULL), 0);
	assert_true(rouse_wake(waker) >= 0);
	raise(SIGUSR1);
	ENV_UNTIL(env, o.length == 4);
	assert_string_equal(o.text, "pwst");
	assert_int_equal(rouse_remove(env->loop, o.self), 0);
	rouse_waker_unref(waker);
	rouse_remote_unref(o.remote);
}

static void raise_in_post(rouse_loop *loop, void *data)
{
	struct seen *s = data;

	(void)loop;
	raise(s->signo);
	assert_int_equal(s->runs, 0);
}

static void raised_in_a_callback_it_is_of_a_later_turn(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	struct seen s;

	watch(env, &s, SIGUSR1);
	env_drain(env);
	assert_int_equal(rouse_post(remote, raise_in_post, &s, NULL), 0);
	assert_int_equal(env_turn(env, ROUSE_NEVER), 1);
	assert_int_equal(s.runs, 0);
	ENV_UNTIL(env, s.runs);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(s.runs, 1);
	unwatch(env, &s);
	rouse_remote_unref(remote);
}

static void raise_again(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct seen *s = data;

	(void)loop;
	(void)self;
	if (s->runs++ == 0)
		raise(signo);
}

static void w6_raised_inside_its_callback_it_runs_once_more(void **state)
{
	struct env *env = *state;
	struct seen s = {.signo = SIGUSR1};

	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, raise_again, &s, &s.self), 0);
	raise(SIGUSR1);
	ENV_UNTIL(env, s.runs);
	assert_int_equal(s.runs, 1);
	ENV_UNTIL(env, s.runs == 2);
	assert_int_equal(env_drain(env), 0);
	unwatch(env, &s);
}

/* ---- A storm: for every signal a run begins after it -------------------------------- */

struct storm {
	atomic_uint sent[2];
	unsigned seen[2], total;
	rouse_source self;
};

struct storm_thread {
	struct storm *storm;
	int index;
};

static void *send_storm(void *data)
{
	struct storm_thread *t = data;

	for (unsigned i = 1; i <= t->storm->total; i++) {
		atomic_store_explicit(&t->storm->sent[t->index], i, memory_order_relaxed);
		if (kill(getpid(), SIGUSR1))
			return t;
	}
	return NULL;
}

static void see_storm(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	struct storm *s = data;

	(void)loop;
	(void)self;
	(void)signo;
	for (int i = 0; i < 2; i++)
		s->seen[i] = atomic_load_explicit(&s->sent[i], memory_order_relaxed);
}

static void w1_a_run_begins_after_the_last_of_a_storm(void **state)
{
	struct env *env = *state;
	struct storm s = {.total = scaled(50000)};
	struct storm_thread data[2] = {{&s, 0}, {&s, 1}};
	pthread_t threads[2];

	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, see_storm, &s, &s.self), 0);
	for (int i = 0; i < 2; i++)
		threads[i] = env_start(send_storm, &data[i]);
	ENV_UNTIL(env, s.seen[0] == s.total && s.seen[1] == s.total);
	for (int i = 0; i < 2; i++)
		env_join(threads[i]);
	env_drain(env);
	assert_int_equal(rouse_remove(env->loop, s.self), 0);
}

/* ---- What the interrupted code sees ------------------------------------------------- */

static void interrupted_code_keeps_errno_though_the_ring_fails(void **state)
{
	struct env *env = *state;
	struct seen s;
	int os_error = rouse_os_error();

	watch(env, &s, SIGUSR1);
	env_drain(env);
	/* Asleep as far as producers know, so that the handler has to ring. */
	if (env->host == UNHOSTED)
		assert_true(rouse__remote_doze(env->loop->remote));
	rouse__fault_reset();
	rouse__fault_fail(ROUSE__RING, 0, 1, EIO);
	errno = EDOM;
	raise(SIGUSR1);
	assert_int_equal(errno, EDOM);
	assert_int_equal(rouse_os_error(), os_error);
	assert_int_equal(rouse__fault_count(ROUSE__RING), 1);
	/* Pending for whatever ends the next wait. */
	while (!s.runs)
		env_turn(env, 0);
	rouse__fault_reset();
	unwatch(env, &s);
}

/* This sanitizer holds a handler back until the call that it interrupts returns. */
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN
#endif
#endif

struct reader {
	int fd;
	atomic_int tid;
	ssize_t got;
};

static void *block_in_read(void *data)
{
	struct reader *r = data;
	char byte;

	atomic_store(&r->tid, (int)gettid());
	r->got = read(r->fd, &byte, 1);
	return NULL;
}

/* Whether the system says that the thread sleeps in a call. */
static int sleeps(int tid)
{
	char path[64], line[256] = "", *end;
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof line, file));
	fclose(file);
	end = strrchr(line, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

static void a_blocked_call_of_another_thread_goes_on(void **state)
{
	struct env *env = *state;
	struct reader r = {0};
	struct seen s;
	pthread_t thread;
	int ends[2];

#ifdef WITH_TSAN
	skip();
#endif
	watch(env, &s, SIGUSR1);
	assert_int_equal(pipe(ends), 0);
	r.fd = ends[0];
	thread = env_start(block_in_read, &r);
	while (!atomic_load(&r.tid) || !sleeps(atomic_load(&r.tid)))
		sched_yield();
	for (int i = 1; i <= 10; i++) {
		int before = s.runs;

		assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
		ENV_UNTIL(env, s.runs > before);
	}
	assert_int_equal(write(ends[1], "x", 1), 1);
	env_join(thread);
	assert_int_equal(r.got, 1);
	close(ends[0]);
	close(ends[1]);
	unwatch(env, &s);
}

/* ---- One source of one loop --------------------------------------------------------- */

static void one_source_of_one_loop_watches_a_signal(void **state)
{
	struct env *env = *state, other;
	struct seen s, late = {.signo = SIGUSR1};

	env_open(&other, 0);
	watch(env, &s, SIGUSR1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rouse_signal_add(i ? other.loop : env->loop, SIGUSR1, note, &late,
		                                  &late.self),
		                 ROUSE_EEXIST);
		assert_true(late.self.id == 0);
	}
	/* Neither refusal took anything from the one who has it. */
	raise(SIGUSR1);
	ENV_UNTIL(env, s.runs == 1);
	unwatch(env, &s);
	watch(&other, &late, SIGUSR1);
	raise(SIGUSR1);
	ENV_UNTIL(&other, late.runs == 1);
	assert_int_equal(env_drain(env), 0);
	env_close(&other);
	watch(env, &s, SIGUSR1);
	raise(SIGUSR1);
	ENV_UNTIL(env, s.runs == 1);
	unwatch(env, &s);
}

static void what_came_before_a_source_is_not_told_to_it(void **state)
{
	struct env *env = *state;
	struct seen s, late;

	watch(env, &s, SIGUSR1);
	raise(SIGUSR1);
	unwatch(env, &s);
	watch(env, &late, SIGUSR1);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(s.runs + late.runs, 0);
	raise(SIGUSR1);
	ENV_UNTIL(env, late.runs == 1);
	unwatch(env, &late);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(a_signal_before_the_loop_ever_ran_is_delivered),
	        env_test(each_signal_has_its_own_callback),
	        env_test(a_signal_ends_a_wait_whichever_thread_it_interrupts),
	        env_test(after_the_wakes_and_posts_before_it_and_before_timers),
	        env_test(raised_in_a_callback_it_is_of_a_later_turn),
	        env_test(w6_raised_inside_its_callback_it_runs_once_more),
	        env_test(w1_a_run_begins_after_the_last_of_a_storm),
	        env_test(interrupted_code_keeps_errno_though_the_ring_fails),
	        env_test(a_blocked_call_of_another_thread_goes_on),
	        env_test(one_source_of_one_loop_watches_a_signal),
	        env_test(what_came_before_a_source_is_not_told_to_it),
	};

	return env_main(argc, argv, "signals", tests, sizeof tests / sizeof *tests);
}
