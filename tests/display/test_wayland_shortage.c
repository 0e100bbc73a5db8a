/* A guest whose compositor is lost or does not listen, and one that has no reader to be had. */
#include "rival.h"
#include "weston.h"
#include "wl_guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static struct weston server;

/* ---- Losses, and what is not to be had ------------------------------------------------------ */

static void killed(bool sole)
{
	struct wl_fixture f;
	rouse_fd fd;

	weston_start(&server);
	fd = wl_guest_open(&f, sole);
	weston_kill(&server);
	wl_guest_until(&f, fd, &f.lost, 1);
	wl_guest_rests(&f, fd);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	assert_false(wl_guest_wakes(fd, 50 * MS));
	assert_int_equal(f.lost, 1);
	wl_fixture_close(&f);
	weston_start(&server);
}

static void y6_compositor_killed_under_a_guest(void **state)
{
	(void)state;
	killed(false);
	killed(true);
}

static void y6_protocol_error_under_a_guest(void **state)
{
	struct wl_fixture f;
	rouse_fd fd = wl_guest_open(&f, false);

	(void)state;
	/* An error that is in no queue of anybody's. */
	struct wl_registry *registry = wl_display_get_registry(f.display);
	void *bound = wl_registry_bind(registry, 12345, &wl_compositor_interface, 1);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	wl_guest_until(&f, fd, &f.lost, 1);
	assert_string_equal(f.how.interface->name, "wl_registry");
	wl_compositor_destroy(bound);
	wl_registry_destroy(registry);
	wl_fixture_close(&f);
}

/* In no queue of anybody's, and nothing comes after it. */
static void y6_error_that_only_the_reader_can_see(void **state)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	struct wl_fixture f;
	struct peer peer;
	rouse_fd fd;

	(void)state;
	wl_fixture_open(&f, &peer, &epoll);
	wl_fixture_bind_output(&f);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	wl_guest_rests(&f, fd);
	peer_post_error(&peer, 9);
	wl_guest_until(&f, fd, &f.lost, 1);
	assert_int_equal(f.how.error, EPROTO);
	assert_int_equal(f.how.code, 9);
	wl_fixture_close(&f);
}

static void y5_frozen_compositor_under_a_guest(void **state)
{
	struct wl_fixture f;
	rouse_fd fd = wl_guest_open(&f, false);
	unsigned made = 0;

	(void)state;
	weston_freeze(&server);
	while (rouse_wayland_flush(f.wayland) == 0) {
		wl_fixture_ask(&f);
		made++;
	}
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	wl_guest_until(&f, fd, &f.pressures, 1);
	assert_int_equal(f.blocked, 1);
	assert_false(wl_guest_wakes(fd, 100 * MS));
	weston_thaw(&server);
	wl_guest_until(&f, fd, &f.events, made);
	wl_guest_until(&f, fd, &f.pressures, 2);
	assert_int_equal(f.blocked, 0);
	wl_fixture_close(&f);
}

/* Nothing comes from the compositor that would end the sleep, but that it reads again. */
static void waits_for_room(bool sole)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	struct wl_fixture f;
	struct peer peer;
	rouse_fd fd;
	int blocked = 0;

	wl_fixture_open(&f, &peer, &epoll);
	wl_fixture_bind_output(&f);
	rouse_wayland_options options = wl_fixture_options(&f);
	wl_fixture_detach(&f);
	options.sole_reader = sole;
	assert_int_equal(rouse_wayland_attach(f.loop, &options, &f.wayland), 0);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	wl_guest_rests(&f, fd);
	while (blocked == 0) {
		wl_output_destroy(
		        wl_registry_bind(f.registry, f.output_name, &wl_output_interface, 1));
		blocked = rouse_wayland_flush(f.wayland);
	}
	assert_int_equal(blocked, 1);
	assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
	wl_guest_until(&f, fd, &f.pressures, 1);
	wl_guest_rests(&f, fd);
	/* The socket has room for the poller when three quarters of it are read. */
	for (int i = 0; i < 16; i++)
		peer_serve(&peer);
	wl_guest_until(&f, fd, &f.pressures, 2);
	assert_int_equal(f.blocked, 0);
	wl_fixture_close(&f);
}

static void y5_waits_for_room_and_not_for_events(void **state)
{
	(void)state;
	waits_for_room(false);
	waits_for_room(true);
}

/* What there is none of. */
enum { NOTHING, DESCRIPTORS, THREADS, QUEUES };
static int short_of;
/* What the last thread was born with: the mask of the thread that made it.  (/proc would tell the
 * mask itself, but under valgrind valgrind's.) */
static sigset_t born_blocking;

/* The linker puts these in place of the C library's and libwayland's. */
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *data);
struct wl_event_queue *__real_wl_display_create_queue(struct wl_display *);
struct wl_event_queue *__wrap_wl_display_create_queue(struct wl_display *display);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *data)
{
	if (short_of == THREADS)
		return EAGAIN;
	pthread_sigmask(SIG_BLOCK, NULL, &born_blocking);
	return __real_pthread_create(thread, attributes, run, data);
}

struct wl_event_queue *__wrap_wl_display_create_queue(struct wl_display *display)
{
	return short_of == QUEUES ? NULL : __real_wl_display_create_queue(display);
}

static unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* The loop reads itself, looks again after a while, and has its thread as soon as there is one to
 * be had. */
static void no_reader_to_be_had(void **state)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};

	(void)state;
	for (int what = DESCRIPTORS; what <= QUEUES; what++) {
		struct wl_fixture f;
		struct rlimit before, none;
		rouse_fd fd;

		wl_fixture_open(&f, NULL, &epoll);
		struct wl_event_queue *queue = wl_display_create_queue(f.display);
		assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
		unsigned descriptors = open_descriptors();
		int next = dup(0);
		close(next);
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
		none = before;
		none.rlim_cur = (rlim_t)next;
		short_of = what;
		if (what == DESCRIPTORS)
			assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		for (unsigned i = 0; i < 10; i++) {
			wl_guest_asked(&f);
			wl_guest_until(&f, fd, &f.events, 2 * i + 1);
			/* Taken away while the host sleeps, and nobody is told. */
			wl_fixture_ask(&f);
			assert_true(wl_display_roundtrip_queue(f.display, queue) >= 0);
			wl_guest_until(&f, fd, &f.events, 2 * i + 2);
		}
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		wl_guest_readers(0);
		assert_int_equal(open_descriptors(), descriptors);
		short_of = NOTHING;
		wl_guest_turn(&f, fd);
		wl_guest_readers(1);
		wl_guest_asked(&f);
		wl_guest_until(&f, fd, &f.events, 21);
		wl_guest_rests(&f, fd);
		wl_event_queue_destroy(queue);
		wl_fixture_close(&f);
	}
}

static void f11_readers_descriptor_is_no_standard_stream(void **state)
{
	int standard = dup(0);
	struct wl_fixture f;
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	rouse_fd fd;

	(void)state;
	wl_fixture_open(&f, NULL, &epoll);
	close(0);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	wl_guest_rests(&f, fd);
	wl_guest_readers(1);
	/* Still free: the lowest number is what is given next. */
	assert_int_equal(dup(standard), 0);
	close(standard);
	wl_fixture_close(&f);
}

static void f11_reader_blocks_all_signals_and_leaves_exec_nothing(void **state)
{
	enum { MOST = 64 };
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	bool before[MOST];
	struct wl_fixture f;
	unsigned ours = 0;
	sigset_t all;
	rouse_fd fd;

	(void)state;
	sigemptyset(&born_blocking);
	wl_fixture_open(&f, NULL, &epoll);
	for (int i = 0; i < MOST; i++)
		before[i] = fcntl(i, F_GETFD) >= 0;
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	wl_guest_rests(&f, fd);
	wl_guest_readers(1);
	/* All but those that the C library keeps for itself, and the two that nobody can block. */
	sigfillset(&all);
	for (int i = 1; i <= SIGRTMAX; i++)
		if (i != SIGKILL && i != SIGSTOP)
			assert_int_equal(sigismember(&born_blocking, i), sigismember(&all, i));
	for (int i = 0; i < MOST; i++) {
		int flags = fcntl(i, F_GETFD);

		if (flags < 0 || before[i])
			continue;
		assert_true(flags & FD_CLOEXEC);
		ours++;
	}
	/* The host's descriptor, and what wakes the reader. */
	assert_true(ours >= 2);
	wl_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(y6_compositor_killed_under_a_guest),
	        cmocka_unit_test(y6_protocol_error_under_a_guest),
	        cmocka_unit_test(y6_error_that_only_the_reader_can_see),
	        cmocka_unit_test(y5_frozen_compositor_under_a_guest),
	        cmocka_unit_test(y5_waits_for_room_and_not_for_events),
	        cmocka_unit_test(no_reader_to_be_had),
	        cmocka_unit_test(f11_readers_descriptor_is_no_standard_stream),
	        cmocka_unit_test(f11_reader_blocks_all_signals_and_leaves_exec_nothing),
	};

	alarm(280);
	weston_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
