/* A compositor's end of a connection, in this process: what it does is exact. */
#ifndef ROUSE_TESTS_PEER_H
#define ROUSE_TESTS_PEER_H

#include <stdint.h>

struct wl_client;
struct wl_resource;

struct peer {
	void *server; /* a struct wl_display, the server's, which has the name of the client's */
	struct wl_client *client; /* NULL: hung up */
	struct wl_resource *output;
};

/* @return the client's end, for wl_display_connect_to_fd(). */
int peer_open(struct peer *peer);
void peer_close(struct peer *peer);

/* Read what has come, answer, and send. */
void peer_serve(struct peer *peer);
/* `count` events of 12 bytes for the client's wl_output; the last says `count`. */
void peer_flood(struct peer *peer, int32_t count);
/* A protocol error of the wl_output; that the client is then hung up on is the test's. */
void peer_post_error(struct peer *peer, uint32_t code);
void peer_hang_up(struct peer *peer);
uint32_t peer_output_id(const struct peer *peer);

#endif
