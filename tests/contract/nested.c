/* A guest whose callback opens a loop of the host's: everything else goes on inside it. */
#include "env.h"

#include <pthread.h>
#include <stdlib.h>

#define MS ((rouse_ns)1000000)

/* ---- G3, L6 ------------------------------------------------------------------------------- */

struct dialog {
	struct env *env;
	rouse_remote *remote;
	int posts, timers, readable, opened, closed;
	struct channel channel;
};

static void *post_twenty(void *data)
{
	struct dialog *d = data;

	for (int i = 0; i < 20; i++)
		if (rouse_post(d->remote, count_run, &d->posts, NULL) < 0)
			return d;
	return NULL;
}

/* The host's own loop, run inside one of our callbacks until all three were served. */
static void open_dialog(rouse_loop *loop, void *data)
{
	struct dialog *d = data;
	pthread_t thread;
	void *failed;

	d->opened++;
	assert_int_equal(rouse_timer_add(loop, rouse_loop_now(loop) + MS, 0, 0, count_timer,
	                                 &d->timers, NULL),
	                 0);
	assert_int_equal(
	        rouse_fd_add(loop, d->channel.fd, ROUSE_READABLE, count_fd, &d->readable, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, post_twenty, d), 0);
	ENV_UNTIL(d->env, d->readable > 0);
	/* A virtual clock stands still as long as a descriptor is ready. */
	channel_empty(d->env, &d->channel);
	ENV_UNTIL(d->env, d->posts == 20 && d->timers == 1);
	pthread_join(thread, &failed);
	assert_null(failed);
	d->closed++;
}

static void g3_a_dialog_in_a_callback_serves_posts_timers_and_descriptors(void **state)
{
	struct env *env = *state;
	struct dialog d = {.env = env, .remote = rouse_loop_remote(env->loop)};

	channel_open(env, &d.channel);
	channel_fill(env, &d.channel);
	assert_true(rouse_post(d.remote, open_dialog, &d, NULL) >= 0);
	ENV_UNTIL(env, d.closed);
	assert_int_equal(d.opened, 1);
	channel_empty(env, &d.channel);
	rouse_remote_unref(d.remote);
}

struct follower {
	struct dialog *dialog;
	int ran_inside, ran;
};

static void note_inside(rouse_loop *loop, void *data)
{
	struct follower *f = data;

	(void)loop;
	f->ran++;
	f->ran_inside += f->dialog->opened && !f->dialog->closed;
}

static void l6_a_nested_turn_finishes_what_the_outer_one_had_gathered(void **state)
{
	struct env *env = *state;
	struct dialog d = {.env = env, .remote = rouse_loop_remote(env->loop)};
	struct follower f = {.dialog = &d};
	int due = 0;

	channel_open(env, &d.channel);
	channel_fill(env, &d.channel);
	env_drain(env);
	assert_true(rouse_post(d.remote, open_dialog, &d, NULL) >= 0);
	for (int i = 0; i < 5; i++)
		assert_true(rouse_post(d.remote, note_inside, &f, NULL) >= 0);
	assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop), 0, 0, count_timer,
	                                 &due, NULL),
	                 0);
	ENV_UNTIL(env, d.closed);
	/* They were gathered with the dialog's post, and nothing else makes the host turn us. */
	assert_int_equal(f.ran, 5);
	assert_int_equal(f.ran_inside, 5);
	assert_int_equal(due, 1);
	channel_empty(env, &d.channel);
	rouse_remote_unref(d.remote);
}

struct sequence {
	struct env *env;
	rouse_remote *remote;
	char order[8];
	int length;
};

static void note_late(rouse_loop *loop, void *data)
{
	struct sequence *s = data;

	(void)loop;
	s->order[s->length++] = 'l';
}

static void note_reported(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                          void *data)
{
	struct sequence *s = data;

	(void)fd;
	(void)events;
	s->order[s->length++] = 'r';
	assert_int_equal(rouse_remove(loop, self), 0);
}

static void post_late_and_nest(rouse_loop *loop, void *data)
{
	struct sequence *s = data;

	(void)loop;
	s->order[s->length++] = '(';
	assert_true(rouse_post(s->remote, note_late, s, NULL) >= 0);
	ENV_UNTIL(s->env, s->length >= 3);
	s->order[s->length++] = ')';
}

static void l6_what_was_gathered_comes_before_what_was_posted_since(void **state)
{
	struct env *env = *state;
	struct sequence s = {.env = env, .remote = rouse_loop_remote(env->loop)};
	struct channel channel;

	channel_open(env, &channel);
	channel_fill(env, &channel);
	env_drain(env);
	assert_int_equal(
	        rouse_fd_add(env->loop, channel.fd, ROUSE_READABLE, note_reported, &s, NULL), 0);
	assert_true(rouse_post(s.remote, post_late_and_nest, &s, NULL) >= 0);
	ENV_UNTIL(env, s.length == 4);
	assert_string_equal(s.order, "(rl)");
	channel_close(env, &channel);
	rouse_remote_unref(s.remote);
}

/* ---- What is suspended is not called inside itself ------------------------------------------ */

struct suspended {
	struct env *env;
	rouse_waker *waker;
	rouse_remote *remote;
	struct channel channel;
	int depth, deepest, runs, inner;
};

/* What is suspended may be as ready as it likes: the host's nested loop sleeps. */
static void check_quiet(struct env *env)
{
	env_drain(env);
	assert_int_equal(env->null ? rouse_loop_check(env->loop, 1) : env_readable(env), 0);
}

/* Three nested rounds of the host, with something else to do in each. */
static void nest(struct suspended *s)
{
	s->runs++;
	s->depth++;
	if (s->depth > s->deepest)
		s->deepest = s->depth;
	for (int i = 0; i < 3 && s->runs == 1; i++) {
		int before = s->inner;

		assert_true(rouse_post(s->remote, count_run, &s->inner, NULL) >= 0);
		if (s->waker)
			assert_true(rouse_wake(s->waker) >= 0);
		ENV_UNTIL(s->env, s->inner > before);
		if (!s->waker)
			check_quiet(s->env);
	}
	s->depth--;
}

static void nest_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)loop;
	(void)self;
	(void)fd;
	(void)events;
	nest(data);
}

static void nest_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)deadline;
	assert_int_equal(rouse_timer_set(loop, self, rouse_loop_now(loop), 0, 0), 0);
	nest(data);
}

static void nest_wake(rouse_loop *loop, void *data)
{
	(void)loop;
	nest(data);
}

static int nest_hook(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	(void)loop;
	(void)self;
	(void)budget;
	nest(data);
	return 1;
}

static void check_suspended(struct suspended *s)
{
	ENV_UNTIL(s->env, s->runs);
	assert_int_equal(s->deepest, 1);
	assert_int_equal(s->inner, 3);
	/* Its turn comes again once it has returned. */
	ENV_UNTIL(s->env, s->runs > 1);
	assert_int_equal(s->deepest, 1);
	rouse_remote_unref(s->remote);
}

static void l6_a_suspended_descriptor_is_quiet_until_it_returns(void **state)
{
	struct env *env = *state;
	struct suspended s = {.env = env, .remote = rouse_loop_remote(env->loop)};
	rouse_source source;

	channel_open(env, &s.channel);
	channel_fill(env, &s.channel);
	assert_int_equal(
	        rouse_fd_add(env->loop, s.channel.fd, ROUSE_READABLE, nest_fd, &s, &source), 0);
	check_suspended(&s);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	channel_close(env, &s.channel);
}

static void l6_a_suspended_hung_up_descriptor_does_not_spin(void **state)
{
	struct env *env = *state;
	struct suspended s = {.env = env, .remote = rouse_loop_remote(env->loop)};
	rouse_source source;

	channel_open(env, &s.channel);
	channel_hang_up(env, &s.channel);
	assert_int_equal(
	        rouse_fd_add(env->loop, s.channel.fd, ROUSE_READABLE, nest_fd, &s, &source), 0);
	check_suspended(&s);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	channel_close(env, &s.channel);
}

static void l6_a_suspended_timer_waits_until_it_returns(void **state)
{
	struct env *env = *state;
	struct suspended s = {.env = env, .remote = rouse_loop_remote(env->loop)};
	rouse_source source;

	assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop), 0, 0, nest_timer, &s,
	                                 &source),
	                 0);
	check_suspended(&s);
	assert_int_equal(rouse_remove(env->loop, source), 0);
}

static void l6_a_suspended_waker_stays_pending(void **state)
{
	struct env *env = *state;
	struct suspended s = {.env = env, .remote = rouse_loop_remote(env->loop)};

	assert_int_equal(rouse_waker_create(env->loop, nest_wake, &s, &s.waker), 0);
	assert_true(rouse_wake(s.waker) >= 0);
	check_suspended(&s);
	env_drain(env);
	assert_int_equal(s.runs, 2);
	rouse_waker_unref(s.waker);
}

static void l6_a_suspended_hook_is_not_dispatched(void **state)
{
	struct env *env = *state;
	struct suspended s = {.env = env, .remote = rouse_loop_remote(env->loop)};
	rouse_hook hook = {.size = sizeof hook, .events = ROUSE_READABLE, .dispatch = nest_hook};
	rouse_source source;

	channel_open(env, &s.channel);
	channel_fill(env, &s.channel);
	hook.fd = s.channel.fd;
	assert_int_equal(rouse_hook_add(env->loop, &hook, &s, &source), 0);
	check_suspended(&s);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	channel_close(env, &s.channel);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(g3_a_dialog_in_a_callback_serves_posts_timers_and_descriptors),
	        env_test(l6_a_nested_turn_finishes_what_the_outer_one_had_gathered),
	        env_test(l6_what_was_gathered_comes_before_what_was_posted_since),
	        env_test(l6_a_suspended_descriptor_is_quiet_until_it_returns),
	        env_test(l6_a_suspended_hung_up_descriptor_does_not_spin),
	        env_test(l6_a_suspended_timer_waits_until_it_returns),
	        env_test(l6_a_suspended_waker_stays_pending),
	        env_test(l6_a_suspended_hook_is_not_dispatched),
	};

	return env_main(argc, argv, "nested", tests, sizeof tests / sizeof *tests);
}
