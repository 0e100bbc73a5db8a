/*
 * From bytes to calls.
 *
 * The bytes are read where a decision is needed: which call comes next, with what, and in each
 * callback and at each point of the protocol where another thread could come between, whether
 * something is done there, and what.  When they are used up, nothing more is done.
 */
#include "player.h"

#include <string.h>

enum { DEEPEST = 6, LONGEST = 500 };

struct player player;

unsigned take(void)
{
	if (!player.left)
		return 0;
	player.left--;
	return *player.input++;
}

rouse_ns now(void)
{
	return player.world->loop_now();
}

void note(enum what what, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	trace_event((struct event){
	        .what = what, .left = player.left, .now = now(), .arguments = {a, b, c, d}});
}

void result_and(int value, uint64_t more)
{
	int refused = 0;

	if (player.world == &library)
		refused = library_was_refused();
	trace_event((struct event){.what = RESULT,
	                           .refused = refused,
	                           .left = player.left,
	                           .now = now(),
	                           .arguments = {(uint64_t)(int64_t)value, more}});
}

int result(int value)
{
	result_and(value, 0);
	return value;
}

/* ---- When it is called ------------------------------------------------------------- */

static int enough(void)
{
	return trace_length() >= TRACE_ENOUGH || player.waits >= LONGEST;
}

static int may_act(void)
{
	return player.depth < DEEPEST && !enough();
}

static void enter(enum what what, uint64_t a, uint64_t b, uint64_t c, enum context as,
                  enum context *before)
{
	note(what, a, b, c, 0);
	*before = player.context;
	player.context = as;
	player.depth++;
}

static void leave(enum context before, uint64_t value)
{
	player.depth--;
	player.context = before;
	note(RETURNED, value, 0, 0, 0);
}

static uint64_t answer(enum what callback, unsigned b)
{
	switch (callback) {
	case ON_PREPARE:
		if (enough() || b % 4 == 0)
			return ROUSE_NEVER;
		return b % 4 == 1 ? 0 : now() + b / 4;
	case ON_CHECK:
		return !enough() && b % 2;
	case ON_DISPATCH:
		return enough() ? 0 : b == 63 ? (uint64_t)-1 : b % 3;
	default:
		return 0;
	}
}

uint64_t player_called(enum what callback, uint64_t a, uint64_t b, uint64_t c)
{
	enum context before;
	unsigned byte;
	uint64_t value;

	enter(callback, a, b, c, ON_LOOP_THREAD, &before);
	byte = take();
	if (enough())
		stop_loop();
	for (unsigned n = byte >> 6; n > 0 && may_act(); n--)
		act();
	value = answer(callback, byte & 63);
	leave(before, value);
	return value;
}

void player_at(enum what moment)
{
	enum context before;
	int producer = moment == AT_PENDING || moment == AT_PUBLISHED;
	int held_up = producer && player.context == PRODUCING;
	int end_run = moment == AT_ASLEEP && enough();

	if (player.context == IN_HANDLER)
		return;
	player.waits += moment == AT_ASLEEP;
	if (!end_run && (take() < 208 || !may_act()))
		return;
	enter(moment, 0, 0, 0, held_up ? ON_LOOP_THREAD : ELSEWHERE, &before);
	if (end_run)
		stop_remotely();
	else if (held_up)
		act();
	else
		act_elsewhere();
	leave(before, 0);
}

void player_idle(void)
{
	enum context before;
	int queued = 0;

	enter(AT_IDLE, 0, 0, 0, ELSEWHERE, &before);
	switch (take() % 4) {
	case 1:
		queued = post_some() == 0;
		break;
	case 2:
		queued = wake_some() == 1;
		break;
	case 3:
		queued = post_some_task() == 0;
		break;
	}
	if (!queued)
		stop_remotely();
	leave(before, 0);
}

/* ---- From beginning to end ------------------------------------------------------------ */

void play(const struct world *world, const unsigned char *input, size_t size)
{
	memset(&player, 0, sizeof player);
	player.world = world;
	player.input = input;
	player.left = size;
	player.next_source = 1;
	world->begin();
	create_loop();
	while (player.left && !enough())
		act();
	player.left = 0;
	show_stats();
	destroy_loop();
	show_remote_stats();
	for (int i = 0; i < player.next_waker; i++)
		while (player.users[i])
			unref_waker(i);
	world->end();
}
