#include "haunt.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static void note(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct watched *w = data;

	assert_int_equal(fd, w->fd);
	/* Once it was said to be gone, nothing more is said of it. */
	assert_int_equal(w->errors, 0);
	w->runs++;
	w->errors += (events & ROUSE_FDERROR) != 0;
	if (w->errors && w->removes_itself)
		assert_int_equal(rouse_remove(loop, self), 0);
}

void watch(struct env *env, struct watched *w, int fd, unsigned events)
{
	*w = (struct watched){.fd = fd};
	assert_int_equal(rouse_fd_add(env->loop, fd, events, note, w, &w->self), 0);
}

void make_honest(struct env *env, struct ghost *g)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	g->peer = ends[1];
	g->copy = -1;
	watch(env, &g->watched, ends[0], ROUSE_READABLE);
}

void let_haunt(struct ghost *g)
{
	g->copy = fcntl(g->watched.fd, F_DUPFD_CLOEXEC, COPIES);
	assert_true(g->copy >= COPIES);
	close(g->watched.fd);
}

void make_ghost(struct env *env, struct ghost *g)
{
	make_honest(env, g);
	let_haunt(g);
}

void finish_ghost(struct ghost *g)
{
	if (g->copy >= 0)
		close(g->copy);
	close(g->peer);
}

rouse_stats stats(struct env *env)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_loop_stats(env->loop, &stats), 0);
	return stats;
}

/* ---- Whether the loop sleeps -------------------------------------------------------- */

atomic_int naps;

void note_nap(enum rouse__point point, void *data)
{
	(void)data;
	if (point == ROUSE__MARKED_ASLEEP)
		atomic_fetch_add(&naps, 1);
}

static void *post_into_its_sleep(void *data)
{
	struct env *env = ((void **)data)[0];
	rouse_remote *remote = rouse_loop_remote(env->loop);

	while (!atomic_load(&naps))
		sched_yield();
	if (rouse_post(remote, count_run, ((void **)data)[1], NULL) < 0)
		return env;
	rouse_remote_unref(remote);
	return NULL;
}

void assert_sleeps(struct env *env)
{
	int posted = 0;
	void *data[2] = {env, &posted};
	pthread_t thread;
	rouse_ns begin;

	assert_int_equal(env_drain(env), 0);
	begin = rouse_loop_now(env->loop);
	assert_int_equal(env_turn(env, 20 * MS), 0);
	assert_true(rouse_loop_now(env->loop) - begin >= 18 * MS);
	atomic_store(&naps, 0);
	rouse__fault_pause(note_nap, NULL);
	thread = env_start(post_into_its_sleep, data);
	ENV_UNTIL(env, posted);
	rouse__fault_pause(NULL, NULL);
	/* The wake is one wait's end; a late ring may be another's. */
	assert_in_range(atomic_load(&naps), 1, 2);
	env_join(thread);
	env_drain(env);
}

void turn_until_told(struct env *env, const struct watched *w)
{
	int turns = 0;

	while (!w->errors) {
		env_turn(env, ROUSE_NEVER);
		assert_in_range(++turns, 1, PATIENCE);
	}
}

void turn_until_quiet(struct env *env)
{
	int turns = 0, quiet = 0;

	while (quiet < 3) {
		rouse_ns begin = rouse_loop_now(env->loop);

		env_turn(env, 4 * MS);
		quiet = rouse_loop_now(env->loop) - begin >= 3 * MS ? quiet + 1 : 0;
		assert_in_range(++turns, 1, PATIENCE);
	}
}
