/* Lifetimes of children's sources: removed first, by whom ever, they are the caller's to wait for.
 */
#include "kids.h"

#include "core/fault.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Removed ------------------------------------------------------------------------ */

static void removed_first_it_is_the_callers(void **state)
{
	struct env *env = *state;
	struct kid kid;

	for (int ended = 0; ended < 2; ended++) {
		kid_spawn(&kid, 2);
		kid_watch(env, &kid);
		if (ended)
			kid_end(&kid);
		assert_int_equal(rouse_remove(env->loop, kid.self), 0);
		assert_int_equal(rouse_remove(env->loop, kid.self), ROUSE_ESTALE);
		assert_true(sigchld_is_default());
		if (!ended)
			kid_end(&kid);
		assert_int_equal(env_drain(env), 0);
		assert_int_equal(kid.runs, 0);
		kid_left_to_us(&kid);
	}
}

static void l3_a_callback_removes_its_own_source(void **state)
{
	struct env *env = *state;
	struct kid kid;

	kid_spawn(&kid, 6);
	kid.removes = &kid;
	kid_watch(env, &kid);
	kid_let_go(&kid);
	ENV_UNTIL(env, kid.runs);
	kid_told(env, &kid, 6, 0);
}

static void l3_one_of_a_batch_removes_the_other(void **state)
{
	struct env *env = *state;
	struct kid kids[2];
	int ran;

	for (int i = 0; i < 2; i++)
		kid_spawn(&kids[i], i);
	for (int i = 0; i < 2; i++) {
		kids[i].removes = &kids[1 - i];
		kid_watch(env, &kids[i]);
	}
	for (int i = 0; i < 2; i++)
		kid_end(&kids[i]);
	ENV_UNTIL(env, kids[0].runs + kids[1].runs);
	assert_int_equal(env_drain(env), 0);
	ran = kids[1].runs;
	assert_int_equal(kids[ran].runs, 1);
	assert_int_equal(kids[1 - ran].runs, 0);
	kid_told(env, &kids[ran], (unsigned)ran, 0);
	/* Reported in the same batch, and not told: so it was not waited for either. */
	kid_left_to_us(&kids[1 - ran]);
}

struct remover {
	struct kid *kid;
	struct channel channel;
	int runs;
};

static void remove_by_post(rouse_loop *loop, void *data)
{
	struct remover *r = data;

	r->runs++;
	assert_int_equal(rouse_remove(loop, r->kid->self), 0);
}

static void remove_by_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)self;
	(void)deadline;
	remove_by_post(loop, data);
}

/* What a turn gathered: posts and timers come before the children that ended. */
static void l3_removed_by_a_post_or_a_timer_of_the_same_turn(void **state)
{
	struct env *env = *state;
	rouse_remote *remote = rouse_loop_remote(env->loop);

	for (int timer = 0; timer < 2; timer++) {
		struct remover r = {0};
		struct kid kid;

		kid_spawn(&kid, 8);
		r.kid = &kid;
		kid_watch(env, &kid);
		env_drain(env);
		kid_end(&kid);
		if (timer)
			assert_int_equal(rouse_timer_add(env->loop, rouse_loop_now(env->loop), 0, 0,
			                                 remove_by_timer, &r, NULL),
			                 0);
		else
			assert_int_equal(rouse_post(remote, remove_by_post, &r, NULL), 0);
		ENV_UNTIL(env, r.runs);
		assert_int_equal(env_drain(env), 0);
		assert_int_equal(kid.runs, 0);
		kid_left_to_us(&kid);
		assert_true(sigchld_is_default());
	}
	rouse_remote_unref(remote);
}

struct respawn {
	struct kid kid;
	int left, runs;
};

static void spawn_again(rouse_loop *loop, rouse_source self, rouse_process process,
                        const rouse_exit *how, void *data)
{
	struct respawn *r = data;

	(void)self;
	assert_int_equal(process, r->kid.pid);
	assert_int_equal(how->known, 1);
	assert_int_equal(how->code, r->left);
	r->runs++;
	if (--r->left == 0)
		return;
	kid_spawn(&r->kid, r->left);
	assert_int_equal(rouse_child_add(loop, r->kid.pid, spawn_again, r, NULL), 0);
	kid_end(&r->kid);
}

static void l5_a_callback_adds_the_next_child(void **state)
{
	struct env *env = *state;
	struct respawn r = {.left = 5};

	kid_spawn(&r.kid, r.left);
	assert_int_equal(rouse_child_add(env->loop, r.kid.pid, spawn_again, &r, NULL), 0);
	kid_end(&r.kid);
	for (int runs = 1; runs <= 5; runs++) {
		/* One a turn, though each has ended before its callback's turn is over. */
		while (env_turn(env, ROUSE_NEVER) == 0)
			;
		assert_int_equal(r.runs, runs);
	}
	assert_int_equal(env_drain(env), 0);
	assert_true(sigchld_is_default());
}

static void destroyed_the_loop_leaves_its_children(void **state)
{
	struct env *env = *state;
	struct kid kids[4];

	for (int i = 0; i < 4; i++) {
		kid_spawn(&kids[i], i);
		kid_watch(env, &kids[i]);
	}
	kid_end(&kids[0]);
	kid_end(&kids[1]);
	env_close(env);
	assert_true(sigchld_is_default());
	kid_end(&kids[2]);
	kid_end(&kids[3]);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(kids[i].runs, 0);
		kid_left_to_us(&kids[i]);
	}
}

/* ---- Wrong and bad times ------------------------------------------------------------ */

struct stranger {
	rouse_loop *loop;
	struct kid kid;
	int add;
};

static void *add_from_elsewhere(void *data)
{
	struct stranger *s = data;

	s->add = rouse_child_add(s->loop, s->kid.pid, kid_note, &s->kid, &s->kid.self);
	return NULL;
}

static void add_in_cancel(void *data)
{
	struct stranger *s = data;

	s->add = rouse_child_add(s->loop, s->kid.pid, kid_note, &s->kid, &s->kid.self);
}

static void l7_l8_wrong_thread_other_kinds_and_a_loop_that_ends(void **state)
{
	struct env *env = *state;
	struct stranger s = {.loop = env->loop};
	rouse_remote *remote = rouse_loop_remote(env->loop);

	kid_spawn(&s.kid, 1);
	env_join(env_start(add_from_elsewhere, &s));
	assert_int_equal(s.add, ROUSE_EWRONGTHREAD);
	kid_watch(env, &s.kid);
	assert_int_equal(rouse_fd_set_events(env->loop, s.kid.self, 0), ROUSE_EINVAL);
	assert_int_equal(rouse_timer_set(env->loop, s.kid.self, 0, 0, 0), ROUSE_EINVAL);
	assert_int_equal(rouse_remove(env->loop, s.kid.self), 0);
	assert_int_equal(rouse_fd_set_events(env->loop, s.kid.self, 0), ROUSE_ESTALE);
	assert_int_equal(rouse_post(remote, count_run, &s, add_in_cancel), 0);
	env_close(env);
	assert_int_equal(s.add, ROUSE_ECLOSED);
	assert_true(sigchld_is_default());
	kid_let_go(&s.kid);
	kid_left_to_us(&s.kid);
	rouse_remote_unref(remote);
}

struct memory {
	atomic_uint made, outstanding;
	unsigned fail_at;
};

static void *alloc(size_t size, void *ctx)
{
	struct memory *m = ctx;

	if (atomic_fetch_add(&m->made, 1) + 1 == m->fail_at)
		return NULL;
	atomic_fetch_add(&m->outstanding, 1);
	return malloc(size);
}

static void release(void *ptr, size_t size, void *ctx)
{
	struct memory *m = ctx;

	(void)size;
	atomic_fetch_sub(&m->outstanding, 1);
	free(ptr);
}

static void l9_each_allocation_fails_once(void **state)
{
	struct env *env = *state;
	const char *poller = rouse_loop_poller(env->loop);
	int result = ROUSE_ENOMEM;

	for (unsigned n = 1; result; n++) {
		struct memory m = {0};
		const rouse_allocator allocator = {alloc, release, &m};
		const rouse_loop_options options = {
		        .size = sizeof options, .poller = poller, .allocator = &allocator};
		struct kid kid;
		rouse_loop *loop;
		unsigned open;

		assert_int_equal(rouse_loop_create(&options, &loop), 0);
		kid_spawn(&kid, 11);
		open = kids_descriptors();
		m.fail_at = atomic_load(&m.made) + n;
		result = rouse_child_add(loop, kid.pid, kid_note, &kid, &kid.self);
		m.fail_at = 0;
		if (result) {
			assert_int_equal(result, ROUSE_ENOMEM);
			assert_true(kid.self.id == 0);
			assert_int_equal(kids_descriptors(), open);
			assert_true(sigchld_is_default());
			assert_int_equal(rouse_child_add(loop, kid.pid, kid_note, &kid, &kid.self),
			                 0);
		} else {
			assert_true(n > 1);
		}
		kid_end(&kid);
		while (!kid.runs)
			assert_true(rouse_loop_turn(loop, ROUSE_NEVER) >= 0);
		assert_int_equal(kid.how.code, 11);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_int_equal(atomic_load(&m.outstanding), 0);
	}
}

#define EACH(row)                                                                                  \
	row(removed_first_it_is_the_callers), row(l3_a_callback_removes_its_own_source),           \
	        row(l3_one_of_a_batch_removes_the_other),                                          \
	        row(l3_removed_by_a_post_or_a_timer_of_the_same_turn),                             \
	        row(l5_a_callback_adds_the_next_child),                                            \
	        row(destroyed_the_loop_leaves_its_children),                                       \
	        row(l7_l8_wrong_thread_other_kinds_and_a_loop_that_ends),                          \
	        row(l9_each_allocation_fails_once)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {EACH(env_test), EACH(without)};

	return env_main(argc, argv, "child_lives", tests, sizeof tests / sizeof *tests);
}
