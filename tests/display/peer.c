#include "peer.h"

#include "turns.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <wayland-server.h>

static void gone(struct wl_resource *resource)
{
	((struct peer *)wl_resource_get_user_data(resource))->output = NULL;
}

static void bind_output(struct wl_client *client, void *data, uint32_t version, uint32_t id)
{
	struct peer *peer = data;

	peer->output = wl_resource_create(client, &wl_output_interface, (int)version, id);
	wl_resource_set_implementation(peer->output, NULL, peer, gone);
}

int peer_open(struct peer *peer)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	*peer = (struct peer){.server = wl_display_create()};
	assert_non_null(wl_global_create(peer->server, &wl_output_interface, 2, peer, bind_output));
	peer->client = wl_client_create(peer->server, ends[0]);
	assert_non_null(peer->client);
	return ends[1];
}

void peer_hang_up(struct peer *peer)
{
	if (peer->client)
		wl_client_destroy(peer->client);
	peer->client = NULL;
}

void peer_close(struct peer *peer)
{
	peer_hang_up(peer);
	wl_display_destroy(peer->server);
}

void peer_serve(struct peer *peer)
{
	assert_int_equal(wl_event_loop_dispatch(wl_display_get_event_loop(peer->server), 0), 0);
	wl_display_flush_clients(peer->server);
}

void peer_flood(struct peer *peer, int32_t count)
{
	assert_non_null(peer->output);
	for (int32_t i = 1; i <= count; i++)
		wl_output_send_scale(peer->output, i);
	wl_client_flush(peer->client);
}

void peer_post_error(struct peer *peer, uint32_t code)
{
	wl_resource_post_error(peer->output, code, "as the test wants it");
	wl_client_flush(peer->client);
}

uint32_t peer_output_id(const struct peer *peer)
{
	return wl_resource_get_id(peer->output);
}
