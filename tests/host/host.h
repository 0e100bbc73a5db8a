/*
 * One contract, many hosts: guest.c, lives.c, refusals.c, idle.c, on_x11.c and on_wayland.c are
 * written once against this header, and linked with one host each.  A host is run on the main
 * thread.
 */
#ifndef ROUSE_TESTS_HOST_H
#define ROUSE_TESTS_HOST_H

#include <rouse/rouse.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this host is. */
struct host_kind {
	const char *name;
	bool nests;     /* its loop may be run in a callback */
	bool refuses;   /* else: it says so when asked to */
	bool adapter;   /* a library or class of ours, and no recipe */
	bool told;      /* of stops and errors, by host_done */
	bool bracket;   /* is told deadlines: the descriptor alone does not carry them */
	unsigned looks; /* system calls of its own, beside its wait, each time that it waits */
};
extern const struct host_kind host_kind;

/* The program's, once. */
void host_init(int *argc, char **argv);
/* The host's loop, for one test. */
void host_open(void);
void host_close(void);

/* Attach, or what rouse says; detach. */
int host_attach(rouse_loop *loop);
int host_detach(void);

/* One iteration, that waits until there is something to do; one that does not wait. */
void host_turn(void);
void host_poll(void);

/* In a callback, of a host that does not nest: it says so itself.  libuv forbids it in words, and
 * is not asked. */
bool host_refuses_to_nest(void);

/* The host's own: called every millisecond, from now on; NULL: no more. */
void host_tick(void (*fn)(void *data), void *data);
/* The host's own: something that is ready in each iteration, at the priority of the loop. */
void host_busy(bool on);
extern unsigned host_busy_runs;

/* What the adapter has told, and how often. */
extern int host_result;
extern unsigned host_dones;
/* It detaches when it is told. */
extern bool host_leaves;

#ifdef __cplusplus
}
#endif
#endif
