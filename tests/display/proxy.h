/* A proxy between a client and the server, which can cut what the server says. */
#ifndef ROUSE_TESTS_PROXY_H
#define ROUSE_TESTS_PROXY_H

#include "xvfb.h"

#include <pthread.h>
#include <stdbool.h>

struct proxy {
	pthread_t thread;
	int listening, client, upstream;
	char display[16]; /* a number that no server has */
	int hold[2];      /* a byte here: hold back the second half of what comes next */
	int release[2];   /* and a byte here: let it go */
	bool holding;
	bool failed;
};

/* For one client. */
void proxy_start(struct proxy *p, const struct xvfb *server);
/* The client has connected: nobody else needs the name. */
void proxy_hide(struct proxy *p);
/* From here on: of the next 32 bytes or more, the first 16 alone. */
void proxy_hold(struct proxy *p);
void proxy_release(struct proxy *p);
/* The client has disconnected. */
void proxy_stop(struct proxy *p);

#endif
