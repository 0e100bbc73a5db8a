/*
 * The queue, the doorbell, the wakers, the budget and the end of a loop, with producers whose
 * stores are buffered.  README.md says which step is which function's; configurations.py has the
 * configurations.
 */

#define UNHOSTED 0
#define DESCRIPTOR 1 /* a host that watches the descriptor and calls rouse_loop_turn() */
#define BRACKET 2    /* a host that calls prepare, check and dispatch */

#ifndef HOST
#define HOST UNHOSTED
#endif
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef OPS
#define OPS 1
#endif
#ifndef BUDGET
#define BUDGET 1
#endif
#ifndef DEPTH
#if HOST
#define DEPTH 1 /* how many turns nest */
#else
#define DEPTH 0 /* an unhosted loop refuses them */
#endif
#endif

#include "remote.pml"
#include "waker.pml"
#include "producer.pml"
#include "loop.pml"

init
{
	byte p;

	atomic {
		run loop();
		do
		:: p < PRODUCERS -> run producer(p); p++
		:: else -> break
		od;
		p = 0
	}
	/* When all have left, everything is accounted for and nothing is left over. */
	d_step {
		ended && gone == PRODUCERS;
		do
		:: p < NODES ->
			assert(node[p] == IDLE || node[p] == ACCOUNTED);
			p++
		:: else -> break
		od;
#ifndef STAY
		assert(waker_refs == 0);
		assert(remote_refs == 0)
#endif
	}
}
