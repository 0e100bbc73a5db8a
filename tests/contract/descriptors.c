/* Descriptors, scripted ones too. */
#include "env.h"

#include <unistd.h>

#define MS ((rouse_ns)1000000)

struct seen {
	struct env *env;
	struct channel *channel;
	rouse_source self;
	unsigned events;
	int runs;
	void (*then)(struct seen *seen, rouse_loop *loop, unsigned events);
};

static void note(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct seen *s = data;

	assert_int_equal(fd, s->channel->fd);
	assert_true(self.id == s->self.id);
	s->events |= events;
	s->runs++;
	if (s->then)
		s->then(s, loop, events);
}

static void watch(struct env *env, struct seen *s, struct channel *channel, unsigned events)
{
	s->env = env;
	s->channel = channel;
	assert_int_equal(rouse_fd_add(env->loop, channel->fd, events, note, s, &s->self), 0);
}

static void called_as_long_as_it_is_ready(void **state)
{
	struct env *env = *state;
	struct channel channel;
	struct seen s = {0};

	channel_open(env, &channel);
	watch(env, &s, &channel, ROUSE_READABLE);
	assert_int_equal(env_drain(env), 0);
	channel_fill(env, &channel);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(env_turn(env, ROUSE_NEVER), 1);
		assert_int_equal(s.runs, i);
	}
	assert_int_equal(s.events, ROUSE_READABLE);
	channel_empty(env, &channel);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(rouse_remove(env->loop, s.self), 0);
	channel_fill(env, &channel);
	assert_int_equal(env_drain(env), 0);
	channel_close(env, &channel);
}

static void paused_reports_nothing_until_resumed(void **state)
{
	struct env *env = *state;
	rouse_ns begin;
	struct channel channel;
	struct seen s = {0};

	channel_open(env, &channel);
	channel_fill(env, &channel);
	watch(env, &s, &channel, 0);
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(rouse_fd_set_events(env->loop, s.self, ROUSE_READABLE), 0);
	ENV_UNTIL(env, s.runs);
	assert_int_equal(rouse_fd_set_events(env->loop, s.self, 0), 0);
	channel_hang_up(env, &channel);
	s.events = 0;
	s.runs = 0;
	assert_int_equal(env_drain(env), 0);
	assert_int_equal(s.runs, 0);
	/* And it ends no wait: a host may round down to its milliseconds. */
	begin = rouse_loop_now(env->loop);
	env_turn(env, 20 * MS);
	assert_true(rouse_loop_now(env->loop) - begin >= 18 * MS);
	assert_int_equal(rouse_fd_set_events(env->loop, s.self, ROUSE_HANGUP), 0);
	ENV_UNTIL(env, s.runs);
	assert_true(s.events & ROUSE_HANGUP);
	assert_int_equal(rouse_remove(env->loop, s.self), 0);
	channel_close(env, &channel);
}

/* ---- F1 -------------------------------------------------------------------------------- */

struct swap {
	struct seen one, two, newcomer;
	struct channel channels[2], fresh;
	int swapped;
};

/* Whichever of two ready ones runs first puts a newcomer at the other's number. */
static void replace_other(struct swap *w, rouse_loop *loop, struct seen *other, int index)
{
	rouse_fd number = w->channels[index].fd;

	if (w->swapped)
		return;
	w->swapped = 1 + index;
	assert_int_equal(rouse_remove(loop, other->self), 0);
	channel_close(other->env, &w->channels[index]);
	if (other->env->null)
		w->fresh = (struct channel){.fd = number, .peer = ROUSE_NO_FD};
	else
		channel_open(other->env, &w->fresh);
	assert_int_equal(w->fresh.fd, number);
	watch(other->env, &w->newcomer, &w->fresh, ROUSE_READABLE);
}

static struct swap *swapping;

static void swap_from_one(struct seen *s, rouse_loop *loop, unsigned events)
{
	(void)s;
	(void)events;
	replace_other(swapping, loop, &swapping->two, 1);
}

static void swap_from_two(struct seen *s, rouse_loop *loop, unsigned events)
{
	(void)s;
	(void)events;
	replace_other(swapping, loop, &swapping->one, 0);
}

static void f1_an_old_event_does_not_reach_a_numbers_new_owner(void **state)
{
	struct env *env = *state;
	struct swap w = {.one.then = swap_from_one, .two.then = swap_from_two};

	ENV_REUSES_NUMBERS(env);
	swapping = &w;
	for (int i = 0; i < 2; i++) {
		channel_open(env, &w.channels[i]);
		channel_fill(env, &w.channels[i]);
	}
	watch(env, &w.one, &w.channels[0], ROUSE_READABLE);
	watch(env, &w.two, &w.channels[1], ROUSE_READABLE);
	ENV_UNTIL(env, w.swapped);
	assert_int_equal(w.one.runs + w.two.runs, 1);
	for (int i = 0; i < 3; i++)
		env_turn(env, 0);
	assert_int_equal(w.newcomer.runs, 0);
	channel_fill(env, &w.fresh);
	ENV_UNTIL(env, w.newcomer.runs);
	/* The one that is left, and the newcomer, are still watched. */
	assert_int_equal(rouse_remove(env->loop, w.swapped == 2 ? w.one.self : w.two.self), 0);
	assert_int_equal(rouse_remove(env->loop, w.newcomer.self), 0);
	channel_close(env, &w.channels[w.swapped == 2 ? 0 : 1]);
	channel_close(env, &w.fresh);
}

/* ---- F3 -------------------------------------------------------------------------------- */

static void f3_remove_then_close_and_close_then_remove(void **state)
{
	struct env *env = *state;
	struct channel channel, reused;
	struct seen s = {0}, other = {0};
	rouse_fd number;

	ENV_REUSES_NUMBERS(env);
	channel_open(env, &channel);
	watch(env, &s, &channel, ROUSE_READABLE);
	assert_int_equal(rouse_remove(env->loop, s.self), 0);
	channel_close(env, &channel);
	assert_int_equal(env_drain(env), 0);

	channel_open(env, &channel);
	number = channel.fd;
	watch(env, &s, &channel, ROUSE_READABLE);
	if (env->null) {
		/* A scripted number is never closed: it stays its owner's. */
		assert_int_equal(
		        rouse_fd_add(env->loop, number, ROUSE_READABLE, note, &other, NULL),
		        ROUSE_EEXIST);
		assert_int_equal(rouse_remove(env->loop, s.self), 0);
		return;
	}
	channel_close(env, &channel);
	channel_open(env, &reused);
	assert_int_equal(reused.fd, number);
	watch(env, &other, &reused, ROUSE_READABLE);
	assert_int_equal(rouse_fd_add(env->loop, number, ROUSE_READABLE, note, &other, NULL),
	                 ROUSE_EEXIST);
	/* The first source's descriptor is gone, and its number is another's. */
	assert_int_equal(rouse_fd_set_events(env->loop, s.self, 0), ROUSE_EOS);
	assert_int_equal(rouse_remove(env->loop, s.self), 0);
	channel_fill(env, &reused);
	ENV_UNTIL(env, other.runs);
	assert_int_equal(s.runs, 0);
	assert_int_equal(rouse_remove(env->loop, other.self), 0);
	channel_close(env, &reused);
}

/* ---- F5, F7 ------------------------------------------------------------------------------ */

static void f7_readable_and_writable_arrive_with_a_batch_of_one(void **state)
{
	struct env *env = *state;
	struct channel channels[2];
	struct seen seen[2] = {{0}, {0}};

	env_close(env);
	env_open(env, 1);
	for (int i = 0; i < 2; i++) {
		channel_open(env, &channels[i]);
		channel_fill(env, &channels[i]);
		watch(env, &seen[i], &channels[i], ROUSE_READABLE);
	}
	for (int runs = 0; runs < 20; runs++) {
		/* A guest's host may be woken for its own ring first. */
		while (env_turn(env, ROUSE_NEVER) == 0)
			;
		assert_int_equal(seen[0].runs + seen[1].runs, runs + 1);
	}
	/* They take turns. */
	assert_in_range(seen[0].runs, 9, 11);
	assert_in_range(seen[1].runs, 9, 11);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rouse_remove(env->loop, seen[i].self), 0);
		channel_close(env, &channels[i]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(called_as_long_as_it_is_ready),
	        env_test(paused_reports_nothing_until_resumed),
	        env_test(f1_an_old_event_does_not_reach_a_numbers_new_owner),
	        env_test(f3_remove_then_close_and_close_then_remove),
	        env_test(f7_readable_and_writable_arrive_with_a_batch_of_one),
	};

	return env_main(argc, argv, "descriptors", tests, sizeof tests / sizeof *tests);
}
