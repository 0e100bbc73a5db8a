#include "env.h"

#include "core/fault.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *mode = ENV_BEST_POLLER;
unsigned env_pool;

static int mode_has(const char *word)
{
	return strstr(mode, word) != NULL;
}

static unsigned factor(const char *variable)
{
	const char *text = getenv(variable);
	unsigned long value = text ? strtoul(text, NULL, 10) : 1;

	return value ? (unsigned)value : 1;
}

unsigned scaled(unsigned count)
{
	unsigned by = factor("ROUSE_TEST_DIVISOR");

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	by = by > 10 ? by : 10;
#endif
	count = count * factor("ROUSE_TEST_TIMES") / by;
	return count ? count : 1;
}

static enum host host_of_mode(void)
{
	return mode_has("guest") ? DESCRIPTOR : mode_has("bracket") ? BRACKET : UNHOSTED;
}

/* The driver's word for "no". */
enum { DENIED = 0x22 };

static void pretend_old_system(void)
{
	/* The second ring of the probe goes unseen. */
	rouse__fault_fail(ROUSE__EPOLL_WAIT, 1, 1, EINTR);
	rouse__fault_fail(ROUSE__EPOLL_PWAIT2, 0, 1, ENOSYS);
}

int env_main(int argc, char **argv, const char *group, const struct CMUnitTest *tests, size_t count)
{
	static char name[128];
	static struct CMUnitTest here[64];
	size_t kept = 0;

	if (argc > 1)
		mode = argv[1];
	snprintf(name, sizeof name, "%s/%s", group, mode);
	if (mode_has("old"))
		pretend_old_system();
	for (size_t i = 0; i < count && kept < sizeof here / sizeof *here; i++) {
		uintptr_t hosts = (uintptr_t)tests[i].initial_state;

		if (!hosts || (hosts & host_of_mode()))
			here[kept++] = tests[i];
	}
	return _cmocka_run_group_tests(name, here, kept, NULL, NULL) ? EXIT_FAILURE : EXIT_SUCCESS;
}

#ifndef ROUSE_TEST_WAYLAND
void *env_attach(rouse_loop *loop)
{
	(void)loop;
	fprintf(stderr, "SKIP: built without Wayland\n");
	exit(77);
}

void env_disconnect(void *display)
{
	(void)display;
}
#endif

/* ---- The loop and its host ---------------------------------------------------- */

void env_open(struct env *env, unsigned max_batch)
{
	rouse_loop_options options = {
	        .size = sizeof options, .max_batch = max_batch, .pool = env_pool};
	rouse_ns unused;

	*env = (struct env){.outer = -1};
	env->null = mode_has("null");
	options.poller = env->null                                ? "null"
	                 : mode_has("poll") && !mode_has("epoll") ? "poll"
	                                                          : ENV_BEST_POLLER;
	env->host = host_of_mode();
	if (mode_has("by-event"))
		rouse__fault_fail(ROUSE__AFD_OPEN, 0, UINT_MAX, DENIED);
	assert_int_equal(rouse_loop_create(&options, &env->loop), 0);
	if (mode_has("wayland"))
		env->display = env_attach(env->loop);
	if (env->host != UNHOSTED && !env->null)
		env_outer_open(env);
	/* Then whatever the display needs for that host is there. */
	if (env->host == DESCRIPTOR && env->display)
		env_drain(env);
	if (env->host == BRACKET)
		assert_int_equal(rouse_loop_prepare(env->loop, 0, &unused), 0);
}

void env_close(struct env *env)
{
	assert_int_equal(rouse_loop_destroy(env->loop), 0);
	env->loop = NULL;
	env_disconnect(env->display);
	env->display = NULL;
	env_outer_close(env);
}

unsigned env_own_rings(const struct env *env)
{
	return env->host == DESCRIPTOR && env->display ? 2 : 0;
}

int env_setup(void **state)
{
	struct env *env = malloc(sizeof *env);

	assert_non_null(env);
	env_open(env, 0);
	*state = env;
	return 0;
}

int env_teardown(void **state)
{
	struct env *env = *state;

	rouse__fault_pause(NULL, NULL);
	if (env->loop)
		env_close(env);
	else
		env_disconnect(env->display);
	free(env);
	return 0;
}

/* ---- A turn ---------------------------------------------------------------------- */

static rouse_ns after(struct env *env, rouse_ns longest)
{
	if (longest == 0 || longest == ROUSE_NEVER)
		return longest;
	return rouse_loop_now(env->loop) + longest;
}

static int dispatch_if(struct env *env, int work)
{
	int ran = 0;

	assert_true(work >= 0);
	if (work) {
		ran = rouse_loop_dispatch(env->loop);
		assert_true(ran >= 0);
	}
	return ran;
}

static int bracket_turn(struct env *env, rouse_ns until)
{
	rouse_ns deadline;

	assert_int_equal(rouse_loop_prepare(env->loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	if (deadline > until)
		deadline = until;
	return dispatch_if(env, rouse_loop_check(env->loop, env_outer_wait(env, deadline)));
}

/* The host's clock is the loop's; without a deadline it waits for another thread. */
static int null_bracket_turn(struct env *env, rouse_ns until)
{
	rouse_ns deadline, now = rouse_loop_now(env->loop);
	int work;

	assert_int_equal(rouse_loop_prepare(env->loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	if (deadline > until)
		deadline = until;
	rouse__fault_reached(ROUSE__MARKED_ASLEEP);
	work = rouse_loop_check(env->loop, 1);
	while (!work && deadline == ROUSE_NEVER) {
		sched_yield();
		work = rouse_loop_check(env->loop, 1);
	}
	if (!work && deadline > now) {
		assert_int_equal(rouse_null_advance(env->loop, deadline - now), 0);
		work = rouse_loop_check(env->loop, 1);
	}
	return dispatch_if(env, work);
}

int env_turn(struct env *env, rouse_ns longest)
{
	rouse_ns until = after(env, longest);
	int ran;

	if (env->host == BRACKET)
		return env->null ? null_bracket_turn(env, until) : bracket_turn(env, until);
	if (env->host == DESCRIPTOR) {
		(void)env_outer_wait(env, until);
		until = 0;
	}
	ran = rouse_loop_turn(env->loop, until);
	assert_true(ran >= 0);
	return ran;
}

int env_drain(struct env *env)
{
	int ran, sum = 0;

	/* Twice nothing: a turn may end early for a ring that came late. */
	for (int quiet = 0; quiet < 2; quiet = ran ? 0 : quiet + 1) {
		ran = env_turn(env, 0);
		sum += ran;
	}
	return sum;
}

/* ---- Threads --------------------------------------------------------------------- */

pthread_t env_start(void *(*fn)(void *), void *data)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, fn, data), 0);
	return thread;
}

void env_join(pthread_t thread)
{
	void *failed;

	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
}

/* ---- Channels -------------------------------------------------------------------- */

static void script(struct env *env, rouse_fd fd, unsigned events)
{
	assert_int_equal(rouse_null_script(env->loop, 0, fd, events), 0);
}

void channel_open(struct env *env, struct channel *channel)
{
	if (env->null)
		*channel = (struct channel){.fd = env->next_number++, .peer = ROUSE_NO_FD};
	else
		env_pair_open(&channel->fd, &channel->peer);
}

void channel_fill(struct env *env, struct channel *channel)
{
	if (env->null)
		script(env, channel->fd, ROUSE_READABLE);
	else
		env_pair_write(channel->peer);
}

void channel_empty(struct env *env, struct channel *channel)
{
	if (env->null)
		script(env, channel->fd, 0);
	else
		(void)env_pair_drain(channel->fd);
}

void channel_hang_up(struct env *env, struct channel *channel)
{
	if (env->null) {
		script(env, channel->fd, ROUSE_HANGUP);
		return;
	}
	env_pair_hang_up(channel->fd, channel->peer);
	channel->peer = ROUSE_NO_FD;
}

void channel_close(struct env *env, struct channel *channel)
{
	if (env->null) {
		script(env, channel->fd, 0);
		return;
	}
	env_pair_close(channel->fd);
	if (channel->peer != ROUSE_NO_FD)
		env_pair_close(channel->peer);
	*channel = (struct channel){.fd = ROUSE_NO_FD, .peer = ROUSE_NO_FD};
}

/* ---- Callbacks ----------------------------------------------------------------------- */

void count_run(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
}

void count_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self;
	assert_true(rouse_loop_now(loop) >= deadline);
	count_run(loop, data);
}

void count_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)self;
	(void)fd;
	(void)events;
	count_run(loop, data);
}
