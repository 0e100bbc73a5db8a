/*
 * F10: a callback forks, and the child returns from it into the turn without having taken the loop
 * over.  There the turn ends at once: nothing more runs, and what the parent uses is not touched.
 */
#include "forked.h"

#include <unistd.h>

static pid_t child;
static int ran; /* callbacks after the one that forked */

/* The child goes first, so that what it did to the parent would be there. */
static void fork_and_wait(void)
{
	child = forked();
	if (child > 0)
		forked_wait(child);
}

static void fork_once(void)
{
	if (child < 0)
		fork_and_wait();
	else
		ran++;
}

/* ---- Two of each kind, ready in one turn: the first one forks -------------------------- */

static void on_post(rouse_loop *loop, void *data)
{
	(void)loop, (void)data;
	fork_once();
}

static void on_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline, (void)data;
	fork_once();
}

static void on_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)fd, (void)events, (void)data;
	fork_once();
	/* In the child it is refused. */
	(void)rouse_remove(loop, self);
}

static int always(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)loop, (void)self, (void)ready, (void)data;
	return 1;
}

static int on_hook(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)budget, (void)data;
	fork_once();
	(void)rouse_remove(loop, self);
	return 1;
}

static void make_posts(struct env *env, struct channel *channels)
{
	rouse_remote *remote = rouse_loop_remote(env->loop);

	(void)channels;
	for (int i = 0; i < 2; i++)
		assert_int_equal(rouse_post(remote, on_post, NULL, NULL), 0);
	rouse_remote_unref(remote);
}

static void make_timers(struct env *env, struct channel *channels)
{
	(void)channels;
	for (int i = 0; i < 2; i++)
		assert_int_equal(rouse_timer_add(env->loop, 1, 0, 0, on_timer, NULL, NULL), 0);
}

static void make_descriptors(struct env *env, struct channel *channels)
{
	for (int i = 0; i < 2; i++) {
		channel_fill(env, &channels[i]);
		assert_int_equal(
		        rouse_fd_add(env->loop, channels[i].fd, ROUSE_READABLE, on_fd, NULL, NULL),
		        0);
	}
}

static void make_hooks(struct env *env, struct channel *channels)
{
	const rouse_hook hook = {
	        .size = sizeof hook, .fd = ROUSE_NO_FD, .check = always, .dispatch = on_hook};

	(void)channels;
	for (int i = 0; i < 2; i++)
		assert_int_equal(rouse_hook_add(env->loop, &hook, NULL, NULL), 0);
}

static void (*const kinds[])(struct env *env, struct channel *channels) = {
        make_posts, make_timers, make_descriptors, make_hooks};

enum { KINDS = sizeof kinds / sizeof *kinds };

static int through_turn(rouse_loop *loop)
{
	return rouse_loop_turn(loop, 0);
}

static int by_check_and_dispatch(rouse_loop *loop)
{
	assert_int_equal(rouse_loop_prepare(loop, 0, &(rouse_ns){0}), 0);
	assert_int_equal(rouse_loop_check(loop, 1), 1);
	return rouse_loop_dispatch(loop);
}

static void f10_a_child_returns_into_the_turn(void **state)
{
	struct env *env = *state;

	for (int by_hand = 0; by_hand <= (env->host == BRACKET); by_hand++)
		for (int kind = 0; kind < KINDS; kind++) {
			struct channel channels[2];
			int result;

			env_drain(env);
			channel_open(env, &channels[0]);
			channel_open(env, &channels[1]);
			child = -1;
			ran = 0;
			kinds[kind](env, channels);
			/* A guest's hook is prepared when a turn is over. */
			result = (by_hand ? by_check_and_dispatch : through_turn)(env->loop);
			if (child < 0)
				result =
				        (by_hand ? by_check_and_dispatch : through_turn)(env->loop);
			if (child == 0) {
				assert_int_equal(result, ROUSE_EFORKED);
				assert_int_equal(ran, 0);
				forked_passed();
			}
			assert_true(result >= 2);
			assert_int_equal(ran, 1);
			channel_close(env, &channels[0]);
			channel_close(env, &channels[1]);
		}
}

/* ---- In a hook's passes ------------------------------------------------------------------ */

static rouse_ns fork_in_prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)loop, (void)self, (void)flags;
	if (*(int *)data && child < 0)
		fork_and_wait();
	return ROUSE_NEVER;
}

static int fork_in_check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)loop, (void)self, (void)ready;
	if (!*(int *)data && child < 0)
		fork_and_wait();
	return 0;
}

static int through_prepare_and_check(rouse_loop *loop)
{
	int result = rouse_loop_prepare(loop, 0, &(rouse_ns){0});

	return result ? result : rouse_loop_check(loop, 1);
}

static void f10_a_child_returns_from_a_hooks_pass(void **state)
{
	struct env *env = *state;
	int in_prepare = 0;
	const rouse_hook hook = {.size = sizeof hook,
	                         .fd = ROUSE_NO_FD,
	                         .prepare = fork_in_prepare,
	                         .check = fork_in_check};
	rouse_source source;

	env_drain(env);
	assert_int_equal(rouse_hook_add(env->loop, &hook, &in_prepare, &source), 0);
	for (int by_hand = 0; by_hand <= (env->host == BRACKET); by_hand++)
		for (in_prepare = 0; in_prepare < 2; in_prepare++) {
			int result;

			child = -1;
			result = (by_hand ? through_prepare_and_check : through_turn)(env->loop);
			if (child < 0) /* a guest's turn prepares when it is over */
				result = (by_hand ? through_prepare_and_check
				                  : through_turn)(env->loop);
			if (child == 0) {
				assert_int_equal(result, ROUSE_EFORKED);
				forked_passed();
			}
			assert_true(child > 0);
			assert_int_equal(result, 0);
		}
	assert_int_equal(rouse_remove(env->loop, source), 0);
}

/* ---- What the parent has rung for is still rung for ------------------------------------------ */

static int go[2];

/* The child stays in its callback until the parent sleeps. */
static void fork_and_go_on(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	char byte;

	(void)loop, (void)self, (void)deadline, (void)data;
	if (child >= 0)
		return;
	child = forked();
	if (child == 0)
		assert_int_equal(read(go[0], &byte, 1), 1);
}

static void *post_from_a_thread(void *data)
{
	return rouse_post(data, count_run, &ran, NULL) ? "not posted" : NULL;
}

/* It has a turn to end, in which more than one thing ran: and so a ring to take back, which is not
 * there any more. */
static void f10_a_child_takes_no_ring_back(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	int result;

	env_drain(env);
	assert_int_equal(pipe(go), 0);
	child = -1;
	ran = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(rouse_timer_add(env->loop, 1, 0, 0, fork_and_go_on, NULL, NULL),
		                 0);
	result = rouse_loop_turn(env->loop, 0);
	if (child == 0) {
		assert_int_equal(result, ROUSE_EFORKED);
		forked_passed();
	}
	assert_int_equal(result, 2);
	env_drain(env);
	env_join(env_start(post_from_a_thread, remote));
	assert_int_equal(write(go[1], "x", 1), 1);
	forked_wait(child);
	ENV_UNTIL(env, ran);
	close(go[0]);
	close(go[1]);
	rouse_remote_unref(remote);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f10_a_child_returns_into_the_turn),
	        env_test(f10_a_child_returns_from_a_hooks_pass),
	        env_test(f10_a_child_takes_no_ring_back),
	};

	return env_main(argc, argv, "fork_returns", tests, sizeof tests / sizeof *tests);
}
