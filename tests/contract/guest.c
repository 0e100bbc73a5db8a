/* A guest: what its descriptor says to the host, and how a loop becomes one. */
#include "env.h"

#include "core/fault.h"

#define MS ((rouse_ns)1000000)

struct served {
	struct env *env;
	rouse_remote *remote;
	int posts, timers, readable;
	struct channel channel;
};

/* ---- G1 --------------------------------------------------------------------------------- */

static void *post_one(void *data)
{
	struct served *d = data;

	return rouse_post(d->remote, count_run, &d->posts, NULL) < 0 ? d : NULL;
}

static void g1_the_descriptor_is_readable_while_there_is_work(void **state)
{
	struct env *env = *state;
	struct served d = {.env = env, .remote = rouse_loop_remote(env->loop)};
	pthread_t thread;
	rouse_source source;

	env_drain(env);
	assert_int_equal(env_readable(env), 0);

	assert_int_equal(pthread_create(&thread, NULL, post_one, &d), 0);
	env_wait_readable(env);
	assert_int_equal(env_readable(env), 1);
	assert_int_equal(rouse_loop_turn(env->loop, 0), 1);
	pthread_join(thread, NULL);
	env_drain(env);
	assert_int_equal(env_readable(env), 0);

	/* A timer that the host's own code adds between two turns. */
	assert_int_equal(rouse_timer_add(env->loop, rouse_now() + 1000000 * MS, 0, 0, count_timer,
	                                 &d.timers, NULL),
	                 0);
	assert_int_equal(env_readable(env), 0);
	assert_int_equal(
	        rouse_timer_add(env->loop, rouse_now() + MS, 0, 0, count_timer, &d.timers, NULL),
	        0);
	env_wait_readable(env);
	assert_int_equal(rouse_loop_turn(env->loop, 0), 1);
	assert_int_equal(env_readable(env), 0);
	assert_int_equal(rouse_timer_add(env->loop, 0, 0, 0, count_timer, &d.timers, NULL), 0);
	assert_int_equal(env_readable(env), 1);
	assert_int_equal(rouse_loop_turn(env->loop, 0), 1);
	assert_int_equal(env_readable(env), 0);

	channel_open(env, &d.channel);
	channel_fill(env, &d.channel);
	assert_int_equal(rouse_fd_add(env->loop, d.channel.fd, ROUSE_READABLE, count_fd,
	                              &d.readable, &source),
	                 0);
	assert_int_equal(env_readable(env), 1);
	assert_int_equal(rouse_loop_turn(env->loop, 0), 1);
	assert_int_equal(env_readable(env), 1);
	channel_empty(env, &d.channel);
	assert_int_equal(env_readable(env), 0);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	channel_close(env, &d.channel);

	/* Two of them in one turn: the ring that covered the second is taken back. */
	for (int i = 0; i < 2; i++)
		assert_true(rouse_post(d.remote, count_run, &d.posts, NULL) >= 0);
	assert_int_equal(rouse_loop_turn(env->loop, 0), 2);
	assert_int_equal(env_readable(env), 0);
	rouse_remote_unref(d.remote);
}

static void g1_work_over_the_budget_keeps_it_readable(void **state)
{
	struct env *env = *state;
	rouse_remote *remote;
	int posts = 0, timers = 0;

	env_close(env);
	env_open(env, 4);
	remote = rouse_loop_remote(env->loop);
	env_drain(env);
	for (int i = 0; i < 10; i++) {
		assert_true(rouse_post(remote, count_run, &posts, NULL) >= 0);
		assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop), 0, 0,
		                                 count_timer, &timers, NULL),
		                 0);
	}
	ENV_UNTIL(env, posts == 10 && timers == 10);
	assert_int_equal(env_drain(env), 0);
	rouse_remote_unref(remote);
}

/* A host that was told deadlines and then asks for the descriptor may go by that alone. */
static void g1_a_descriptor_asked_for_late_carries_timers_too(void **state)
{
	struct env *env = *state;
	struct served d = {.env = env};
	rouse_ns deadline;

	assert_int_equal(rouse_loop_destroy(env->loop), 0);
	assert_int_equal(rouse_loop_create(NULL, &env->loop), 0);
	assert_int_equal(rouse_timer_add(env->loop, rouse_now() + 2 * MS, 0, 0, count_timer,
	                                 &d.timers, NULL),
	                 0);
	assert_int_equal(rouse_loop_prepare(env->loop, 0, &deadline), 0);
	while (!d.timers) {
		env_wait_readable(env);
		assert_true(rouse_loop_turn(env->loop, 0) >= 0);
	}
}

/* ---- G2, G4 ------------------------------------------------------------------------------ */

struct changes {
	rouse_source timer, fd;
	struct channel channel;
	int ran, unwanted;
};

static void change_much(rouse_loop *loop, void *data)
{
	struct changes *c = data;
	rouse_ns now = rouse_loop_now(loop), far = 3600000 * MS;
	rouse_source passing;
	rouse_waker *waker;

	assert_int_equal(
	        rouse_timer_add(loop, now + far, 0, 0, count_timer, &c->unwanted, &passing), 0);
	assert_int_equal(rouse_timer_set(loop, c->timer, now + far / 2, 0, 0), 0);
	assert_int_equal(rouse_timer_set(loop, passing, now + far / 3, 0, 0), 0);
	assert_int_equal(rouse_remove(loop, passing), 0);
	assert_int_equal(rouse_fd_set_events(loop, c->fd, 0), 0);
	assert_int_equal(rouse_fd_set_events(loop, c->fd, ROUSE_READABLE), 0);
	assert_int_equal(rouse_waker_create(loop, count_run, &c->unwanted, &waker), 0);
	assert_int_equal(rouse_waker_close(waker), 0);
	rouse_waker_unref(waker);
	c->ran++;
}

static void change_much_in_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self, (void)deadline;
	change_much(loop, data);
}

static void g2_changes_inside_a_turn_wake_no_host(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);
	struct changes c = {.ran = 0};

	channel_open(env, &c.channel);
	assert_int_equal(
	        rouse_timer_add(env->loop, ROUSE_NEVER, 0, 0, count_timer, &c.unwanted, &c.timer),
	        0);
	assert_int_equal(
	        rouse_fd_add(env->loop, c.channel.fd, ROUSE_READABLE, count_fd, &c.unwanted, &c.fd),
	        0);
	env_drain(env);
	assert_int_equal(env_readable(env), 0);
	/* Alone in its turn; and with more, for which the loop rings itself. */
	for (int more = 0; more < 3; more++) {
		c.ran = 0;
		for (int i = 0; i <= more; i++)
			assert_true(rouse_post(remote, change_much, &c, NULL) >= 0);
		assert_int_equal(
		        rouse_timer_add(env->loop, 0, 0, 0, change_much_in_timer, &c, NULL), 0);
		assert_int_equal(rouse_loop_turn(env->loop, 0), more + 2);
		assert_int_equal(env_readable(env), 0);
	}
	/* By the host's own code. */
	change_much(env->loop, &c);
	assert_int_equal(env_readable(env), 0);
	assert_int_equal(c.unwanted, 0);
	rouse_remote_unref(remote);
	assert_int_equal(rouse_remove(env->loop, c.fd), 0);
	channel_close(env, &c.channel);
}

static void count_release(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
}

static void a_hook_of_nothing_but_a_release_wakes_no_host(void **state)
{
	struct env *env = *state;
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .release = count_release};
	rouse_remote *remote = rouse_loop_remote(env->loop);
	int released = 0, posts = 0;
	unsigned rings;
	rouse_source source;

	env_drain(env);
	assert_int_equal(rouse_hook_add(env->loop, &hook, &released, &source), 0);
	assert_int_equal(rouse_hook_add(env->loop, &hook, &released, NULL), 0);
	assert_int_equal(env_readable(env), 0);
	rings = rouse__fault_count(ROUSE__RING);
	assert_true(rouse_post(remote, count_run, &posts, NULL) >= 0);
	assert_int_equal(rouse_loop_turn(env->loop, 0), 1);
	/* A display's hook is another matter. */
	rings = rouse__fault_count(ROUSE__RING) - rings;
	assert_in_range(rings, 1, 1 + env_own_rings(env));
	assert_int_equal(rouse_remove(env->loop, source), 0);
	assert_int_equal(released, 1);
	rouse_remote_unref(remote);
	assert_int_equal(rouse_loop_destroy(env->loop), 0);
	env->loop = NULL;
	assert_int_equal(released, 2);
}

static void g4_a_guest_turns_no_loop_but_itself(void **state)
{
	struct env *env = *state, other;
	rouse_remote *remote = rouse_loop_remote(env->loop), *others;
	int ran = 0, strangers = 0;

	env_open(&other, 0);
	others = rouse_loop_remote(other.loop);
	assert_int_equal(rouse_timer_add(other.loop, 0, 0, 0, count_timer, &strangers, NULL), 0);
	for (int i = 1; i <= 10; i++) {
		assert_true(rouse_post(remote, count_run, &ran, NULL) >= 0);
		assert_true(rouse_post(others, count_run, &strangers, NULL) >= 0);
		ENV_UNTIL(env, ran == i);
		env_drain(env);
		assert_int_equal(strangers, 0);
	}
	ENV_UNTIL(&other, strangers == 11);
	assert_int_equal(ran, 10);
	rouse_remote_unref(others);
	rouse_remote_unref(remote);
	env_close(&other);
}

/* ---- Becoming a guest ---------------------------------------------------------------------------
 */

static void become_guest(rouse_loop *loop, void *data)
{
	struct served *d = data;
	rouse_ns deadline;
	rouse_fd fd;

	assert_true(rouse_post(d->remote, count_run, &d->posts, NULL) >= 0);
	if (d->env->host == DESCRIPTOR)
		assert_int_equal(rouse_loop_fd(loop, &fd), 0);
	else
		assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
}

/* What was queued while the loop was its own has rung nobody. */
static void a_loop_that_becomes_a_guest_forgets_nothing(void **state)
{
	struct env *env = *state;
	struct served d = {.env = env};
	rouse_loop_options options = {.size = sizeof options};

	for (int inside = 0; inside < 2; inside++) {
		options.poller = rouse_loop_poller(env->loop);
		assert_int_equal(rouse_loop_destroy(env->loop), 0);
		assert_int_equal(rouse_loop_create(&options, &env->loop), 0);
		d.remote = rouse_loop_remote(env->loop);
		d.posts = 0;
		if (inside) {
			assert_true(rouse_post(d.remote, become_guest, &d, NULL) >= 0);
			assert_int_equal(rouse_loop_turn(env->loop, ROUSE_NEVER), 1);
		} else {
			become_guest(env->loop, &d);
		}
		assert_int_equal(rouse_loop_turn(env->loop, ROUSE_NEVER), 1);
		assert_int_equal(d.posts, 1);
		rouse_remote_unref(d.remote);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test_in(g1_the_descriptor_is_readable_while_there_is_work, DESCRIPTOR),
	        env_test(g1_work_over_the_budget_keeps_it_readable),
	        env_test_in(g1_a_descriptor_asked_for_late_carries_timers_too, DESCRIPTOR),
	        env_test_in(g2_changes_inside_a_turn_wake_no_host, DESCRIPTOR),
	        env_test_in(a_hook_of_nothing_but_a_release_wakes_no_host, DESCRIPTOR),
	        env_test(g4_a_guest_turns_no_loop_but_itself),
	        env_test(a_loop_that_becomes_a_guest_forgets_nothing),
	};

	return env_main(argc, argv, "guest", tests, sizeof tests / sizeof *tests);
}
