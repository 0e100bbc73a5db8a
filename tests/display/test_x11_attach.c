/* Attach: bad input, and no memory. */
#include "fixture.h"
#include "xvfb.h"

#include <X11/Xlibint.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct xvfb server;

/* ---- Bad input ------------------------------------------------------------ */

static void attach_refuses_bad_arguments(void **state)
{
	struct fixture f;
	rouse_x11 *x11 = (rouse_x11 *)1;
	uint64_t count;
	struct {
		rouse_x11_options options;
		unsigned char tail;
	} larger = {.tail = 1};

	(void)state;
	fixture_open(&f, NULL);
	rouse_x11_options good = {.size = sizeof(good), .display = f.other}, bad = good;
	assert_int_equal(rouse_x11_attach(NULL, &good, &x11), ROUSE_EINVAL);
	assert_int_equal(rouse_x11_attach(f.loop, NULL, &x11), ROUSE_EINVAL);
	assert_int_equal(rouse_x11_attach(f.loop, &good, NULL), ROUSE_EINVAL);
	bad.display = NULL;
	assert_int_equal(rouse_x11_attach(f.loop, &bad, &x11), ROUSE_EINVAL);
	bad = good;
	/* Shorter than the first version. */
	for (bad.size = 0; bad.size < sizeof(good); bad.size++)
		assert_int_equal(rouse_x11_attach(f.loop, &bad, &x11), ROUSE_EINVAL);
	larger.options = good;
	larger.options.size = sizeof(larger);
	assert_int_equal(rouse_x11_attach(f.loop, &larger.options, &x11), ROUSE_EABI);
	assert_ptr_equal(x11, (rouse_x11 *)1);
	assert_int_equal(rouse_x11_detach(NULL), 0);
	assert_int_equal(rouse_x11_foreign_reads(NULL, &count), ROUSE_EINVAL);
	assert_int_equal(rouse_x11_foreign_reads(f.x11, NULL), ROUSE_EINVAL);

	/* A tail of zeros is a newer program that uses nothing new. */
	memset((char *)&larger + sizeof(good), 0, sizeof(larger) - sizeof(good));
	assert_int_equal(rouse_x11_attach(f.loop, &larger.options, &x11), 0);
	assert_int_equal(rouse_x11_detach(x11), 0);
	/* No callback at all: events are thrown away. */
	assert_int_equal(rouse_x11_attach(f.loop, &good, &x11), 0);
	XSelectInput(f.other, f.window, StructureNotifyMask);
	XMapWindow(f.other, f.window);
	XSync(f.other, False);
	assert_true(XQLength(f.other) > 0);
	fixture_settle(f.loop);
	assert_int_equal(XQLength(f.other), 0);
	assert_int_equal(rouse_x11_detach(x11), 0);
	fixture_close(&f);
}

static void attach_refuses_what_is_attached(void **state)
{
	struct fixture f;
	rouse_loop *loop;
	rouse_x11 *x11;

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	rouse_x11_options options = fixture_options(&f);
	assert_int_equal(rouse_x11_attach(f.loop, &options, &x11), ROUSE_EEXIST);
	assert_int_equal(rouse_x11_attach(loop, &options, &x11), ROUSE_EEXIST);
	/* The first is unharmed. */
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	fixture_close(&f);
}

static void attach_refuses_a_dead_server(void **state)
{
	static Display *husk; /* closing it would end the process: nobody attached it */
	static struct xvfb dying;
	rouse_loop *loop;
	rouse_x11 *x11;

	(void)state;
	xvfb_start(&dying);
	husk = XOpenDisplay(NULL);
	xvfb_kill(&dying);
	xvfb_stop(&dying);
	assert_int_equal(rouse_loop_create(NULL, &loop), 0);
	rouse_x11_options options = {.size = sizeof(options), .display = husk};
	assert_int_equal(rouse_x11_attach(loop, &options, &x11), ROUSE_ELOST);
	assert_int_equal(rouse_loop_destroy(loop), 0);
	xvfb_start(&server);
}

static void internal_unread(Display *display, int fd, XPointer data)
{
	(void)display, (void)fd, (void)data;
}

/* What an internal connection is refused for is what the caller is told. */
static void attach_says_why_it_cannot_join(void **state)
{
	struct fixture f;
	rouse_x11 *x11 = (rouse_x11 *)1;
	int file = memfd_create("regular", MFD_CLOEXEC);

	(void)state;
	assert_true(file >= 0);
	fixture_open(&f, NULL);
	LockDisplay(f.other);
	assert_true(_XRegisterInternalConnection(f.other, file, internal_unread, NULL));
	UnlockDisplay(f.other);
	rouse_x11_options options = {.size = sizeof(options), .display = f.other};
	assert_int_equal(rouse_x11_attach(f.loop, &options, &x11), ROUSE_ENOTSUP);
	assert_ptr_equal(x11, (rouse_x11 *)1);
	LockDisplay(f.other);
	_XUnregisterInternalConnection(f.other, file);
	UnlockDisplay(f.other);
	assert_int_equal(rouse_x11_attach(f.loop, &options, &x11), 0);
	assert_int_equal(rouse_x11_detach(x11), 0);
	fixture_close(&f);
	close(file);
}

static void *from_elsewhere(void *data)
{
	struct fixture *f = data;
	rouse_x11_options options = {.size = sizeof(options), .display = f->other};
	rouse_x11 *x11;
	rouse_x11_injector *injector;
	uint64_t count;

	/* cmocka asserts on the main thread only. */
	f->data =
	        (void *)(uintptr_t)(rouse_x11_attach(f->loop, &options, &x11) ==
	                                    ROUSE_EWRONGTHREAD &&
	                            rouse_x11_detach(f->x11) == ROUSE_EWRONGTHREAD &&
	                            rouse_x11_foreign_reads(f->x11, &count) == ROUSE_EWRONGTHREAD &&
	                            rouse_x11_injector_create(f->x11, f->window, &injector) ==
	                                    ROUSE_EWRONGTHREAD);
	return NULL;
}

static void l7_wrong_thread(void **state)
{
	struct fixture f;
	pthread_t thread;

	(void)state;
	fixture_open(&f, NULL);
	assert_int_equal(pthread_create(&thread, NULL, from_elsewhere, &f), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_ptr_equal(f.data, (void *)1);
	fixture_send(&f, 1);
	fixture_until(f.loop, &f.events, 1);
	fixture_close(&f);
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

static void internal_read(Display *display, int fd, XPointer data)
{
	char byte;

	(void)display, (void)data;
	assert_int_equal(read(fd, &byte, 1), 1);
}

static void l9_every_allocation_fails_once(void **state)
{
	struct memory memory = {.until = ~0u};
	const rouse_allocator allocator = {allocate, release, &memory};
	const rouse_loop_options loop_options = {.size = sizeof(loop_options),
	                                         .allocator = &allocator};
	Display *display = XOpenDisplay(NULL);
	Window window =
	        XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 9, 9, 0, 0, 0);
	unsigned failures = 0;
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	LockDisplay(display);
	assert_true(_XRegisterInternalConnection(display, pipes[0], internal_read, NULL));
	UnlockDisplay(display);
	for (unsigned n = 0;; n++) {
		rouse_loop *loop;
		rouse_x11 *x11 = NULL;
		rouse_x11_injector *injector = NULL;
		rouse_x11_options options = {.size = sizeof(options), .display = display};

		memory.until = ~0u;
		assert_int_equal(rouse_loop_create(&loop_options, &loop), 0);
		memory.calls = 0;
		memory.until = n;
		int attached = rouse_x11_attach(loop, &options, &x11);
		int created = attached ? 0 : rouse_x11_injector_create(x11, window, &injector);
		memory.until = ~0u;
		if (attached || created) {
			failures++;
			assert_int_equal(attached ? attached : created, ROUSE_ENOMEM);
			assert_null(attached ? (void *)x11 : (void *)injector);
			/* Usable. */
			if (attached)
				assert_int_equal(rouse_x11_attach(loop, &options, &x11), 0);
			assert_int_equal(rouse_x11_injector_create(x11, window, &injector), 0);
		}
		assert_int_equal(rouse_x11_injector_send(injector, 1), 0);
		fixture_settle(loop);
		rouse_x11_injector_unref(injector);
		assert_int_equal(rouse_x11_detach(x11), 0);
		assert_int_equal(rouse_loop_destroy(loop), 0);
		assert_int_equal(memory.bytes, 0);
		if (!attached && !created)
			break;
	}
	/* The attachment, its hook, an internal connection and its source, the injector and its. */
	assert_true(failures >= 6);
	XCloseDisplay(display);
	close(pipes[0]);
	close(pipes[1]);
}

/* An internal connection that could not be joined when it opened is joined later. */
static unsigned internal_reads;

static void internal_count(Display *display, int fd, XPointer data)
{
	internal_read(display, fd, data);
	internal_reads++;
}

static void l9_internal_connection_is_joined_later(void **state)
{
	struct memory memory = {.until = ~0u};
	const rouse_allocator allocator = {allocate, release, &memory};
	const rouse_loop_options options = {.size = sizeof(options), .allocator = &allocator};
	struct fixture f;
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	fixture_open(&f, &options);
	internal_reads = 0;
	memory.until = 0;
	LockDisplay(f.display);
	assert_true(_XRegisterInternalConnection(f.display, pipes[0], internal_count, NULL));
	UnlockDisplay(f.display);
	fixture_settle(f.loop);
	memory.until = ~0u;
	fixture_settle(f.loop);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	fixture_until(f.loop, &internal_reads, 1);
	fixture_close(&f);
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(attach_refuses_bad_arguments),
	        cmocka_unit_test(attach_refuses_what_is_attached),
	        cmocka_unit_test(attach_refuses_a_dead_server),
	        cmocka_unit_test(attach_says_why_it_cannot_join),
	        cmocka_unit_test(l7_wrong_thread),
	        cmocka_unit_test(l9_every_allocation_fails_once),
	        cmocka_unit_test(l9_internal_connection_is_joined_later),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
