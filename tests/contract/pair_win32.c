/* Channels are sockets: here nothing else is watched as a descriptor. */
#include "env.h"

#include <winsock2.h>
#include <ws2tcpip.h>

static void start(void)
{
	static WSADATA data;

	if (!data.wVersion)
		assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
}

static SOCKET new_socket(void)
{
	SOCKET s = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);

	assert_true(s != INVALID_SOCKET);
	return s;
}

void env_pair_open(rouse_fd *fd, rouse_fd *peer)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int size = sizeof at, at_once = 1;
	u_long non_blocking = 1;
	SOCKET listener, connected, accepted;

	start();
	listener = new_socket();
	connected = new_socket();
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
	assert_int_equal(connect(connected, (struct sockaddr *)&at, sizeof at), 0);
	accepted = accept(listener, NULL, NULL);
	assert_true(accepted != INVALID_SOCKET);
	assert_int_equal(closesocket(listener), 0);
	assert_int_equal(ioctlsocket(accepted, (long)FIONBIO, &non_blocking), 0);
	assert_int_equal(ioctlsocket(connected, (long)FIONBIO, &non_blocking), 0);
	assert_int_equal(setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, (const char *)&at_once,
	                            sizeof at_once),
	                 0);
	*fd = accepted;
	*peer = connected;
}

void env_pair_write(rouse_fd peer)
{
	assert_int_equal(send(peer, "x", 1, 0), 1);
}

int env_pair_drain(rouse_fd fd)
{
	char sink[256];
	int n, sum = 0;

	while ((n = recv(fd, sink, sizeof sink, 0)) > 0)
		sum += n;
	return sum;
}

void env_pair_close(rouse_fd fd)
{
	closesocket(fd);
}

/* What is unread hides it from wine, though not from Windows. */
void env_pair_hang_up(rouse_fd fd, rouse_fd peer)
{
	(void)env_pair_drain(fd);
	closesocket(peer);
}
