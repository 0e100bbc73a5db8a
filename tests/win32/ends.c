#include "ends.h"

#include <limits.h>
#include <string.h>

void note_end(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	struct end *e = data;

	assert_ptr_equal(loop, e->loop);
	assert_true(self.id == e->self.id);
	assert_true(fd == e->s);
	e->events |= events;
	e->runs++;
	if (e->then)
		e->then(e);
}

void watch_end(rouse_loop *loop, struct end *e, unsigned events)
{
	e->loop = loop;
	assert_int_equal(rouse_fd_add(loop, e->s, events, note_end, e, &e->self), 0);
}

void unwatch_end(struct end *e)
{
	assert_int_equal(rouse_remove(e->loop, e->self), 0);
}

void finish(rouse_loop *loop)
{
	assert_int_equal(rouse_loop_destroy(loop), 0);
}

SOCKET new_socket(void)
{
	SOCKET s = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
	u_long non_blocking = 1;

	assert_true(s != INVALID_SOCKET);
	assert_int_equal(ioctlsocket(s, (long)FIONBIO, &non_blocking), 0);
	return s;
}

SOCKET new_listener(struct sockaddr_in *at)
{
	int size = sizeof *at;
	SOCKET s = new_socket();

	*at = (struct sockaddr_in){.sin_family = AF_INET,
	                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(s, (struct sockaddr *)at, sizeof *at), 0);
	assert_int_equal(listen(s, 16), 0);
	assert_int_equal(getsockname(s, (struct sockaddr *)at, &size), 0);
	return s;
}

static SOCKET accepted(SOCKET from)
{
	fd_set set;
	u_long non_blocking = 1;
	SOCKET s;

	FD_ZERO(&set);
	FD_SET(from, &set);
	assert_int_equal(select(0, &set, NULL, NULL, NULL), 1);
	s = accept(from, NULL, NULL);
	assert_true(s != INVALID_SOCKET);
	assert_int_equal(ioctlsocket(s, (long)FIONBIO, &non_blocking), 0);
	return s;
}

void pair_up(struct end *e, SOCKET use)
{
	struct sockaddr_in at;
	SOCKET from = new_listener(&at);
	int at_once = 1;

	e->s = use == INVALID_SOCKET ? new_socket() : use;
	(void)connect(e->s, (struct sockaddr *)&at, sizeof at);
	e->peer = accepted(from);
	assert_int_equal(setsockopt(e->peer, IPPROTO_TCP, TCP_NODELAY, (const char *)&at_once,
	                            sizeof at_once),
	                 0);
	closesocket(from);
}

void open_pair(struct end *e)
{
	pair_up(e, INVALID_SOCKET);
}

void say(SOCKET s, const char *what)
{
	assert_int_equal(send(s, what, (int)strlen(what), 0), (int)strlen(what));
}

void read_all(struct end *e)
{
	char buffer[256];
	int n;

	while ((n = recv(e->s, buffer, sizeof buffer, 0)) > 0)
		e->bytes += n;
	if (n == 0) {
		e->ended++;
		assert_int_equal(rouse_fd_set_events(e->loop, e->self, 0), 0);
	}
}

void close_pair(struct end *e)
{
	closesocket(e->s);
	closesocket(e->peer);
}

int start_sockets(void **state)
{
	static WSADATA data;

	(void)state;
	return WSAStartup(MAKEWORD(2, 2), &data);
}

enum { DENIED = 0x22 };

static int asked_by_event(void **state)
{
	(void)state;
	return rouse__fault_count(ROUSE__EVENT_SELECT) ? 0 : -1;
}

int run_on_sockets(int argc, const struct CMUnitTest *tests, size_t count)
{
	if (argc < 2)
		return _cmocka_run_group_tests("sockets", tests, count, start_sockets, NULL);
	rouse__fault_fail(ROUSE__AFD_OPEN, 0, UINT_MAX, DENIED);
	return _cmocka_run_group_tests("sockets by event", tests, count, start_sockets,
	                               asked_by_event);
}
