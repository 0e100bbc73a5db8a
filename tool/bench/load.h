/*
 * Clients that keep a server busy, each on a thread and a connection of its own.
 *
 * connect     of one client; NULL: it cannot be.
 * work        on the client's thread: one batch, and then waits for the server, so that stopping
 *             is quick.  False once the server is gone.
 * descriptor  of the connection: shut down, it ends a wait for a server that does not answer.
 * disconnect  after the thread was joined.
 */
#ifndef ROUSE_TOOL_BENCH_LOAD_H
#define ROUSE_TOOL_BENCH_LOAD_H

#include <stdbool.h>

struct load_ops {
	void *(*connect)(const char *display);
	bool (*work)(void *client);
	int (*descriptor)(void *client);
	void (*disconnect)(void *client);
};

extern const struct load_ops load_x11, load_wayland;

struct load;

/* NULL after one line of complaint. */
struct load *load_start(const struct load_ops *ops, const char *display, unsigned clients);
/* NULL is allowed. */
void load_stop(struct load *load);

#endif
