/* One end of a connection as a test watches it. */
#ifndef ROUSE_TESTS_WIN32_ENDS_H
#define ROUSE_TESTS_WIN32_ENDS_H

#include "win32.h"

#include <ws2tcpip.h>

struct end {
	rouse_loop *loop;
	SOCKET s, peer;
	rouse_source self;
	unsigned events;
	int runs, bytes, ended;
	void (*then)(struct end *e);
};

void note_end(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data);
void watch_end(rouse_loop *loop, struct end *e, unsigned events);
void unwatch_end(struct end *e);
void finish(rouse_loop *loop);

SOCKET new_socket(void);
SOCKET new_listener(struct sockaddr_in *at);
/* Both ends; `use`: an unconnected socket to be the near one, or INVALID_SOCKET. */
void pair_up(struct end *e, SOCKET use);
void open_pair(struct end *e);
void close_pair(struct end *e);
void say(SOCKET s, const char *what);
void read_all(struct end *e);

int start_sockets(void **state);

/* With an argument: sockets are asked for without the driver, and that they were is a test. */
int run_on_sockets(int argc, const struct CMUnitTest *tests, size_t count);

#endif
