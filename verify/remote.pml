/* The shared part: remote.h, remote.c, and the doorbell as epoll or poll see it. */

/* The word; a link has the same values, and EMPTY at the list's end. */
#define EMPTY 0
#define ASLEEP 1
#define CLOSED 2
#define NODE(n) ((n) + 3)
#define NUMBER(w) ((w) - 3)

/* Nodes.  Each post has one of its own, so that one that runs twice is seen. */
#define WAKER 0
#define STOP 1
#define POST(who, i) (2 + (who) * OPS + (i))
#define OWNER(n) (((n) - 2) / OPS)
#define ORDINAL(n) (((n) - 2) % OPS)
#define NODES (2 + PRODUCERS * OPS)

#define IDLE 0
#define IN_QUEUE 1 /* accepted, and not yet with whoever runs it */
#define TAKEN 2
#define ACCOUNTED 3 /* run or cancelled: gone, its owner may have freed it */

/* What a push, and a wake, come to. */
#define R_NONE 0
#define R_QUEUED 1
#define R_RING 2
#define R_CLOSED 3

#include "memory.pml"

byte node[NODES];

byte remote_refs = PRODUCERS + 2; /* producers, the waker, the loop */

/*
 * The doorbell.  Edge-triggered and never read, one bit is enough: a ring sets it, a wait that
 * reports it takes it, absorbing takes it too, because a descriptor that is not readable is
 * reported by no edge of the past.  Level-triggered, absorbing alone takes it.
 */
bit bell;

/* Whether a producer may still ring this sleep.  No ring is due while an unhosted loop is up. */
bit may_ring;

#define remote_alive assert(remote_refs > 0)

/* One write to the eventfd.  A refused one makes no edge. */
#ifdef FULL
bit bell_full; /* its maximum is 1 */
#define empty_bell bell_full = 0
inline write_bell(who)
{
	d_step {
		remote_alive;
		drain(who);
		refused = bell_full;
		bell = bell || !bell_full;
		bell_full = 1
	}
}
#else
#define empty_bell skip
#endif

inline ring(who)
{
#if defined(MUTANT_NO_RING)
	skip
#elif defined(FULL)
	write_bell(who);
	if
	:: refused ->
#ifndef MUTANT_NO_FULL
		d_step { bell = 0; empty_bell };
		write_bell(who);
#endif
		refused = 0
	:: else
	fi
#else
	d_step {
		remote_alive;
		drain(who);
		bell = 1
	}
#endif
}

/*
 * Look at `old`: closed, or link the node to it.  The link's store is in memory at once: nobody
 * can load it before the exchange, which would find the buffer empty.
 */
inline link_to_old(who, n)
{
	if
#ifndef MUTANT_NO_CLOSED_PUSH
	:: old == CLOSED -> result = R_CLOSED
#endif
	:: else ->
		mem[LINK(n)] = (old == ASLEEP -> EMPTY : old)
	fi
}

/* The owner's promise to ring is made with the exchange: from then on nobody else does. */
inline published(n)
{
	word = NODE(n);
	assert(node[n] == IDLE);
	node[n] = IN_QUEUE;
	result = R_QUEUED;
	if
#if defined(MUTANT_ALWAYS_RING)
	:: true ->
#else
	:: old == ASLEEP ->
#endif
		assert(may_ring);
		may_ring = 0;
		result = R_RING
	:: else
	fi
}

inline push(who, n)
{
	atomic {
		remote_alive;
		old = word;
		result = R_NONE;
		link_to_old(who, n)
	}
	do
	:: result == R_NONE ->
#ifdef MUTANT_RING_FIRST
		if
		:: old == ASLEEP -> ring(who)
		:: else
		fi;
#endif
		atomic {
			d_step {
				remote_alive;
				drain(who);
				if
				:: word == old -> published(n)
				:: else -> old = word
				fi
			}
			if
			:: result == R_NONE -> link_to_old(who, n)
			:: else
			fi
		}
	:: result == R_RING ->
#ifndef MUTANT_RING_FIRST
		ring(who);
#endif
		result = R_QUEUED
	:: result == R_QUEUED || result == R_CLOSED -> break
	od
}

inline remote_unref(who)
{
	d_step {
		remote_alive;
		drain(who);
		remote_refs--
	}
}

/* ---- On the loop's thread ------------------------------------------------- */

byte todo; /* taken and not run: a word's value */
hidden byte taken, at, next_at, reversed;

/* oldest_first(), and the list joins the end of `todo`.  Nobody else reads or writes the link of
 * a node that was taken, so this is one step. */
inline append_taken()
{
	reversed = EMPTY;
	at = (taken == ASLEEP || taken == CLOSED -> EMPTY : taken);
	do
	:: at != EMPTY ->
		assert(node[NUMBER(at)] == IN_QUEUE);
		next_at = mem[LINK(NUMBER(at))];
		mem[LINK(NUMBER(at))] = reversed;
		reversed = at;
		at = next_at
	:: else -> break
	od;
	if
	:: todo == EMPTY -> todo = reversed
	:: else ->
		at = todo;
		do
		:: mem[LINK(NUMBER(at))] != EMPTY -> at = mem[LINK(NUMBER(at))]
		:: else -> break
		od;
		mem[LINK(NUMBER(at))] = reversed
	fi;
	taken = EMPTY;
	at = EMPTY;
	next_at = EMPTY;
	reversed = EMPTY
}

#if HOST && !defined(MUTANT_TAKE_EMPTY)
#define TAKEN_LEAVES ASLEEP
#else
#define TAKEN_LEAVES EMPTY
#endif

inline take()
{
#ifdef MUTANT_TAKE_STORE
	d_step { drain(LOOP); loaded = word };
	d_step {
		taken = loaded;
		loaded = EMPTY;
#else
	d_step {
		drain(LOOP);
		taken = word;
#endif
		word = TAKEN_LEAVES;
		may_ring = (TAKEN_LEAVES == ASLEEP);
		append_taken()
	}
}

/* `now` becomes 1 if there is work. */
inline doze()
{
#ifdef MUTANT_DOZE_STORE
	d_step { drain(LOOP); now = (word != EMPTY) };
	if
	:: !now -> d_step { word = ASLEEP; may_ring = 1 }
	:: else
	fi
#elif !defined(MUTANT_NO_DOZE)
	d_step {
		drain(LOOP);
		if
		:: word == EMPTY ->
			word = ASLEEP;
			may_ring = 1
		:: else -> now = 1
		fi
	}
#else
	skip
#endif
}

#define is_list(w) ((w) > CLOSED)
