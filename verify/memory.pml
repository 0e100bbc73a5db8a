/*
 * Memory, total store order: each thread's plain stores wait in a buffer of its own and reach
 * memory in order, one at a time, at any later moment.  A read-modify-write and a system call
 * find their thread's buffer empty.  A plain load does not wait for it: that is the one
 * reordering there is.  With -DSC there are no buffers.
 *
 * Loads do not look into their own thread's buffer, because no thread loads what it may have
 * there (see README.md, "What is not modelled").
 */

/* The loop's thread is a thread like the others, after them. */
#define LOOP PRODUCERS

/* Cells: each thread's data, the nodes' links, the word, the waker's bits, the task's mark. */
#define DATA(who) (who)
#define LINK(n) (PRODUCERS + 1 + (n))
#define WORD LINK(NODES)
#define STATE (WORD + 1)
#define QUEUED (STATE + 1)
#define CELLS (QUEUED + 1)

byte mem[CELLS];

#define word mem[WORD]
#define state mem[STATE]
#define queued mem[QUEUED]

hidden byte cell, value;

#ifdef SC
#define store(who, at, what) mem[at] = what
#define drain(who) skip
#else
chan buffer[PRODUCERS + 1] = [4] of { byte, byte };

#define store(who, at, what) buffer[who]!at, what

/* Inside d_step, before a read-modify-write. */
inline drain(who)
{
	do
	:: nempty(buffer[who]) ->
		buffer[who]?cell, value;
		mem[cell] = value
	:: empty(buffer[who]) -> break
	od
}

active proctype memory()
{
end:
	do
	:: d_step { buffer[0]?cell, value; mem[cell] = value }
	:: d_step { buffer[1]?cell, value; mem[cell] = value }
	:: d_step { buffer[2]?cell, value; mem[cell] = value }
#if PRODUCERS > 2
	:: d_step { buffer[3]?cell, value; mem[cell] = value }
#endif
	od
}
#endif
