/* A forked child shares the display with its parent: it takes it out of its loop, and nobody
 * notices. */
#include "weston.h"
#include "wl_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct weston server;

/* In the child: what went wrong, or 0. */
static void in_child(int (*child)(struct wl_fixture *f), struct wl_fixture *f)
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(100);
		_exit(child(f));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	assert_int_equal(status, 0);
}

/* What is left of the loop works, and takes nothing from the parent. */
static int detach_and_go_on(struct wl_fixture *f)
{
	int bytes = fixture_bytes(wl_display_get_fd(f->display));
	unsigned fired = 0;

	if (rouse_wayland_detach(f->wayland) != ROUSE_EFORKED ||
	    rouse_wayland_flush(f->wayland) != ROUSE_EFORKED)
		return 1;
	if (rouse_loop_after_fork(f->loop) || rouse_wayland_detach(f->wayland))
		return 2;
	if (rouse_timer_add(f->loop, rouse_now(), 0, 0, fixture_count_timer, &fired, NULL))
		return 3;
	while (!fired)
		if (rouse_loop_turn(f->loop, 0) < 0)
			return 4;
	if (bytes == 0 || fixture_bytes(wl_display_get_fd(f->display)) != bytes)
		return 5;
	if (rouse_loop_destroy(f->loop))
		return 6;
	/* Not wl_display_disconnect(), which is not made for it. */
	close(wl_display_get_fd(f->display));
	return 0;
}

/* The loop goes, and takes the display out itself. */
static int destroy(struct wl_fixture *f)
{
	return rouse_loop_after_fork(f->loop) || rouse_loop_destroy(f->loop);
}

static void f10_child_detaches_the_parents_display(void **state)
{
	struct wl_fixture f;

	(void)state;
	wl_fixture_open(&f, NULL, NULL);
	for (unsigned i = 1; i <= 10; i++) {
		/* An event is in the socket. */
		wl_fixture_asked(&f);
		in_child(detach_and_go_on, &f);
		in_child(destroy, &f);
		fixture_until(f.loop, &f.events, i);
	}
	assert_int_equal(f.lost, 0);
	wl_fixture_close(&f);
}

/* The intent is held in the child's memory, too. */
static void f10_fork_between_prepare_and_check(void **state)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	struct wl_fixture f;
	rouse_ns deadline;

	(void)state;
	wl_fixture_open(&f, NULL, &epoll);
	assert_int_equal(rouse_loop_prepare(f.loop, ROUSE_PREPARE_HOLD, &deadline), 0);
	in_child(destroy, &f);
	wl_fixture_asked(&f);
	in_child(detach_and_go_on, &f);
	while (f.events < 1) {
		assert_int_equal(rouse_loop_prepare(f.loop, ROUSE_PREPARE_HOLD, &deadline), 0);
		if (rouse_loop_check(f.loop, 1))
			assert_true(rouse_loop_dispatch(f.loop) >= 0);
	}
	wl_fixture_close(&f);
}

/* The reader is a thread of the parent's alone, and may be anywhere when that forks. */
static void f10_fork_beside_the_reader(void **state)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	struct wl_fixture f;
	rouse_fd fd;

	(void)state;
	wl_fixture_open(&f, NULL, &epoll);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	fixture_settle(f.loop);
	for (unsigned i = 1; i <= fixture_scaled(200); i++) {
		wl_fixture_ask(&f);
		assert_true(wl_display_flush(f.display) >= 0);
		in_child(destroy, &f);
		assert_int_equal(rouse_loop_prepare(f.loop, 0, NULL), 0);
		fixture_until(f.loop, &f.events, i);
	}
	assert_int_equal(f.lost, 0);
	wl_fixture_close(&f);
}

/* ---- The reader in the middle of a look -------------------------------------------------- */

/* Asked about this queue the reader stands still. */
static _Atomic(struct wl_event_queue *) stop_at;
static sem_t stopped, go_on;

/* The linker puts it in place of libwayland's. */
int __real_wl_display_prepare_read_queue(struct wl_display *, struct wl_event_queue *);
int __wrap_wl_display_prepare_read_queue(struct wl_display *display, struct wl_event_queue *queue);
int __wrap_wl_display_prepare_read_queue(struct wl_display *display, struct wl_event_queue *queue)
{
	if (queue == atomic_load(&stop_at)) {
		atomic_store(&stop_at, NULL);
		sem_post(&stopped);
		sem_wait(&go_on);
	}
	return __real_wl_display_prepare_read_queue(display, queue);
}

static struct wl_fixture *second_of_child;

static int detach_both(struct wl_fixture *f)
{
	if (rouse_loop_after_fork(f->loop) || rouse_wayland_detach(second_of_child->wayland))
		return 1;
	if (rouse_wayland_detach(f->wayland) || rouse_loop_destroy(f->loop))
		return 2;
	return 0;
}

/* It is not there to give its lock back. */
static void f10_fork_while_the_reader_looks(void **state)
{
	const rouse_loop_options epoll = {.size = sizeof(epoll), .poller = "epoll"};
	struct wl_fixture f, second;
	rouse_fd fd;

	(void)state;
	wl_fixture_open(&f, NULL, &epoll);
	wl_fixture_open_queue(&second, &f);
	assert_int_equal(rouse_loop_fd(f.loop, &fd), 0);
	fixture_settle(f.loop);
	assert_int_equal(sem_init(&stopped, 0, 0), 0);
	assert_int_equal(sem_init(&go_on, 0, 0), 0);
	second_of_child = &second;
	atomic_store(&stop_at, second.queue);
	wl_fixture_ask(&f);
	assert_true(wl_display_flush(f.display) >= 0);
	while (sem_wait(&stopped) && errno == EINTR)
		;
	in_child(detach_both, &f);
	sem_post(&go_on);
	fixture_until(f.loop, &f.events, 1);
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(f10_child_detaches_the_parents_display),
	        cmocka_unit_test(f10_fork_between_prepare_and_check),
	        cmocka_unit_test(f10_fork_beside_the_reader),
	        cmocka_unit_test(f10_fork_while_the_reader_looks),
	};

	alarm(280);
	weston_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
