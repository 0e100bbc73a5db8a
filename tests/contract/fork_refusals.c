/* Repairs that the system refuses, and children of a parent of one's own. */
#include "forked.h"

#include "core/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	struct env *env;
	rouse_waker *waker;
	rouse_remote *remote;
	int runs;
} h;

static void begin(struct env *env)
{
	h.env = env;
	h.runs = 0;
	h.remote = rouse_loop_remote(env->loop);
	assert_int_equal(rouse_waker_create(env->loop, count_run, &h.runs, &h.waker), 0);
	env_drain(env);
}

static void finish(void)
{
	rouse_waker_unref(h.waker);
	rouse_remote_unref(h.remote);
}

/* ---- Children ----------------------------------------------------------------------- */

struct kid {
	pid_t pid;
	int gate[2], runs;
	rouse_exit how;
};

static void note_child(rouse_loop *loop, rouse_source self, rouse_process process,
                       const rouse_exit *how, void *data)
{
	struct kid *kid = data;

	(void)loop;
	(void)self;
	assert_int_equal(process, kid->pid);
	kid->runs++;
	kid->how = *how;
}

static void spawn(struct env *env, struct kid *kid)
{
	char byte;

	*kid = (struct kid){0};
	assert_int_equal(pipe2(kid->gate, O_CLOEXEC), 0);
	kid->pid = fork();
	assert_true(kid->pid >= 0);
	if (kid->pid == 0) {
		close(kid->gate[1]);
		while (read(kid->gate[0], &byte, 1) < 0 && errno == EINTR)
			;
		_exit(7);
	}
	assert_int_equal(rouse_child_add(env->loop, kid->pid, note_child, kid, NULL), 0);
}

static void end_kid(struct kid *kid)
{
	assert_int_equal(write(kid->gate[1], "x", 1), 1);
}

static void its_parents_child(void *data)
{
	struct kid *kid = data;
	struct kid own_kid;

	forked_repair(h.env);
	end_kid(kid);
	ENV_UNTIL(h.env, kid->runs);
	assert_int_equal(kid->how.known, 0);
	assert_int_equal(env_drain(h.env), 0);
	assert_int_equal(kid->runs, 1);
	/* One of its own it knows all of. */
	spawn(h.env, &own_kid);
	end_kid(&own_kid);
	ENV_UNTIL(h.env, own_kid.runs);
	assert_int_equal(own_kid.how.known, 1);
	assert_int_equal(own_kid.how.code, 7);
}

static void f10_a_child_source_is_one_of_the_parents_children(void **state)
{
	struct kid kid;

	if (((struct env *)*state)->null)
		skip();
	for (int without = 0; without < 2; without++) {
		begin(*state);
		if (without)
			rouse__fault_fail(ROUSE__PIDFD, 0, 1000000, ENOSYS);
		spawn(h.env, &kid);
		env_drain(h.env);
		in_child(its_parents_child, &kid);
		ENV_UNTIL(h.env, kid.runs);
		assert_int_equal(kid.how.known, 1);
		assert_int_equal(kid.how.code, 7);
		close(kid.gate[0]);
		close(kid.gate[1]);
		rouse__fault_reset();
		finish();
	}
}

/* ---- What the system refuses -------------------------------------------------------- */

struct refusal {
	enum rouse__call call;
	unsigned skip;
	int os_error;
};

static void refused_and_repaired(void *data)
{
	const struct refusal *r = data;
	unsigned before = forked_count_descriptors();
	int result;

	rouse__fault_fail(r->call, r->skip, 1, r->os_error);
	result = rouse_loop_after_fork(h.env->loop);
	if (result) {
		assert_int_equal(result, r->os_error == ENOMEM   ? ROUSE_ENOMEM
		                         : r->os_error == ENOSPC ? ROUSE_ELIMIT
		                                                 : ROUSE_EOS);
		assert_int_equal(forked_count_descriptors(), before);
		assert_int_equal(rouse_wake(h.waker), ROUSE_EFORKED);
		assert_int_equal(rouse_loop_turn(h.env->loop, 0), ROUSE_EFORKED);
	}
	rouse__fault_reset();
	forked_repair(h.env);
	assert_int_equal(forked_count_descriptors(), before);
	/* The post from before the fork. */
	ENV_UNTIL(h.env, h.runs == 1);
	assert_true(rouse_wake(h.waker) >= 0);
	ENV_UNTIL(h.env, h.runs == 2);
	assert_int_equal(env_drain(h.env), 0);
	env_close(h.env);
	_exit(result ? 0 : 42);
}

/* Each of these calls fails once, as long as there is one more. */
static void f9_a_repair_that_the_system_refuses_may_be_tried_again(void **state)
{
	static const enum rouse__call calls[] = {ROUSE__EVENTFD, ROUSE__EPOLL_CREATE,
	                                         ROUSE__EPOLL_CTL, ROUSE__TIMERFD};
	static const int errors[] = {EMFILE, ENOMEM};
	struct channel channel;

	begin(*state);
	channel_open(h.env, &channel);
	assert_int_equal(
	        rouse_fd_add(h.env->loop, channel.fd, ROUSE_READABLE, count_fd, &h.runs, NULL), 0);
	assert_int_equal(rouse_post(h.remote, count_run, &h.runs, NULL), 0);
	for (int i = 0; i < 8; i++) {
		int status = 0;

		for (unsigned skip = 0; status == 0; skip++) {
			struct refusal refusal = {calls[i / 2], skip, errors[i % 2]};
			pid_t child = forked();

			if (child == 0)
				refused_and_repaired(&refusal);
			assert_int_equal(waitpid(child, &status, 0), child);
			assert_true(WIFEXITED(status));
			status = WEXITSTATUS(status);
			assert_true(status == 0 || status == 42);
			/* The doorbell, whatever the poller. */
			if (calls[i / 2] == ROUSE__EVENTFD)
				assert_int_equal(status, skip ? 42 : 0);
		}
	}
	ENV_UNTIL(h.env, h.runs == 1);
	assert_int_equal(env_drain(h.env), 0);
	finish();
}

static atomic_uint made, fail_at;

static void *alloc(size_t size, void *ctx)
{
	(void)ctx;
	return atomic_fetch_add(&made, 1) + 1 == atomic_load(&fail_at) ? NULL : malloc(size);
}

static void release(void *ptr, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	free(ptr);
}

static void l9_each_allocation_of_a_repair_fails_once(void **state)
{
	static const rouse_allocator allocator = {alloc, release, NULL};
	const rouse_loop_options options = {.size = sizeof options,
	                                    .poller =
	                                            rouse_loop_poller(((struct env *)*state)->loop),
	                                    .allocator = &allocator};
	int status = 0, runs = 0;
	rouse_waker *waker;
	rouse_loop *loop;

	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	assert_int_equal(rouse_waker_create(loop, count_run, &runs, &waker), 0);
	for (unsigned n = 1; status == 0; n++) {
		pid_t child = forked();

		if (child == 0) {
			int result;

			atomic_store(&fail_at, atomic_load(&made) + n);
			result = rouse_loop_after_fork(loop);
			atomic_store(&fail_at, 0);
			if (result) {
				assert_int_equal(result, ROUSE_ENOMEM);
				assert_int_equal(rouse_wake(waker), ROUSE_EFORKED);
				assert_int_equal(rouse_loop_after_fork(loop), 0);
			}
			assert_true(rouse_wake(waker) >= 0);
			assert_int_equal(rouse_loop_turn(loop, 0), 1);
			assert_int_equal(rouse_loop_destroy(loop), 0);
			_exit(result ? 0 : 42);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		status = WEXITSTATUS(status);
		assert_true(status == 0 || status == 42);
	}
	rouse_waker_unref(waker);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        env_test(f10_a_child_source_is_one_of_the_parents_children),
	        env_test(f9_a_repair_that_the_system_refuses_may_be_tried_again),
	        env_test(l9_each_allocation_of_a_repair_fails_once),
	};

	return env_main(argc, argv, "fork_refusals", tests, sizeof tests / sizeof *tests);
}
