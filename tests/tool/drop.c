/*
 * A doorbell that swallows wakes in the middle of a run, and tells on standard error how many.
 *
 * It stops only when the loss is beyond doubt, however slowly all this goes: when, since the last
 * one swallowed, the command has asked for its loop's turn, as it does at each answer, in four
 * different turns.  Calls made before that one were answered in the first two of them at most;
 * so the others answered later calls, and the next wake comes a turn after them.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

#include <rouse/rouse.h>

enum { FIRST = 5, EVIDENCE = 4 };

static _Atomic unsigned answering_turns; /* Counted by the loop's thread. */
/* The worker's. */
static unsigned calls, dropped, turns_before;
static int over;

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "dropped %u\n", dropped);
}

int rouse_wake(rouse_waker *waker)
{
	int (*real)(rouse_waker *);
	unsigned turns = atomic_load(&answering_turns);

	*(void **)&real = dlsym(RTLD_NEXT, "rouse_wake");
	calls++;
	over = over || (dropped > 0 && turns - turns_before >= EVIDENCE);
	if (calls < FIRST || over)
		return real(waker);
	dropped++;
	turns_before = turns;
	return 1;
}

int rouse_loop_stats(const rouse_loop *loop, rouse_stats *stats)
{
	static uint64_t latest;
	int (*real)(const rouse_loop *, rouse_stats *);
	int result;

	*(void **)&real = dlsym(RTLD_NEXT, "rouse_loop_stats");
	result = real(loop, stats);
	if (result == 0 && stats->turns != latest) {
		latest = stats->turns;
		atomic_fetch_add(&answering_turns, 1);
	}
	return result;
}
