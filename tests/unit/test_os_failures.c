/* Each call of the system that makes a loop or watches a descriptor fails: the error, what stays as
 * it was, what still works. */
#include "unit.h"

#include "core/fault.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int is(const char *poller, const char *name)
{
	return strcmp(poller, name) == 0;
}

/* A loop that works: a post runs, once. */
static void works(rouse_loop *loop)
{
	rouse_remote *remote = rouse_loop_remote(loop);
	int ran = 0;

	assert_int_equal(rouse_post(remote, count_call, &ran, NULL), 0);
	assert_int_equal(rouse_loop_turn(loop, 0), 1);
	assert_int_equal(rouse_loop_turn(loop, 0), 0);
	assert_int_equal(ran, 1);
	rouse_remote_unref(remote);
}

/* ---- Creating ---------------------------------------------------------------------- */

static int create(const char *poller, struct counting *memory)
{
	rouse_loop_options options = {
	        .size = sizeof options, .poller = poller, .allocator = &memory->allocator};
	rouse_loop *const nobody = (rouse_loop *)memory;
	rouse_loop *loop = nobody;
	int result = rouse_loop_create(&options, &loop);

	if (result)
		assert_ptr_equal(loop, nobody);
	else
		assert_int_equal(rouse_loop_destroy(loop), 0);
	return result;
}

static void f9_each_call_of_a_loop_s_creation(void **state)
{
	static const struct {
		const char *poller; /* NULL: every one */
		enum rouse__call call;
		int os_error, result;
	} rows[] = {
	        {NULL, ROUSE__EVENTFD, EMFILE, ROUSE_EOS},
	        {NULL, ROUSE__EVENTFD, ENFILE, ROUSE_EOS},
	        {NULL, ROUSE__EVENTFD, ENOMEM, ROUSE_ENOMEM},
	        {"epoll", ROUSE__EPOLL_CREATE, EMFILE, ROUSE_EOS},
	        {"epoll", ROUSE__EPOLL_CREATE, ENOMEM, ROUSE_ENOMEM},
	        {"epoll", ROUSE__EPOLL_CTL, ENOSPC, ROUSE_EOS},
	        {"epoll", ROUSE__EPOLL_CTL, ENOMEM, ROUSE_ENOMEM},
	};

	(void)state;
	EACH_POLLER(poller)
	{
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct counting memory;
			unsigned open = open_descriptors();

			if (rows[i].poller && !is(poller, rows[i].poller))
				continue;
			counting_init(&memory);
			rouse__fault_fail(rows[i].call, 0, 1, rows[i].os_error);
			assert_int_equal(create(poller, &memory), rows[i].result);
			assert_int_equal(rouse_os_error(), rows[i].os_error);
			assert_int_equal(open_descriptors(), open);
			counting_check(&memory);
			assert_int_equal(create(poller, &memory), 0);
		}
	}
}

/* The next descriptor, and `more` after it, are the last ones; returns the limit before. */
static struct rlimit limit_descriptors(unsigned more)
{
	struct rlimit before, now;
	int next = dup(0);

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	now = before;
	now.rlim_cur = (rlim_t)next + more;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	return before;
}

static void f9_no_descriptors_left(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		unsigned needs = is(poller, "epoll") ? 2 : 1;
		unsigned open = open_descriptors();
		struct counting memory;

		counting_init(&memory);
		for (unsigned more = 0; more <= needs; more++) {
			struct rlimit limit = limit_descriptors(more);
			int result = create(poller, &memory), os_error = rouse_os_error();

			assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
			assert_int_equal(result, more < needs ? ROUSE_EOS : 0);
			if (result)
				assert_int_equal(os_error, EMFILE);
			assert_int_equal(open_descriptors(), open);
			counting_check(&memory);
		}
	}
}

static void f9_no_descriptors_left_for_a_guest(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, NULL);
		unsigned open = open_descriptors();

		if (rouse_loop_caps(loop) & ROUSE_CAP_POLLABLE) {
			rouse_fd fd = 42;
			struct rlimit limit = limit_descriptors(0);
			int first = rouse_loop_fd(loop, &fd), os_error = rouse_os_error();
			int second = rouse_loop_prepare(loop, 0, NULL);

			assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
			assert_int_equal(first, ROUSE_EOS);
			assert_int_equal(os_error, EMFILE);
			assert_int_equal(second, ROUSE_EOS);
			assert_int_equal(fd, 42);
			assert_int_equal(open_descriptors(), open);
			assert_int_equal(rouse_loop_check(loop, 1), ROUSE_EINVAL);
			works(loop);
			/* The timer cannot be watched either. */
			rouse__fault_fail(ROUSE__EPOLL_CTL, 0, 1, ENOSPC);
			assert_int_equal(rouse_loop_fd(loop, &fd), ROUSE_EOS);
			assert_int_equal(open_descriptors(), open);
			assert_int_equal(rouse_loop_check(loop, 1), ROUSE_EINVAL);
			assert_int_equal(rouse_loop_fd(loop, &fd), 0);
			assert_int_not_equal(fd, 42);
		}
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

/* A host that asks for each deadline needs no descriptor, so it does not miss one. */
static void f9_no_descriptors_left_and_none_needed(void **state)
{
	(void)state;
	EACH_GUEST(poller)
	{
		rouse_loop *loop = loop_on(poller, NULL);
		rouse_ns deadline, later = rouse_loop_now(loop) + HANG;
		struct rlimit limit;
		int result;

		assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
		assert_int_equal(rouse_timer_add(loop, later, 0, 0, ignore_timer, NULL, NULL), 0);
		limit = limit_descriptors(0);
		result = rouse_loop_turn(loop, 0);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		assert_int_equal(result, 0);
		assert_int_equal(rouse_loop_prepare(loop, 0, &deadline), 0);
		assert_true(deadline == later);
		assert_int_equal(rouse_loop_destroy(loop), 0);
	}
}

/* ---- Watching --------------------------------------------------------------------------- */

static void f9_epoll_refuses_a_descriptor(void **state)
{
	static const struct {
		int os_error, result;
	} rows[] = {
	        {ENOSPC, ROUSE_ELIMIT}, {ENOMEM, ROUSE_ENOMEM}, {EPERM, ROUSE_ENOTSUP},
	        {EEXIST, ROUSE_EEXIST}, {ELOOP, ROUSE_EOS},     {EBADF, ROUSE_EOS},
	};
	struct counting memory;
	rouse_source source = {42};
	rouse_loop *loop;
	int ends[2];

	(void)state;
	counting_init(&memory);
	loop = loop_on("epoll", &memory);
	assert_int_equal(pipe(ends), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const rouse_hook hook = {
		        .size = sizeof hook, .fd = ends[0], .events = ROUSE_READABLE};

		rouse__fault_fail(ROUSE__EPOLL_CTL, 0, 2, rows[i].os_error);
		assert_int_equal(
		        rouse_fd_add(loop, ends[0], ROUSE_READABLE, ignore_fd, NULL, &source),
		        rows[i].result);
		assert_int_equal(rouse_hook_add(loop, &hook, NULL, &source), rows[i].result);
		if (rows[i].result == ROUSE_EOS)
			assert_int_equal(rouse_os_error(), rows[i].os_error);
		assert_true(source.id == 42);
	}
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(rouse_loop_turn(loop, 0), 0);

	/* A change that is refused leaves what was. */
	assert_int_equal(rouse_fd_add(loop, ends[0], ROUSE_READABLE, ignore_fd, NULL, &source), 0);
	rouse__fault_fail(ROUSE__EPOLL_CTL, 0, 1, EIO);
	assert_int_equal(rouse_fd_set_events(loop, source, 0), ROUSE_EOS);
	assert_int_equal(rouse_os_error(), EIO);
	assert_int_equal(rouse_loop_turn(loop, 0), 1);
	assert_int_equal(rouse_fd_set_events(loop, source, 0), 0);
	assert_int_equal(rouse_loop_turn(loop, 0), 0);

	/* Removing never fails. */
	rouse__fault_fail(ROUSE__EPOLL_CTL, 0, 1, EBADF);
	assert_int_equal(rouse_remove(loop, source), 0);
	rouse__fault_reset();
	assert_int_equal(rouse_loop_destroy(loop), 0);
	counting_check(&memory);
	close(ends[0]);
	close(ends[1]);
}

static int reset(void **state)
{
	(void)state;
	rouse__fault_reset();
	return 0;
}

/* Before anything is made to fail: whether the doorbell makes edges is found out once. */
static int find_out(void **state)
{
	(void)state;
	return rouse_loop_destroy(loop_on(NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup_teardown(f9_each_call_of_a_loop_s_creation, reset, reset),
	        cmocka_unit_test_setup_teardown(f9_no_descriptors_left, reset, reset),
	        cmocka_unit_test_setup_teardown(f9_no_descriptors_left_for_a_guest, reset, reset),
	        cmocka_unit_test_setup_teardown(f9_no_descriptors_left_and_none_needed, reset,
	                                        reset),
	        cmocka_unit_test_setup_teardown(f9_epoll_refuses_a_descriptor, reset, reset),
	};

	return cmocka_run_group_tests(tests, find_out, NULL);
}
