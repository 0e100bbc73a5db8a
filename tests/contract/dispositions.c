/* Dispositions of signals: taken, and given back as they were; those that cannot be had. */
#include "env.h"

#include <limits.h>
#include <signal.h>
#include <string.h>

static void count_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)signo;
	++*(int *)data;
}

static volatile sig_atomic_t handled;

static void handler(int signo)
{
	handled = signo;
}

static void informed_handler(int signo, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	handled = signo;
}

static struct sigaction disposition(int signo)
{
	struct sigaction now;

	assert_int_equal(sigaction(signo, NULL, &now), 0);
	return now;
}

/* This sanitizer has masks of its own. */
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#ifndef WITH_TSAN
#define WITH_TSAN 0
#endif

static void assert_disposition(int signo, const struct sigaction *expected)
{
	/* Of the C library's own. */
	const int restorer = 0x04000000;
	struct sigaction now = disposition(signo);

	assert_ptr_equal(now.sa_handler, expected->sa_handler);
	assert_int_equal(now.sa_flags & ~restorer, expected->sa_flags & ~restorer);
	for (int i = 1; i < NSIG && !WITH_TSAN; i++)
		assert_int_equal(sigismember(&now.sa_mask, i), sigismember(&expected->sa_mask, i));
}

static void dispositions(struct sigaction out[4])
{
	memset(out, 0, 4 * sizeof *out);
	for (int i = 0; i < 4; i++)
		sigemptyset(&out[i].sa_mask);
	out[0].sa_handler = SIG_DFL;
	out[1].sa_handler = SIG_IGN;
	out[2].sa_handler = handler;
	out[2].sa_flags = SA_NODEFER;
	out[3].sa_sigaction = informed_handler;
	out[3].sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	sigaddset(&out[3].sa_mask, SIGUSR2);
	sigaddset(&out[3].sa_mask, SIGALRM);
}

static void the_disposition_is_put_back_as_it_was(void **state)
{
	struct env *env = *state;
	struct sigaction before[4];

	dispositions(before);
	/* By remove, by destroy. */
	for (int i = 0; i < 8; i++) {
		rouse_source source;
		int runs = 0;

		assert_int_equal(sigaction(SIGUSR1, &before[i / 2], NULL), 0);
		assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, &runs, &source),
		                 0);
		assert_ptr_not_equal(disposition(SIGUSR1).sa_handler, before[i / 2].sa_handler);
		if (i % 2) {
			env_close(env);
			env_open(env, 0);
		} else {
			assert_int_equal(rouse_remove(env->loop, source), 0);
		}
		assert_disposition(SIGUSR1, &before[i / 2]);
		handled = 0;
		if (i / 2)
			raise(SIGUSR1);
		assert_int_equal(handled, i / 2 < 2 ? 0 : SIGUSR1);
	}
	signal(SIGUSR1, SIG_DFL);
}

static void a_disposition_that_someone_changed_is_left_alone(void **state)
{
	struct env *env = *state;
	struct sigaction theirs[4];
	rouse_source source;

	dispositions(theirs);
	for (int i = 0; i < 8; i++) {
		int runs = 0;

		assert_int_equal(sigaction(SIGUSR1, &theirs[(i / 2 + 1) % 4], NULL), 0);
		assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, &runs, &source),
		                 0);
		assert_int_equal(sigaction(SIGUSR1, &theirs[i / 2], NULL), 0);
		if (i % 2) {
			env_close(env);
			env_open(env, 0);
		} else {
			assert_int_equal(rouse_remove(env->loop, source), 0);
		}
		assert_disposition(SIGUSR1, &theirs[i / 2]);
		/* And is the one that the next source gives back. */
		assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, count_signal, &runs, &source),
		                 0);
		raise(SIGUSR1);
		ENV_UNTIL(env, runs);
		assert_int_equal(rouse_remove(env->loop, source), 0);
		assert_disposition(SIGUSR1, &theirs[i / 2]);
	}
	signal(SIGUSR1, SIG_DFL);
}

static void signals_that_cannot_be_put_off_are_refused(void **state)
{
	static const int refused[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP,
	                              SIGSYS,  SIGABRT, SIGKILL, SIGSTOP, 0,
	                              -1,      NSIG,    4096,    INT_MAX, INT_MIN};
	struct env *env = *state;

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		int real = refused[i] > 0 && refused[i] < NSIG;
		struct sigaction before = disposition(real ? refused[i] : SIGUSR1);
		rouse_source source = {42};

		assert_int_equal(
		        rouse_signal_add(env->loop, refused[i], count_signal, NULL, &source),
		        ROUSE_EINVAL);
		assert_true(source.id == 42);
		assert_disposition(real ? refused[i] : SIGUSR1, &before);
	}
	assert_int_equal(rouse_signal_add(env->loop, SIGUSR1, NULL, NULL, NULL), ROUSE_EINVAL);
	assert_int_equal(rouse_signal_add(NULL, SIGUSR1, count_signal, NULL, NULL), ROUSE_EINVAL);
	assert_ptr_equal(disposition(SIGUSR1).sa_handler, SIG_DFL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(the_disposition_is_put_back_as_it_was),
	        env_test(a_disposition_that_someone_changed_is_left_alone),
	        env_test(signals_that_cannot_be_put_off_are_refused),
	};

	return env_main(argc, argv, "dispositions", tests, sizeof tests / sizeof *tests);
}
