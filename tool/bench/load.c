#include "bench/load.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "thread.h"
#include "tool.h"

struct client {
	const struct load_ops *ops;
	void *connection;
	pthread_t thread;
	atomic_bool quit;
};

struct load {
	const struct load_ops *ops;
	unsigned n;
	struct client client[];
};

static void *client_main(void *data)
{
	struct client *c = data;

	while (!atomic_load_explicit(&c->quit, memory_order_acquire) && c->ops->work(c->connection))
		;
	return NULL;
}

struct load *load_start(const struct load_ops *ops, const char *display, unsigned clients)
{
	struct load *load = calloc(1, sizeof *load + clients * sizeof load->client[0]);

	if (!load) {
		tool_complain("no memory for --load");
		return NULL;
	}
	load->ops = ops;
	for (; load->n < clients; load->n++) {
		struct client *c = &load->client[load->n];
		int error;

		c->ops = ops;
		c->connection = ops->connect(display);
		if (!c->connection) {
			tool_complain("--load: client %u cannot connect to '%s'", load->n + 1,
			              display);
			load_stop(load);
			return NULL;
		}
		error = thread_start(&c->thread, client_main, c);
		if (error != 0) {
			tool_complain("--load: %s", strerror(error));
			ops->disconnect(c->connection);
			load_stop(load);
			return NULL;
		}
	}
	return load;
}

void load_stop(struct load *load)
{
	if (!load)
		return;
	for (unsigned i = 0; i < load->n; i++) {
		struct client *c = &load->client[i];

		atomic_store_explicit(&c->quit, true, memory_order_release);
		shutdown(load->ops->descriptor(c->connection), SHUT_RDWR);
	}
	for (unsigned i = 0; i < load->n; i++) {
		pthread_join(load->client[i].thread, NULL);
		load->ops->disconnect(load->client[i].connection);
	}
	free(load);
}
