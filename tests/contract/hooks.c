/* Hooks: what a display may rely on around each wait. */
#include "env.h"

#include <string.h>

struct display {
	struct env *env;
	struct channel channel;
	rouse_source self;
	int queued;  /* events that no descriptor shows */
	int handled; /* by dispatch */
	unsigned most;
	unsigned ready, flags;
	int prepares, checks, dispatches, releases;
	char order[256]; /* p, c, d in the order of the calls */
	int remove_in;   /* 'p', 'c' or 'd' */
	void (*in_prepare)(struct display *display, rouse_loop *loop);
};

static void note(struct display *d, rouse_loop *loop, rouse_source self, char what)
{
	size_t length = strlen(d->order);

	if (length + 1 < sizeof d->order)
		d->order[length] = what;
	if (d->remove_in == what)
		assert_int_equal(rouse_remove(loop, self), 0);
}

static rouse_ns prepare(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	struct display *d = data;

	d->prepares++;
	d->flags |= flags;
	if (d->in_prepare)
		d->in_prepare(d, loop);
	note(d, loop, self, 'p');
	return d->queued ? 0 : ROUSE_NEVER;
}

static int check(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	struct display *d = data;

	d->checks++;
	d->ready |= ready;
	if (ready)
		d->queued++;
	note(d, loop, self, 'c');
	return d->queued > 0;
}

static int dispatch(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	struct display *d = data;
	int handled = d->queued < (int)budget ? d->queued : (int)budget;

	d->dispatches++;
	d->queued -= handled;
	d->handled += handled;
	if ((unsigned)handled > d->most)
		d->most = (unsigned)handled;
	note(d, loop, self, 'd');
	return handled;
}

static void release(rouse_loop *loop, void *data)
{
	(void)loop;
	((struct display *)data)->releases++;
}

static void attach(struct env *env, struct display *d, int with_fd)
{
	rouse_hook hook = {.size = sizeof hook,
	                   .fd = ROUSE_NO_FD,
	                   .prepare = prepare,
	                   .check = check,
	                   .dispatch = dispatch,
	                   .release = release};

	d->env = env;
	if (with_fd) {
		channel_open(env, &d->channel);
		hook.fd = d->channel.fd;
		hook.events = ROUSE_READABLE;
	}
	assert_int_equal(rouse_hook_add(env->loop, &hook, d, &d->self), 0);
}

static void never_sleeps_on_work_that_no_descriptor_shows(void **state)
{
	struct env *env = *state;
	struct display d = {0};

	attach(env, &d, 0);
	env_drain(env);
	d.queued = 3;
	/* A descriptor's host is told by code that touches a display between turns. */
	if (env->host == DESCRIPTOR)
		assert_int_equal(rouse_loop_prepare(env->loop, 0, NULL), 0);
	ENV_UNTIL(env, d.handled == 3);
	assert_int_equal(rouse_remove(env->loop, d.self), 0);
	assert_int_equal(d.releases, 1);
}

static void a_ready_descriptor_is_told_to_check(void **state)
{
	struct env *env = *state;
	struct display d = {0};

	attach(env, &d, 1);
	env_drain(env);
	assert_int_equal(d.ready, 0);
	channel_fill(env, &d.channel);
	ENV_UNTIL(env, d.handled == 1);
	assert_int_equal(d.ready, ROUSE_READABLE);
	channel_empty(env, &d.channel);
	env_drain(env);
	d.ready = 0;
	assert_int_equal(rouse_fd_set_events(env->loop, d.self, 0), 0);
	channel_fill(env, &d.channel);
	env_drain(env);
	assert_int_equal(d.ready, 0);
	assert_int_equal(rouse_fd_set_events(env->loop, d.self, ROUSE_READABLE), 0);
	ENV_UNTIL(env, d.ready);
	assert_int_equal(rouse_remove(env->loop, d.self), 0);
	channel_close(env, &d.channel);
}

static void each_check_has_its_prepare(void **state)
{
	struct env *env = *state;
	struct display d = {0};

	attach(env, &d, 0);
	for (int i = 0; i < 10; i++) {
		d.queued = i % 2;
		env_turn(env, 0);
	}
	for (const char *c = d.order; *c; c++) {
		if (*c == 'c')
			assert_true(c > d.order && c[-1] == 'p');
		if (*c == 'd')
			assert_true(c > d.order && c[-1] == 'c');
	}
	/* An intent may be held across a wait that is nobody's but the loop's own. */
	assert_int_equal(d.flags, env->host == DESCRIPTOR ? 0 : ROUSE_PREPARE_HOLD);
	env_close(env);
}

static void a_flood_is_served_within_the_budget(void **state)
{
	struct env *env = *state;
	struct display d = {0};

	env_close(env);
	env_open(env, 8);
	attach(env, &d, 0);
	d.queued = 100;
	ENV_UNTIL(env, d.handled == 100);
	assert_int_equal(d.most, 8);
	assert_int_equal(d.dispatches, 13);
	env_close(env);
}

static void removed_in_any_of_its_functions_it_is_not_called_again(void **state)
{
	static const char where[] = {'p', 'c', 'd'};
	struct env *env = *state;

	for (size_t i = 0; i < sizeof where; i++) {
		struct display d = {.remove_in = where[i], .queued = 1};
		struct display other = {.queued = 1};
		int calls;

		attach(env, &d, 1);
		attach(env, &other, 1);
		channel_fill(env, &d.channel);
		ENV_UNTIL(env, d.releases);
		calls = d.prepares + d.checks + d.dispatches;
		env_drain(env);
		ENV_UNTIL(env, other.handled);
		assert_int_equal(d.prepares + d.checks + d.dispatches, calls);
		assert_int_equal(d.releases, 1);
		assert_int_equal(rouse_remove(env->loop, d.self), ROUSE_ESTALE);
		assert_int_equal(rouse_remove(env->loop, other.self), 0);
		channel_close(env, &d.channel);
		channel_close(env, &other.channel);
	}
}

static struct display *late;

static void add_late(struct display *d, rouse_loop *loop)
{
	(void)loop;
	if (d->prepares == 1)
		attach(d->env, late, 0);
}

static void added_in_a_prepare_it_is_prepared_before_the_wait(void **state)
{
	struct env *env = *state;
	struct display first = {.in_prepare = add_late}, second = {.queued = 1};

	late = &second;
	attach(env, &first, 0);
	/* If the wait came first it would never end. */
	ENV_UNTIL(env, second.handled);
	env_close(env);
}

static void added_between_turns_it_is_prepared_before_the_host_sleeps(void **state)
{
	struct env *env = *state;
	struct display d = {.queued = 1};

	env_drain(env);
	attach(env, &d, 0);
	ENV_UNTIL(env, d.handled);
	env_close(env);
}

static void no_turn_from_inside(struct display *d, rouse_loop *loop)
{
	rouse_ns deadline;

	if (d->prepares > 1)
		return;
	assert_int_equal(rouse_loop_turn(loop, 0), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_destroy(loop), ROUSE_EBUSY);
}

static void a_prepare_cannot_turn_the_loop(void **state)
{
	struct env *env = *state;
	struct display d = {.in_prepare = no_turn_from_inside, .queued = 1};

	attach(env, &d, 0);
	ENV_UNTIL(env, d.handled);
	assert_true(d.prepares >= 1);
	env_close(env);
}

static void destroy_in_release(rouse_loop *loop, void *data)
{
	++*(int *)data;
	assert_int_equal(rouse_loop_destroy(loop), ROUSE_EBUSY);
	assert_int_equal(rouse_loop_turn(loop, 0), ROUSE_EBUSY);
}

static void a_release_can_neither_turn_nor_destroy_the_loop(void **state)
{
	struct env *env = *state;
	int releases = 0;
	rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD, .release = destroy_in_release};
	rouse_source source;

	assert_int_equal(rouse_hook_add(env->loop, &hook, &releases, &source), 0);
	assert_int_equal(rouse_remove(env->loop, source), 0);
	assert_int_equal(rouse_hook_add(env->loop, &hook, &releases, NULL), 0);
	env_close(env);
	assert_int_equal(releases, 2);
}

/* ---- A host that prepares again before it has dispatched ------------------------------- */

struct holder {
	struct channel channel;
	struct env *env;
	int holds, dispatches, posts_while_held;
};

static rouse_ns hold(rouse_loop *loop, rouse_source self, unsigned flags, void *data)
{
	(void)loop, (void)self;
	((struct holder *)data)->holds = (flags & ROUSE_PREPARE_HOLD) != 0;
	return ROUSE_NEVER;
}

/* It does not remember what it said. */
static int let_go(rouse_loop *loop, rouse_source self, unsigned ready, void *data)
{
	(void)loop, (void)self;
	((struct holder *)data)->holds = 0;
	return ready != 0;
}

static int dispatch_holder(rouse_loop *loop, rouse_source self, unsigned budget, void *data)
{
	struct holder *holder = data;

	(void)loop, (void)self, (void)budget;
	assert_false(holder->holds);
	channel_empty(holder->env, &holder->channel);
	holder->dispatches++;
	return 1;
}

static void post_of_holder(rouse_loop *loop, void *data)
{
	struct holder *holder = data;

	(void)loop;
	holder->posts_while_held += holder->holds;
}

static void prepared_anew_it_holds_nothing_while_callbacks_run(void **state)
{
	struct env *env = *state;
	struct holder holder = {.env = env};
	rouse_remote *remote = rouse_loop_remote(env->loop);
	rouse_hook hook = {.size = sizeof hook,
	                   .events = ROUSE_READABLE,
	                   .prepare = hold,
	                   .check = let_go,
	                   .dispatch = dispatch_holder};
	rouse_source self;
	rouse_ns deadline;

	channel_open(env, &holder.channel);
	hook.fd = holder.channel.fd;
	assert_int_equal(rouse_hook_add(env->loop, &hook, &holder, &self), 0);
	env_drain(env);
	assert_int_equal(rouse_loop_prepare(env->loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	assert_true(holder.holds);
	channel_fill(env, &holder.channel);
	assert_int_equal(rouse_post(remote, post_of_holder, &holder, NULL), 0);
	assert_int_equal(rouse_loop_check(env->loop, 1), 1);
	/* Its own nested loop may do so, or a host that takes its time. */
	assert_int_equal(rouse_loop_prepare(env->loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	assert_int_equal(deadline, 0);
	assert_true(holder.holds);
	/* What is the host's own comes first, and finds nothing held. */
	assert_int_equal(rouse_loop_check(env->loop, 1), 1);
	assert_false(holder.holds);
	assert_int_equal(rouse_loop_prepare(env->loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	assert_true(holder.holds);
	assert_int_equal(rouse_loop_dispatch(env->loop), 2);
	assert_int_equal(holder.posts_while_held, 0);
	assert_int_equal(holder.dispatches, 1);
	assert_int_equal(rouse_remove(env->loop, self), 0);
	rouse_remote_unref(remote);
	channel_close(env, &holder.channel);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(never_sleeps_on_work_that_no_descriptor_shows),
	        env_test(a_ready_descriptor_is_told_to_check),
	        env_test(each_check_has_its_prepare),
	        env_test(a_flood_is_served_within_the_budget),
	        env_test(removed_in_any_of_its_functions_it_is_not_called_again),
	        env_test(added_in_a_prepare_it_is_prepared_before_the_wait),
	        env_test(added_between_turns_it_is_prepared_before_the_host_sleeps),
	        env_test(a_prepare_cannot_turn_the_loop),
	        env_test(a_release_can_neither_turn_nor_destroy_the_loop),
	        env_test_in(prepared_anew_it_holds_nothing_while_callbacks_run, BRACKET),
	};

	return env_main(argc, argv, "hooks", tests, sizeof tests / sizeof *tests);
}
