/* Peers that hang up: while the descriptor is paused, and while its callback will not hear it. */
#include "env.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS ((rouse_ns)1000000)
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Everything that a peer can leave ---------------------------------------------------------
 */

struct kind {
	const char *name;
	void (*open)(int *fd, int *peer);
	unsigned asks, tells; /* what it is watched for; one of these at least is reported */
};

static void pipe_ends(int ends[2])
{
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
}

static void open_reader(int *fd, int *peer)
{
	int ends[2];

	pipe_ends(ends);
	*fd = ends[0];
	*peer = ends[1];
}

static void open_writer(int *fd, int *peer)
{
	int ends[2];
	char page[4096] = {0};

	pipe_ends(ends);
	*fd = ends[1];
	*peer = ends[0];
	/* A pipe that takes no more is writable again when its reader leaves, and no sooner. */
	while (write(*fd, page, sizeof page) > 0)
		;
}

static void open_socket(int *fd, int *peer)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
	                 0);
	*fd = ends[0];
	*peer = ends[1];
}

/* A peer that closes with something unread resets the connection. */
static void open_unread_socket(int *fd, int *peer)
{
	open_socket(fd, peer);
	assert_int_equal(write(*fd, "x", 1), 1);
}

static void open_terminal(int *fd, int *peer)
{
	char name[64];

	*fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	assert_true(*fd >= 0);
	assert_int_equal(grantpt(*fd) || unlockpt(*fd) || ptsname_r(*fd, name, sizeof name), 0);
	*peer = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	assert_true(*peer >= 0);
}

static void open_terminals_user(int *fd, int *peer)
{
	open_terminal(peer, fd);
}

static const struct kind real[] = {
        {"a pipe's reader", open_reader, ROUSE_READABLE, ROUSE_HANGUP},
        {"a pipe's writer", open_writer, ROUSE_WRITABLE, ROUSE_FDERROR},
        {"a socket", open_socket, ROUSE_READABLE, ROUSE_HANGUP},
        {"a socket that is reset", open_unread_socket, ROUSE_READABLE, ROUSE_FDERROR},
        {"a terminal's master", open_terminal, ROUSE_READABLE, ROUSE_HANGUP},
        {"a terminal's user", open_terminals_user, ROUSE_READABLE, ROUSE_HANGUP},
};
static const struct kind scripted[] = {
        {"a number with a hang-up", NULL, ROUSE_READABLE, ROUSE_HANGUP},
        {"a number with an error", NULL, ROUSE_WRITABLE, ROUSE_FDERROR},
};

struct line {
	const struct kind *kind;
	struct channel ends;
	rouse_source self;
	unsigned events;
	int runs;
};

static const struct kind *kind_of(struct env *env, size_t i)
{
	const struct kind *kinds = env->null ? scripted : real;

	return i < (env->null ? COUNT(scripted) : COUNT(real)) ? &kinds[i] : NULL;
}

/* Each of the loop's kinds in turn. */
#define EACH_KIND(env, kind)                                                                       \
	const struct kind *kind = kind_of((env), 0);                                               \
	for (size_t i_ = 0; (kind = kind_of((env), i_)); i_++)

static void note(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct line *line = data;

	(void)loop;
	assert_true(self.id == line->self.id);
	assert_int_equal(fd, line->ends.fd);
	line->events |= events;
	line->runs++;
}

static void watch(struct env *env, struct line *line, const struct kind *kind, unsigned events)
{
	*line = (struct line){.kind = kind};
	if (kind->open)
		kind->open(&line->ends.fd, &line->ends.peer);
	else
		channel_open(env, &line->ends);
	assert_int_equal(rouse_fd_add(env->loop, line->ends.fd, events, note, line, &line->self),
	                 0);
	assert_int_equal(env_drain(env), 0);
}

static void hang_up(struct env *env, struct line *line)
{
	if (env->null)
		assert_int_equal(rouse_null_script(env->loop, 0, line->ends.fd, line->kind->tells),
		                 0);
	else
		channel_hang_up(env, &line->ends);
}

static void unwatch(struct env *env, struct line *line)
{
	assert_int_equal(rouse_remove(env->loop, line->self), 0);
	channel_close(env, &line->ends);
}

static rouse_stats stats_of(struct env *env)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_loop_stats(env->loop, &stats), 0);
	return stats;
}

static void expect(int ok, const struct line *line, const char *what)
{
	if (!ok)
		fail_msg("%s: %s (%d runs, events %#x)", line->kind->name, what, line->runs,
		         line->events);
}

/* ---- F4 ---------------------------------------------------------------------------------------
 */

static void set_events(struct env *env, struct line *line, unsigned events)
{
	assert_int_equal(rouse_fd_set_events(env->loop, line->self, events), 0);
}

/* A wait until a timer fires is one wait.  What a hang-up may add is the end of the one it comes
 * in; a loop that turns for it would turn thousands of times. */
static void wait_in_peace(struct env *env, struct line *line)
{
	int fired = 0;
	uint64_t turns;

	assert_int_equal(env_drain(env), 0);
	turns = stats_of(env).turns;
	assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop) + 20 * MS, 0, 0,
	                                 count_timer, &fired, NULL),
	                 0);
	ENV_UNTIL(env, fired);
	expect(stats_of(env).turns - turns <= 5, line, "turns for nothing while paused");
	expect(line->runs == 0, line, "is called while paused");
}

static void resume(struct env *env, struct line *line, unsigned events)
{
	line->events = 0;
	line->runs = 0;
	set_events(env, line, events);
	ENV_UNTIL(env, line->runs);
	expect((line->events & line->kind->tells) != 0, line, "does not tell on resume");
	line->runs = 0;
}

static void f4_hang_up_while_paused_is_told_on_resume(void **state)
{
	struct env *env = *state;
	EACH_KIND(env, kind)
	{
		struct line line;

		watch(env, &line, kind, kind->asks);
		set_events(env, &line, 0);
		wait_in_peace(env, &line);
		hang_up(env, &line);
		wait_in_peace(env, &line);
		resume(env, &line, kind->asks);
		/* Paused anew: what was told is not told again. */
		set_events(env, &line, 0);
		wait_in_peace(env, &line);
		resume(env, &line, ROUSE_HANGUP);
		unwatch(env, &line);
	}
	/* Who pauses has not ignored it. */
	assert_int_equal(stats_of(env).hangups_ignored, 0);
}

static void f4_added_paused_and_hung_up_before_the_first_wait(void **state)
{
	struct env *env = *state;
	EACH_KIND(env, kind)
	{
		struct line line;

		watch(env, &line, kind, 0);
		hang_up(env, &line);
		wait_in_peace(env, &line);
		resume(env, &line, kind->asks);
		unwatch(env, &line);
	}
}

/* Whichever of two is called first pauses the other, which hung up in the same batch. */
struct couple {
	struct line lines[2];
	int calls;
};

static void pause_the_other(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                            void *data)
{
	struct couple *c = data;
	int me = fd == c->lines[1].ends.fd;

	(void)events;
	assert_true(self.id == c->lines[me].self.id);
	c->calls++;
	c->lines[me].runs++;
	assert_int_equal(rouse_fd_set_events(loop, c->lines[!me].self, 0), 0);
}

static void f4_paused_after_it_was_reported(void **state)
{
	struct env *env = *state;
	EACH_KIND(env, kind)
	{
		struct couple c = {.calls = 0};
		int paused;

		for (int i = 0; i < 2; i++) {
			watch(env, &c.lines[i], kind, kind->asks);
			assert_int_equal(rouse_remove(env->loop, c.lines[i].self), 0);
			assert_int_equal(rouse_fd_add(env->loop, c.lines[i].ends.fd, kind->asks,
			                              pause_the_other, &c, &c.lines[i].self),
			                 0);
		}
		for (int i = 0; i < 2; i++)
			hang_up(env, &c.lines[i]);
		for (int i = 0; i < 10; i++)
			env_turn(env, 0);
		paused = c.lines[0].runs ? 1 : 0;
		expect(c.lines[!paused].runs >= 5, &c.lines[!paused], "is not told");
		expect(c.lines[paused].runs == 0, &c.lines[paused], "is called while paused");
		for (int i = 0; i < 2; i++)
			unwatch(env, &c.lines[i]);
	}
}

/* ---- F6 ---------------------------------------------------------------------------------------
 */

static void f6_hang_up_is_told(void **state)
{
	struct env *env = *state;
	EACH_KIND(env, kind)
	{
		const unsigned asks[] = {ROUSE_READABLE, ROUSE_WRITABLE, ROUSE_HANGUP};

		for (size_t i = 0; i < COUNT(asks); i++) {
			struct line line;

			/* Sockets and terminals are writable from the beginning. */
			if (asks[i] == ROUSE_WRITABLE && kind->asks != ROUSE_WRITABLE)
				continue;
			watch(env, &line, kind, asks[i]);
			hang_up(env, &line);
			ENV_UNTIL(env, line.runs);
			expect((line.events & kind->tells) != 0, &line, "does not tell");
			expect(!(line.events & (ROUSE_READABLE | ROUSE_WRITABLE) & ~asks[i]), &line,
			       "tells what was not asked for");
			unwatch(env, &line);
			/* Removed, it is silent. */
			assert_int_equal(env_drain(env), 0);
		}
	}
}

static void f6_a_callback_that_ignores_it_is_called_once_a_turn(void **state)
{
	struct env *env = *state;
	EACH_KIND(env, kind)
	{
		const int rounds = 20;
		struct line line;
		uint64_t turns, ignored;

		watch(env, &line, kind, kind->asks);
		hang_up(env, &line);
		turns = stats_of(env).turns;
		ignored = stats_of(env).hangups_ignored;
		for (int i = 0; i < rounds; i++) {
			int before = line.runs;

			/* A guest's host may be woken for its own ring first. */
			while (env_turn(env, ROUSE_NEVER) == 0)
				;
			expect(line.runs == before + 1, &line, "is not called once a turn");
		}
		turns = stats_of(env).turns - turns;
		expect(turns >= (uint64_t)rounds && turns <= (uint64_t)rounds + 5, &line,
		       "does not end the wait each time");
		/* All but the first were ignored. */
		assert_int_equal(stats_of(env).hangups_ignored - ignored, line.runs - 1);
		unwatch(env, &line);
		assert_int_equal(env_drain(env), 0);
	}
}

/* Beside those that ignore it: one of everything else that can be ready all the time. */
struct neighbours {
	struct channel channel;
	rouse_source descriptor, timer;
	rouse_remote *remote;
	int reads, firings, posts;
};

static void fire_again(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)deadline;
	((struct neighbours *)data)->firings++;
	assert_int_equal(rouse_timer_set(loop, self, rouse_loop_now(loop), 0, 0), 0);
}

static void post_again(rouse_loop *loop, void *data)
{
	struct neighbours *n = data;

	(void)loop;
	n->posts++;
	assert_int_equal(rouse_post(n->remote, post_again, n, NULL), 0);
}

static void move_in(struct env *env, struct neighbours *n)
{
	*n = (struct neighbours){.remote = rouse_loop_remote(env->loop)};
	channel_open(env, &n->channel);
	channel_fill(env, &n->channel);
	assert_int_equal(rouse_fd_add(env->loop, n->channel.fd, ROUSE_READABLE, count_fd, &n->reads,
	                              &n->descriptor),
	                 0);
	assert_int_equal(rouse_timer_add(env->loop, 1, 0, 0, fire_again, n, &n->timer), 0);
	assert_int_equal(rouse_post(n->remote, post_again, n, NULL), 0);
}

static void move_out(struct env *env, struct neighbours *n)
{
	assert_int_equal(rouse_remove(env->loop, n->descriptor), 0);
	channel_close(env, &n->channel);
	rouse_remote_unref(n->remote);
	env_close(env);
}

static void starves_nobody(struct env *env, unsigned max_batch, int ignorers, int rounds)
{
	struct line lines[COUNT(real)];
	struct neighbours n;
	const int few = 3;
	/* One of these descriptors is called so often. */
	const int share = max_batch ? rounds * (int)max_batch / (ignorers + 1) : rounds;
	int turns = 0;

	env_close(env);
	env_open(env, max_batch);
	for (int i = 0; i < ignorers; i++) {
		const struct kind *kind = kind_of(env, (size_t)i);

		watch(env, &lines[i], kind, kind->asks);
	}
	move_in(env, &n);
	for (int i = 0; i < ignorers; i++)
		hang_up(env, &lines[i]);
	while (turns < rounds)
		turns += env_turn(env, ROUSE_NEVER) > 0;
	assert_in_range(n.posts, rounds - few, rounds);
	assert_in_range(n.firings, rounds - few, rounds);
	assert_in_range(n.reads, share - few, share + few);
	for (int i = 0; i < ignorers; i++)
		expect(lines[i].runs >= share - few && lines[i].runs <= share + few, &lines[i],
		       "has not its share");
	for (int i = 0; i < ignorers; i++)
		unwatch(env, &lines[i]);
	move_out(env, &n);
	env_open(env, 0);
}

static void f6_ignored_hang_ups_starve_nobody(void **state)
{
	struct env *env = *state;
	const int ignorers = env->null ? (int)COUNT(scripted) : (int)COUNT(real);

	starves_nobody(env, 0, ignorers, 60);
	starves_nobody(env, 1, ignorers, 60);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f4_hang_up_while_paused_is_told_on_resume),
	        env_test(f4_added_paused_and_hung_up_before_the_first_wait),
	        env_test(f4_paused_after_it_was_reported),
	        env_test(f6_hang_up_is_told),
	        env_test(f6_a_callback_that_ignores_it_is_called_once_a_turn),
	        env_test(f6_ignored_hang_ups_starve_nobody),
	};

	return env_main(argc, argv, "hangups", tests, sizeof tests / sizeof *tests);
}
