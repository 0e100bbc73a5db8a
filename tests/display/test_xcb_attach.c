/* Attach: bad input, and no memory. */
#include "xcb_fixture.h"
#include "xvfb.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct xvfb server;

static void attach_refuses_bad_arguments(void **state)
{
	struct xcb_fixture f;
	rouse_xcb *xcb = (rouse_xcb *)1;
	uint64_t count = 5;
	struct {
		rouse_xcb_options options;
		unsigned char tail;
	} larger = {.tail = 1};

	(void)state;
	xcb_fixture_open(&f, NULL);
	rouse_xcb_options good = {.size = sizeof(good), .connection = f.other}, bad = good;
	assert_int_equal(rouse_xcb_attach(NULL, &good, &xcb), ROUSE_EINVAL);
	assert_int_equal(rouse_xcb_attach(f.loop, NULL, &xcb), ROUSE_EINVAL);
	assert_int_equal(rouse_xcb_attach(f.loop, &good, NULL), ROUSE_EINVAL);
	bad.connection = NULL;
	assert_int_equal(rouse_xcb_attach(f.loop, &bad, &xcb), ROUSE_EINVAL);
	bad = good;
	/* Shorter than the first version. */
	for (bad.size = 0; bad.size < sizeof(good); bad.size++)
		assert_int_equal(rouse_xcb_attach(f.loop, &bad, &xcb), ROUSE_EINVAL);
	larger.options = good;
	larger.options.size = sizeof(larger);
	assert_int_equal(rouse_xcb_attach(f.loop, &larger.options, &xcb), ROUSE_EABI);
	assert_ptr_equal(xcb, (rouse_xcb *)1);
	assert_int_equal(rouse_xcb_detach(NULL), 0);
	assert_int_equal(rouse_xcb_foreign_reads(NULL, &count), ROUSE_EINVAL);
	assert_int_equal(rouse_xcb_foreign_reads(f.xcb, NULL), ROUSE_EINVAL);
	assert_int_equal(count, 5);

	/* A tail of zeros is a newer program that uses nothing new. */
	memset((char *)&larger + sizeof(good), 0, sizeof(larger) - sizeof(good));
	assert_int_equal(rouse_xcb_attach(f.loop, &larger.options, &xcb), 0);
	assert_int_equal(rouse_xcb_detach(xcb), 0);
	/* No callback at all: events and errors are thrown away. */
	assert_int_equal(rouse_xcb_attach(f.loop, &good, &xcb), 0);
	xcb_map_window(f.other, 1);
	xcb_fixture_sync(f.other);
	fixture_settle(f.loop);
	assert_null(xcb_poll_for_queued_event(f.other));
	assert_int_equal(rouse_xcb_detach(xcb), 0);
	xcb_fixture_close(&f);
}

static void attach_refuses_what_is_attached(void **state)
{
	struct xcb_fixture f;
	rouse_loop *loop;
	rouse_xcb *xcb;

	(void)state;
	xcb_fixture_open(&f, NULL);
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	rouse_xcb_options options = xcb_fixture_options(&f);
	assert_int_equal(rouse_xcb_attach(f.loop, &options, &xcb), ROUSE_EEXIST);
	assert_int_equal(rouse_xcb_attach(loop, &options, &xcb), ROUSE_EEXIST);
	/* The first is unharmed. */
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	/* And free for another loop when it is detached. */
	assert_int_equal(rouse_xcb_detach(f.xcb), 0);
	assert_int_equal(rouse_xcb_attach(loop, &options, &xcb), 0);
	assert_int_equal(rouse_xcb_detach(xcb), 0);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	f.xcb = NULL;
	xcb_fixture_close(&f);
}

static void attach_refuses_a_broken_connection(void **state)
{
	static struct xvfb dying;
	rouse_loop *loop;
	rouse_xcb *xcb;

	(void)state;
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	/* Never there. */
	rouse_xcb_options options = {.size = sizeof(options),
	                             .connection = xcb_connect(":nowhere", NULL)};
	assert_int_equal(rouse_xcb_attach(loop, &options, &xcb), ROUSE_ELOST);
	xcb_disconnect(options.connection);
	/* Gone, and XCB has not noticed. */
	xvfb_start(&dying);
	options.connection = xcb_fixture_connect();
	xvfb_kill(&dying);
	xvfb_stop(&dying);
	assert_int_equal(xcb_connection_has_error(options.connection), 0);
	assert_int_equal(rouse_xcb_attach(loop, &options, &xcb), ROUSE_ELOST);
	xcb_disconnect(options.connection);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	xvfb_start(&server);
}

static void *from_elsewhere(void *data)
{
	struct xcb_fixture *f = data;
	rouse_xcb_options options = {.size = sizeof(options), .connection = f->other};
	rouse_xcb *xcb;
	uint64_t count = 5;

	/* cmocka asserts on the main thread only. */
	f->data =
	        (void *)(uintptr_t)(rouse_xcb_attach(f->loop, &options, &xcb) ==
	                                    ROUSE_EWRONGTHREAD &&
	                            rouse_xcb_detach(f->xcb) == ROUSE_EWRONGTHREAD &&
	                            rouse_xcb_foreign_reads(f->xcb, &count) == ROUSE_EWRONGTHREAD &&
	                            count == 5);
	return NULL;
}

static void l7_wrong_thread(void **state)
{
	struct xcb_fixture f;
	pthread_t thread;

	(void)state;
	xcb_fixture_open(&f, NULL);
	assert_int_equal(pthread_create(&thread, NULL, from_elsewhere, &f), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_equal(f.data, (void *)1);
	xcb_fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	xcb_fixture_close(&f);
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
	xcb_connection_t *connection = xcb_fixture_connect();
	rouse_xcb_options options = {.size = sizeof(options), .connection = connection};
	unsigned failures = 0;

	(void)state;
	for (unsigned n = 0;; n++) {
		rouse_loop *loop;
		rouse_xcb *xcb = NULL;

		memory.until = ~0u;
		assert_int_equal(rouse_loop_create(&loop_options, &loop), 0);
		memory.calls = 0;
		memory.until = n;
		int attached = rouse_xcb_attach(loop, &options, &xcb);
		memory.until = ~0u;
		if (attached) {
			failures++;
			assert_int_equal(attached, ROUSE_ENOMEM);
			assert_null(xcb);
			/* Usable. */
			assert_int_equal(rouse_xcb_attach(loop, &options, &xcb), 0);
		}
		fixture_settle(loop);
		assert_int_equal(rouse_xcb_detach(xcb), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_int_equal(memory.bytes, 0);
		if (!attached)
			break;
	}
	/* The attachment and its hook. */
	assert_true(failures >= 2);
	xcb_disconnect(connection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(attach_refuses_bad_arguments),
	        cmocka_unit_test(attach_refuses_what_is_attached),
	        cmocka_unit_test(attach_refuses_a_broken_connection),
	        cmocka_unit_test(l7_wrong_thread),
	        cmocka_unit_test(l9_every_allocation_fails_once),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
