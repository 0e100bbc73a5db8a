/* Descriptors that cannot be watched, and names of sources that are gone or of another kind. */
#include "unit.h"

#include "contract/env.h"

#include <rouse/null.h>

#include <limits.h>
#include <string.h>

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#endif

#define BAD_EVENT (1u << 4)

static const rouse_source untouched = {UINT64_C(0x5a5a5a5a5a5a5a5a)};

static struct counting memory;

#define refused(expr) assert_int_equal(expr, ROUSE_EINVAL)

/* ---- Descriptors ------------------------------------------------------------------ */

/* The error of adding a descriptor, as a source and as a hook's; both leave nothing. */
static int adding(rouse_loop *loop, rouse_fd fd, unsigned events)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = fd, .events = events};
	unsigned outstanding = memory.outstanding;
	rouse_source source = untouched;
	int error = rouse_fd_add(loop, fd, events, ignore_fd, NULL, &source);

	assert_int_not_equal(error, 0);
	if (fd != ROUSE_NO_FD || events)
		assert_int_equal(rouse_hook_add(loop, &hook, NULL, &source), error);
	assert_true(source.id == untouched.id);
	/* Tables may have grown, but nothing was left per failure. */
	assert_in_range(memory.outstanding, outstanding, outstanding + 1);
	return error;
}

static void descriptors_out_of_range(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);

		refused(adding(loop, (rouse_fd)-1, ROUSE_READABLE));
		refused(adding(loop, ROUSE_NO_FD, 0));
		refused(adding(loop, (rouse_fd)INT_MIN, ROUSE_READABLE));
		refused(adding(loop, 0, ROUSE_FDERROR));
		refused(adding(loop, 0, ROUSE_READABLE | BAD_EVENT));
		refused(adding(loop, 0, ~0u));
		if (!strcmp(poller, "null")) {
			refused(adding(loop, ROUSE_NULL_MAX_FD + 1, ROUSE_READABLE));
			refused(adding(loop, INT_MAX, ROUSE_READABLE));
		}
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

/* Where numbers are files', too, and come again.  (Windows: tests/win32.) */
#ifndef _WIN32
static void descriptors_that_cannot_be_watched(void **state)
{
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int closed = fcntl(file, F_DUPFD_CLOEXEC, 500); /* a number that no loop will get */

	(void)state;
	assert_true(file >= 0 && directory >= 0 && closed >= 0);
	close(closed);
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);

		if (has_descriptors(loop)) {
			assert_int_equal(adding(loop, file, ROUSE_READABLE), ROUSE_ENOTSUP);
			assert_int_equal(adding(loop, file, 0), ROUSE_ENOTSUP);
			assert_int_equal(adding(loop, directory, ROUSE_READABLE), ROUSE_ENOTSUP);
			assert_int_equal(adding(loop, closed, ROUSE_READABLE), ROUSE_EOS);
			assert_int_equal(rouse_os_error(), EBADF);
			assert_int_equal(adding(loop, 1 << 20, ROUSE_READABLE), ROUSE_EOS);
			assert_int_equal(rouse_os_error(), EBADF);
		}
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
	close(directory);
	close(file);
}
#endif

static void a_descriptor_is_watched_once(void **state)
{
	rouse_fd ends[2];

	(void)state;
	env_pair_open(&ends[0], &ends[1]);
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_source first, again;

		assert_int_equal(
		        rouse_fd_add(loop, ends[0], ROUSE_READABLE, ignore_fd, NULL, &first), 0);
		assert_int_equal(adding(loop, ends[0], ROUSE_READABLE), ROUSE_EEXIST);
		assert_int_equal(adding(loop, ends[0], 0), ROUSE_EEXIST);
		assert_int_equal(rouse_fd_set_events(loop, first, 0), 0);
		assert_int_equal(rouse_remove(loop, first), 0);
		assert_int_equal(
		        rouse_fd_add(loop, ends[0], ROUSE_READABLE, ignore_fd, NULL, &again), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
	env_pair_close(ends[0]);
	env_pair_close(ends[1]);
}

static void note_events(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events,
                        void *data)
{
	(void)loop;
	(void)self;
	(void)fd;
	*(unsigned *)data |= events;
}

/* Close, then remove: the number is somebody else's by then, who keeps it. */
#ifndef _WIN32
static void f3_a_number_reused_keeps_its_own_source(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		unsigned old_events = 0, new_events = 0;
		rouse_source old_source, new_source;
		int before[2], after[2];

		if (has_descriptors(loop)) {
			assert_int_equal(pipe(before), 0);
			assert_int_equal(pipe(after), 0);
			assert_int_equal(rouse_fd_add(loop, before[0], ROUSE_READABLE, note_events,
			                              &old_events, &old_source),
			                 0);
			/* Closes the old one, and gives its number to the new one. */
			assert_int_equal(dup2(after[0], before[0]), before[0]);
			assert_int_equal(rouse_fd_add(loop, before[0], ROUSE_READABLE, note_events,
			                              &new_events, &new_source),
			                 0);
			assert_int_equal(stats_of(loop).fds_dropped, 1);
			assert_int_equal(rouse_fd_set_events(loop, old_source, 0), ROUSE_EOS);
			assert_int_equal(rouse_os_error(), EBADF);
			assert_int_equal(rouse_remove(loop, old_source), 0);
			env_pair_write(after[1]);
			assert_int_equal(rouse_loop_turn(loop, 0), 1);
			assert_int_equal(new_events, ROUSE_READABLE);
			assert_int_equal(old_events, 0);
			for (int i = 0; i < 2; i++) {
				close(before[i]);
				close(after[i]);
			}
		}
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

#endif

static void nothing_but_a_descriptor_has_events(void **state)
{
	const rouse_hook hook = {.size = sizeof hook, .fd = ROUSE_NO_FD};
	const rouse_hook watching = {.size = sizeof hook, .fd = ROUSE_NO_FD, .events = 1};
	rouse_fd ends[2];

	(void)state;
	env_pair_open(&ends[0], &ends[1]);
	env_pair_write(ends[1]);
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_source timer, fd, display;
		unsigned events = 0;

		assert_int_equal(
		        rouse_timer_add(loop, ROUSE_NEVER - 1, 0, 0, ignore_timer, NULL, &timer),
		        0);
		assert_int_equal(rouse_hook_add(loop, &hook, NULL, &display), 0);
		assert_int_equal(
		        rouse_fd_add(loop, ends[0], ROUSE_READABLE, note_events, &events, &fd), 0);
		refused(rouse_hook_add(loop, &watching, NULL, NULL));
		refused(rouse_fd_set_events(loop, timer, 0));
		refused(rouse_fd_set_events(loop, display, 0));
		refused(rouse_timer_set(loop, fd, 0, 0, 0));
		refused(rouse_timer_set(loop, display, 0, 0, 0));
		refused(rouse_fd_set_events(loop, fd, ROUSE_FDERROR));
		refused(rouse_fd_set_events(loop, fd, BAD_EVENT));

		/* What was watched for is watched for still. */
		if (!has_descriptors(loop))
			assert_int_equal(rouse_null_script(loop, 0, ends[0], ROUSE_READABLE), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(events, ROUSE_READABLE);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
	env_pair_close(ends[0]);
	env_pair_close(ends[1]);
}

/* ---- Names ----------------------------------------------------------------------------- */

static void l8_names_that_are_gone_touch_nothing(void **state)
{
	rouse_fd ends[2];

	(void)state;
	env_pair_open(&ends[0], &ends[1]);
	env_pair_write(ends[1]);
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		unsigned events = 0;
		rouse_source old, reused, never[] = {{0}, {1}, {UINT64_MAX}, {(uint64_t)9 << 32}};

		assert_int_equal(rouse_timer_add(loop, 1, 0, 0, ignore_timer, NULL, &old), 0);
		assert_int_equal(rouse_remove(loop, old), 0);
		assert_int_equal(rouse_remove(loop, old), ROUSE_ESTALE);
		assert_int_equal(rouse_timer_set(loop, old, 0, 0, 0), ROUSE_ESTALE);

		/* Somebody else has the slot now. */
		assert_int_equal(
		        rouse_fd_add(loop, ends[0], ROUSE_READABLE, note_events, &events, &reused),
		        0);
		assert_int_equal((uint32_t)reused.id, (uint32_t)old.id);
		assert_true(reused.id != old.id);
		assert_int_equal(rouse_fd_set_events(loop, old, 0), ROUSE_ESTALE);
		assert_int_equal(rouse_timer_set(loop, old, 0, 0, 0), ROUSE_ESTALE);
		assert_int_equal(rouse_remove(loop, old), ROUSE_ESTALE);
		for (size_t i = 0; i < COUNT(never); i++) {
			assert_int_equal(rouse_remove(loop, never[i]), ROUSE_ESTALE);
			assert_int_equal(rouse_fd_set_events(loop, never[i], 0), ROUSE_ESTALE);
			assert_int_equal(rouse_timer_set(loop, never[i], 0, 0, 0), ROUSE_ESTALE);
		}
		if (!has_descriptors(loop))
			assert_int_equal(rouse_null_script(loop, 0, ends[0], ROUSE_READABLE), 0);
		assert_int_equal(rouse_loop_turn(loop, 0), 1);
		assert_int_equal(events, ROUSE_READABLE);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
	env_pair_close(ends[0]);
	env_pair_close(ends[1]);
}

static int setup(void **state)
{
	(void)state;
	counting_init(&memory);
	return 0;
}

static void handles_where_there_are_none(void **state)
{
	(void)state;
	EACH_POLLER(poller)
	{
		rouse_loop *loop = loop_on(poller, &memory);
		rouse_source source = untouched;

		refused(rouse_handle_add(loop, NULL, ignore_handle, NULL, &source));
		refused(rouse_handle_add(loop, &source, NULL, NULL, &source));
		if (!(rouse_loop_caps(loop) & ROUSE_CAP_HANDLE))
			assert_int_equal(
			        rouse_handle_add(loop, &source, ignore_handle, NULL, &source),
			        ROUSE_ENOTSUP);
		assert_true(source.id == untouched.id);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		counting_check(&memory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(descriptors_out_of_range, setup),
#ifndef _WIN32
	        cmocka_unit_test_setup(descriptors_that_cannot_be_watched, setup),
	        cmocka_unit_test_setup(f3_a_number_reused_keeps_its_own_source, setup),
#endif
	        cmocka_unit_test_setup(a_descriptor_is_watched_once, setup),
	        cmocka_unit_test_setup(handles_where_there_are_none, setup),
	        cmocka_unit_test_setup(nothing_but_a_descriptor_has_events, setup),
	        cmocka_unit_test_setup(l8_names_that_are_gone_touch_nothing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
