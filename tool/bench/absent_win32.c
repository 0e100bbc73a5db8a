/*
 * What the command has on other systems alone: a program beside it with the loops of other
 * libraries, displays whose servers it starts and keeps busy, waits of window libraries.  Nothing
 * here is ever asked for: kinds_win32.c has no loop or mechanism that would.
 */
#include "bench/handover.h"
#include "bench/hosts.h"
#include "bench/load.h"
#include "server.h"

void hosts_hand_over(const struct options *options, int argc, char **argv)
{
	(void)options;
	(void)argc;
	(void)argv;
}

const char *hosts_broken(void)
{
	return NULL;
}

bool server_installed(const char *program)
{
	(void)program;
	return false;
}

struct load *load_start(const struct load_ops *ops, const char *display, unsigned clients)
{
	(void)ops;
	(void)display;
	(void)clients;
	return NULL;
}

void load_stop(struct load *load)
{
	(void)load;
}

int handover_open(struct handover *handover, rouse_loop *loop, const struct mech *mech,
                  size_t mechs)
{
	(void)loop;
	(void)mech;
	(void)mechs;
	handover->used = false;
	return 0;
}

void handover_close(struct handover *handover)
{
	(void)handover;
}

void handover_announce(struct handover *handover, struct mech *mech)
{
	(void)handover;
	(void)mech;
}

void handover_take(struct handover *handover, const struct mech *mech)
{
	(void)handover;
	(void)mech;
}

void handover_end(struct handover *handover)
{
	(void)handover;
}
