/* Attach: bad input, no memory, several queues and displays. */
#include "wl_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void attach_refuses_bad_arguments(void **state)
{
	struct wl_fixture f;
	struct peer peer;
	rouse_wayland *wayland = (rouse_wayland *)1;
	struct {
		rouse_wayland_options options;
		unsigned char tail;
	} larger = {.tail = 1};

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_detach(&f);
	rouse_wayland_options good = {.size = sizeof(good), .display = f.display}, bad = good;
	assert_int_equal(rouse_wayland_attach(NULL, &good, &wayland), ROUSE_EINVAL);
	assert_int_equal(rouse_wayland_attach(f.loop, NULL, &wayland), ROUSE_EINVAL);
	assert_int_equal(rouse_wayland_attach(f.loop, &good, NULL), ROUSE_EINVAL);
	bad.display = NULL;
	assert_int_equal(rouse_wayland_attach(f.loop, &bad, &wayland), ROUSE_EINVAL);
	bad = good;
	bad.sole_reader = 2;
	assert_int_equal(rouse_wayland_attach(f.loop, &bad, &wayland), ROUSE_EINVAL);
	bad = good;
	/* Shorter than the first version. */
	for (bad.size = 0; bad.size < sizeof(good); bad.size++)
		assert_int_equal(rouse_wayland_attach(f.loop, &bad, &wayland), ROUSE_EINVAL);
	larger.options = good;
	larger.options.size = sizeof(larger);
	assert_int_equal(rouse_wayland_attach(f.loop, &larger.options, &wayland), ROUSE_EABI);
	assert_ptr_equal(wayland, (rouse_wayland *)1);
	assert_int_equal(rouse_wayland_detach(NULL), 0);
	assert_int_equal(rouse_wayland_flush(NULL), ROUSE_EINVAL);

	/* A tail of zeros is a newer program that uses nothing new. */
	memset((char *)&larger + sizeof(good), 0, sizeof(larger) - sizeof(good));
	assert_int_equal(rouse_wayland_attach(f.loop, &larger.options, &wayland), 0);
	assert_int_equal(rouse_wayland_flush(wayland), 0);
	assert_int_equal(rouse_wayland_detach(wayland), 0);

	/* No callback at all. */
	assert_int_equal(rouse_wayland_attach(f.loop, &good, &wayland), 0);
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	peer_hang_up(&peer);
	fixture_settle(f.loop);
	assert_int_equal(rouse_wayland_flush(wayland), ROUSE_ELOST);
	assert_int_equal(rouse_wayland_detach(wayland), 0);
	wl_fixture_close(&f);
}

static void attach_refuses_what_is_attached(void **state)
{
	struct wl_fixture f, second;
	struct peer peer;
	rouse_wayland *wayland;
	rouse_loop *loop;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_open_queue(&second, &f);
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	rouse_wayland_options options = wl_fixture_options(&f);
	assert_int_equal(rouse_wayland_attach(f.loop, &options, &wayland), ROUSE_EEXIST);
	assert_int_equal(rouse_wayland_attach(loop, &options, &wayland), ROUSE_EEXIST);
	options = wl_fixture_options(&second);
	assert_int_equal(rouse_wayland_attach(loop, &options, &wayland), ROUSE_EEXIST);
	/* They are unharmed. */
	wl_fixture_asked(&f);
	wl_fixture_asked(&second);
	fixture_until(f.loop, &f.events, 1);
	fixture_until(f.loop, &second.events, 1);
	/* And free for another loop when they are detached. */
	wl_fixture_detach(&second);
	assert_int_equal(rouse_wayland_attach(loop, &options, &wayland), 0);
	assert_int_equal(rouse_wayland_detach(wayland), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	wl_fixture_close(&second);
	wl_fixture_close(&f);
}

static void ignore(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)loop, (void)self, (void)fd, (void)events, (void)data;
}

static void attach_refuses_a_watched_descriptor_and_a_loop_without(void **state)
{
	const rouse_loop_options null = {.size = sizeof(null), .poller = "null"};
	struct wl_fixture f;
	struct peer peer;
	rouse_wayland *wayland;
	rouse_source source;
	rouse_loop *loop;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_detach(&f);
	rouse_wayland_options options = wl_fixture_options(&f);
	assert_int_equal(rouse_fd_add(f.loop, wl_display_get_fd(f.display), ROUSE_READABLE, ignore,
	                              NULL, &source),
	                 0);
	assert_int_equal(rouse_wayland_attach(f.loop, &options, &wayland), ROUSE_EEXIST);
	assert_int_equal(rouse_remove(f.loop, source), 0);
	assert_int_equal(rouse_wayland_attach(f.loop, &options, &f.wayland), 0);
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	wl_fixture_close(&f);

	assert_int_equal(rouse_loop_create(&null, &loop), 0);
	int ends = peer_open(&peer);
	options.display = wl_display_connect_to_fd(ends);
	int result = rouse_wayland_attach(loop, &options, &wayland);
	/* What that poller says of every descriptor that is not scripted. */
	assert_true(result == 0 || result == ROUSE_ENOTSUP);
	if (result == 0)
		assert_int_equal(rouse_wayland_detach(wayland), 0);
	wl_display_disconnect(options.display);
	peer_close(&peer);
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

static void attach_refuses_a_lost_display(void **state)
{
	struct wl_fixture f;
	struct peer peer;
	rouse_wayland *wayland;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	wl_fixture_detach(&f);
	rouse_wayland_options options = wl_fixture_options(&f);
	/* Gone, and libwayland has not noticed; then it has. */
	peer_hang_up(&peer);
	assert_int_equal(wl_display_get_error(f.display), 0);
	assert_int_equal(rouse_wayland_attach(f.loop, &options, &wayland), ROUSE_ELOST);
	assert_true(wl_display_dispatch(f.display) < 0);
	assert_int_equal(rouse_wayland_attach(f.loop, &options, &wayland), ROUSE_ELOST);
	wl_fixture_close(&f);
}

static void *from_elsewhere(void *data)
{
	struct wl_fixture *f = data;
	rouse_wayland_options options = {.size = sizeof(options), .display = f->display};
	rouse_wayland *wayland;

	/* cmocka asserts on the main thread only. */
	f->data = (void *)(uintptr_t)(rouse_wayland_attach(f->loop, &options, &wayland) ==
	                                      ROUSE_EWRONGTHREAD &&
	                              rouse_wayland_detach(f->wayland) == ROUSE_EWRONGTHREAD &&
	                              rouse_wayland_flush(f->wayland) == ROUSE_EWRONGTHREAD);
	return NULL;
}

static void l7_wrong_thread(void **state)
{
	struct wl_fixture f;
	struct peer peer;
	pthread_t thread;

	(void)state;
	wl_fixture_open(&f, &peer, NULL);
	assert_int_equal(pthread_create(&thread, NULL, from_elsewhere, &f), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_equal(f.data, (void *)1);
	wl_fixture_asked(&f);
	fixture_until(f.loop, &f.events, 1);
	wl_fixture_close(&f);
}

/* ---- L9: no memory --------------------------------------------------------- */

struct memory {
	unsigned until; /* this many allocations succeed */
	unsigned calls;
	long bytes;
};

static void *allocate(size_t size, void *ctx)
{
	struct memory *memory = ctx;

	if (memory->calls++ >= memory->until)
		return NULL;
	memory->bytes += (long)size;
	return malloc(size);
}

static void release(void *ptr, size_t size, void *ctx)
{
	struct memory *memory = ctx;

	if (ptr)
		memory->bytes -= (long)size;
	free(ptr);
}

static void l9_every_allocation_fails_once(void **state)
{
	struct memory memory = {.until = ~0u};
	const rouse_allocator allocator = {allocate, release, &memory};
	const rouse_loop_options loop_options = {.size = sizeof(loop_options),
	                                         .allocator = &allocator};
	unsigned failures = 0;
	struct peer peer;
	struct wl_display *display = wl_display_connect_to_fd(peer_open(&peer));
	struct wl_event_queue *queue = wl_display_create_queue(display);
	rouse_wayland_options options = {.size = sizeof(options), .display = display};
	rouse_wayland_options second = {
	        .size = sizeof(options), .display = display, .queue = queue};

	(void)state;
	for (unsigned n = 0;; n++) {
		rouse_wayland *wayland = NULL, *other = NULL;
		rouse_loop *loop;

		memory.until = ~0u;
		assert_int_equal(rouse_loop_create(&loop_options, &loop), 0);
		memory.calls = 0;
		memory.until = n;
		int result = rouse_wayland_attach(loop, &options, &wayland);
		if (result == 0)
			result = rouse_wayland_attach(loop, &second, &other);
		memory.until = ~0u;
		assert_true((wayland != NULL) >= (other != NULL));
		if (result) {
			failures++;
			assert_int_equal(result, ROUSE_ENOMEM);
			assert_null(other);
			/* Usable. */
			if (!wayland)
				assert_int_equal(rouse_wayland_attach(loop, &options, &wayland), 0);
			assert_int_equal(rouse_wayland_attach(loop, &second, &other), 0);
		}
		fixture_settle(loop);
		assert_int_equal(rouse_wayland_detach(wayland), 0);
		assert_int_equal(rouse_wayland_detach(other), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_int_equal(memory.bytes, 0);
		if (!result)
			break;
	}
	assert_true(failures >= 3);
	wl_event_queue_destroy(queue);
	wl_display_disconnect(display);
	peer_close(&peer);
}

/* ---- Several ----------------------------------------------------------------------- */

enum { MANY = 5 };

static void several_displays_in_one_loop(void **state)
{
	struct wl_fixture f[MANY], queues[MANY];
	struct peer peers[MANY];
	rouse_loop *loops[MANY];

	(void)state;
	for (int i = 0; i < MANY; i++) {
		wl_fixture_open(&f[i], &peers[i], NULL);
		loops[i] = f[i].loop;
		wl_fixture_detach(&f[i]);
		f[i].loop = loops[0];
		wl_fixture_reattach(&f[i]);
		wl_fixture_open_queue(&queues[i], &f[i]);
	}
	for (int i = 0; i < MANY; i++) {
		wl_fixture_asked(&f[i]);
		wl_fixture_asked(&queues[i]);
	}
	for (int i = 0; i < MANY; i++) {
		fixture_until(loops[0], &f[i].events, 1);
		fixture_until(loops[0], &queues[i].events, 1);
	}
	/* One is lost, and the others go on; so they do when the first one attached is detached. */
	peer_hang_up(&peers[1]);
	fixture_until(loops[0], &f[1].lost, 1);
	fixture_until(loops[0], &queues[1].lost, 1);
	wl_fixture_detach(&f[0]);
	for (int i = 2; i < MANY; i++) {
		wl_fixture_asked(&f[i]);
		wl_fixture_asked(&queues[i]);
	}
	wl_fixture_asked(&queues[0]);
	for (int i = 2; i < MANY; i++) {
		fixture_until(loops[0], &f[i].events, 2);
		fixture_until(loops[0], &queues[i].events, 2);
		assert_int_equal(f[i].lost + queues[i].lost, 0);
	}
	fixture_until(loops[0], &queues[0].events, 2);
	for (int i = MANY - 1; i >= 0; i--) {
		wl_fixture_close(&queues[i]);
		if (f[i].wayland)
			wl_fixture_detach(&f[i]);
		f[i].loop = loops[i];
		wl_fixture_close(&f[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(attach_refuses_bad_arguments),
	        cmocka_unit_test(attach_refuses_what_is_attached),
	        cmocka_unit_test(attach_refuses_a_watched_descriptor_and_a_loop_without),
	        cmocka_unit_test(attach_refuses_a_lost_display),
	        cmocka_unit_test(l7_wrong_thread),
	        cmocka_unit_test(l9_every_allocation_fails_once),
	        cmocka_unit_test(several_displays_in_one_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
