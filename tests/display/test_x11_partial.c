/* The server's bytes come in pieces: a proxy between the client and the server cuts them. */
#include "fixture.h"
#include "xvfb.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct xvfb server;

struct proxy {
	int listening, client, upstream;
	int display;    /* a number that no server has */
	int hold[2];    /* a byte here: hold back the second half of what comes next */
	int release[2]; /* and a byte here: let it go */
	bool holding;
	bool failed;
};

static void forward(struct proxy *p, const char *bytes, ssize_t size, int to)
{
	char byte;

	if (to == p->client && p->holding && size >= 32) {
		p->holding = false;
		p->failed |= write(to, bytes, 16) != 16;
		p->failed |= read(p->release[0], &byte, 1) != 1;
		bytes += 16;
		size -= 16;
	}
	p->failed |= write(to, bytes, (size_t)size) != size;
}

static void *run_proxy(void *data)
{
	struct proxy *p = data;
	char bytes[65536], byte;

	p->client = accept(p->listening, NULL, NULL);
	for (;;) {
		struct pollfd fds[] = {{.fd = p->client, .events = POLLIN},
		                       {.fd = p->upstream, .events = POLLIN},
		                       {.fd = p->hold[0], .events = POLLIN}};

		poll(fds, 3, -1);
		if (fds[2].revents) {
			p->failed |= read(p->hold[0], &byte, 1) != 1;
			p->holding = true;
			p->failed |= write(p->release[1], &byte, 1) != 1;
			continue;
		}
		int from = fds[0].revents ? p->client : p->upstream;
		ssize_t size = read(from, bytes, sizeof(bytes));
		if (size <= 0)
			break;
		forward(p, bytes, size, from == p->client ? p->upstream : p->client);
	}
	close(p->client);
	close(p->upstream);
	return NULL;
}

static void start_proxy(struct proxy *p, pthread_t *thread)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	p->display = 10000 + (int)getpid();
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.X11-unix/X%d", p->display);
	p->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(p->listening, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(p->listening, 1), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.X11-unix/X%s",
	         server.display + 1);
	p->upstream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(p->upstream, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(pipe(p->hold) | pipe(p->release), 0);
	assert_int_equal(pthread_create(thread, NULL, run_proxy, p), 0);
}

static void count_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop, (void)self, (void)deadline;
	++*(unsigned *)data;
}

static void x2_half_an_event_neither_spins_nor_blocks(void **state)
{
	struct proxy proxy = {0};
	struct fixture f;
	pthread_t thread;
	unsigned ticks = 0;
	rouse_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};
	XEvent event = {.xclient = {.type = ClientMessage, .format = 32}};
	char byte = 0, name[64];

	(void)state;
	fixture_open(&f, NULL);
	start_proxy(&proxy, &thread);
	/* The attached display is the one behind the proxy. */
	assert_int_equal(rouse_x11_detach(f.x11), 0);
	XCloseDisplay(f.display);
	snprintf(name, sizeof(name), ":%d", proxy.display);
	f.display = XOpenDisplay(name);
	snprintf(name, sizeof(name), "/tmp/.X11-unix/X%d", proxy.display);
	unlink(name);
	assert_non_null(f.display);
	f.window =
	        XCreateSimpleWindow(f.display, DefaultRootWindow(f.display), 0, 0, 9, 9, 0, 0, 0);
	XSync(f.display, False);
	rouse_x11_options options = fixture_options(&f);
	assert_int_equal(rouse_x11_attach(f.loop, &options, &f.x11), 0);
	fixture_settle(f.loop);

	/* The proxy holds from here on. */
	assert_int_equal(write(proxy.hold[1], &byte, 1), 1);
	assert_int_equal(read(proxy.release[0], &byte, 1), 1);
	event.xclient.window = f.window;
	XSendEvent(f.other, f.window, False, NoEventMask, &event);
	XFlush(f.other);
	fixture_await_bytes(&f, 16);

	assert_int_equal(rouse_loop_stats(f.loop, &before), 0);
	rouse_ns start = rouse_now();
	assert_int_equal(rouse_timer_add(f.loop, start + 35 * MS, 0, 0, count_timer, &ticks, NULL),
	                 0);
	fixture_until(f.loop, &ticks, 1);
	assert_int_equal(rouse_loop_stats(f.loop, &after), 0);
	assert_true(after.turns - before.turns < 10);
	assert_int_equal(f.events, 0);

	assert_int_equal(write(proxy.release[1], &byte, 1), 1);
	fixture_until(f.loop, &f.events, 1);
	fixture_close(&f);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_false(proxy.failed);
	close(proxy.listening);
	for (int i = 0; i < 2; i++) {
		close(proxy.hold[i]);
		close(proxy.release[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(x2_half_an_event_neither_spins_nor_blocks),
	};

	xvfb_start(&server);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
