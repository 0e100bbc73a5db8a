#include "proxy.h"

#include "turns.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

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

static void name_of(struct sockaddr_un *address, const char *display)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "/tmp/.X11-unix/X%s", display + 1);
}

void proxy_start(struct proxy *p, const struct xvfb *server)
{
	struct sockaddr_un address;

	*p = (struct proxy){0};
	snprintf(p->display, sizeof(p->display), ":%d", 10000 + (int)getpid());
	name_of(&address, p->display);
	p->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(p->listening, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(p->listening, 1), 0);
	name_of(&address, server->display);
	p->upstream = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(p->upstream, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(pipe(p->hold) | pipe(p->release), 0);
	assert_int_equal(pthread_create(&p->thread, NULL, run_proxy, p), 0);
}

void proxy_hide(struct proxy *p)
{
	struct sockaddr_un address;

	name_of(&address, p->display);
	assert_int_equal(unlink(address.sun_path), 0);
}

void proxy_hold(struct proxy *p)
{
	char byte = 0;

	assert_int_equal(write(p->hold[1], &byte, 1), 1);
	assert_int_equal(read(p->release[0], &byte, 1), 1);
}

void proxy_release(struct proxy *p)
{
	char byte = 0;

	assert_int_equal(write(p->release[1], &byte, 1), 1);
}

void proxy_stop(struct proxy *p)
{
	assert_int_equal(pthread_join(p->thread, NULL), 0);
	assert_false(p->failed);
	close(p->listening);
	for (int i = 0; i < 2; i++) {
		close(p->hold[i]);
		close(p->release[i]);
	}
}
