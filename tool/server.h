/*
 * A private server: a program that this process starts for itself, and that ends with it.
 *
 * It ends with server_stop(), and when this process ends in any way, killed included: the kernel
 * then sends it SIGTERM.
 */
#ifndef ROUSE_TOOL_SERVER_H
#define ROUSE_TOOL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All zero: none. */
struct server {
	const char *program;
	pid_t pid;
	int errors; /* What it says: a file in memory. */
};

/* How long a server may take until it answers. */
#define SERVER_START_MS 20000

bool server_installed(const char *program);

/*
 * Main thread only: the kernel's signal comes when the thread that started the server ends.
 * `prepare` runs in the child just before the program does, and answers -1 with errno if there is
 * no going on.  0, or -1 after one line of complaint; then there is nothing to stop.
 */
int server_start(struct server *server, const char *program, const char *package, char *const *argv,
                 int (*prepare)(void *data), void *data);
/* It ended by itself. */
bool server_ended(const struct server *server);
/* One line of complaint, with what the server said last.  Silent after an interrupt. */
void server_does_not_start(const struct server *server);
/* What it said so far, from the beginning; as much as fits. */
void server_said(const struct server *server, char *text, size_t size);
/* The server is gone when this returns, and what it started has been killed. */
void server_stop(struct server *server);

#endif
