/*
 * A producer: OPS operations of those that the configuration names, in any order, and then it
 * leaves (with -DSTAY it keeps its references).  Before each it writes its data by a plain store.
 *
 * `busy` counts the producers in the middle of an operation.  Between two of them a producer may
 * rest for ever: so whenever nobody is busy, everything that was accepted must be on its way.
 */

byte busy, gone;

/* What has been promised to each thread, and what it was given: ordinals of its data. */
byte wake_owed[PRODUCERS + 1], stop_owed[PRODUCERS + 1];
byte wake_seen[PRODUCERS + 1], stop_seen[PRODUCERS + 1];

bit is_call[NODES];

inline accepted_wake(who, written)
{
	d_step {
		if
		:: result != R_CLOSED && wake_seen[who] < written -> wake_owed[who] = written
		:: else
		fi;
		result = R_NONE
	}
}

/* rouse_remote_stop(): a stop that is queued already is this one. */
inline mark_free(who)
{
#ifdef MUTANT_FREE_STORE
	store(who, QUEUED, 0)
#else
	d_step { drain(who); queued = 0 }
#endif
}

inline remote_stop(who)
{
	d_step {
		remote_alive;
		drain(who);
		before = queued;
		queued = 1
	}
	if
	:: before -> before = 0; result = R_QUEUED
	:: else ->
		push(who, STOP);
		if
		:: result == R_CLOSED -> mark_free(who)
		:: else
		fi
	fi
}

proctype producer(byte me)
{
	byte i, old, result, before;
	bit last, refused;

	do
	:: i < OPS ->
		atomic { busy++; store(me, DATA(me), i + 1) }
		if
#ifdef WAKES
		:: wake(me);
			accepted_wake(me, i + 1)
#endif
#ifdef POSTS
		:: push(me, POST(me, i));
			result = R_NONE
#endif
#ifdef STOPS
		:: remote_stop(me);
			d_step {
				if
				:: result != R_CLOSED && stop_seen[me] < i + 1 ->
					stop_owed[me] = i + 1
				:: else
				fi;
				result = R_NONE
			}
#endif
#ifdef CALLS
		/* rouse_call(): the node is on this stack, and gone when the wait ends. */
		:: is_call[POST(me, i)] = 1;
			push(me, POST(me, i));
			if
			:: result == R_CLOSED
			:: else ->
				busy--;
				atomic { node[POST(me, i)] == ACCOUNTED -> busy++ }
			fi;
			result = R_NONE
#endif
		fi;
		atomic { i++; old = 0; busy-- }
	:: else -> break
	od;
	busy++;
#ifndef STAY
	waker_unref(me);
	remote_unref(me);
#endif
	atomic { i = 0; old = 0; result = 0; busy--; gone++ }
}
