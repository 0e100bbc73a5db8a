/* waker.c.  One waker, of which each producer holds a user's reference. */

#define PENDING 1
#define SHUT 2 /* waker.c calls this bit CLOSED */

byte waker_users = PRODUCERS;
byte waker_refs = 2; /* the users', the list's */
bit listed = 1;
bit running, again;

bit closing; /* SHUT was set: no wake that begins now is accepted */
bit closed;  /* rouse_waker_close() or the loop's end: no callback begins now */

#define waker_alive assert(waker_refs > 0)

inline put(who)
{
	atomic {
		d_step {
			waker_alive;
			drain(who);
			waker_refs--
		}
		if
		:: waker_refs > 0 -> skip
		:: else -> remote_alive; last = 1
		fi
	}
	if
	:: last ->
		last = 0;
		remote_unref(who)
	:: else
	fi
}

inline queue(who)
{
#ifndef MUTANT_NO_QUEUE_REF
	d_step { waker_alive; drain(who); waker_refs++ };
#endif
	push(who, WAKER);
	if
	:: result == R_CLOSED ->
#ifndef MUTANT_NO_QUEUE_REF
		put(who)
#endif
	:: else
	fi
}

/* `result` R_CLOSED or R_QUEUED, which here means accepted. */
inline wake(who)
{
#ifdef MUTANT_RELAXED_LOOK
	/* Only while it is not closed, so that nothing but visibility is at fault. */
	atomic { waker_alive; before = state };
	if
	:: before == PENDING -> result = R_QUEUED; before = 0
	:: else ->
#endif
	d_step {
		waker_alive;
		drain(who);
		before = state;
#ifdef MUTANT_EXCHANGE
		state = PENDING;
#else
		state = state | PENDING;
#endif
		result = R_NONE;
		if
#ifdef MUTANT_NO_CLOSED_WAKE
		:: (before & SHUT) && !(before & PENDING) -> result = R_CLOSED
#else
		:: before & SHUT -> result = R_CLOSED
#endif
		:: else ->
			if
			:: before & PENDING -> result = R_QUEUED
			:: else
			fi
		fi;
		assert(!closing || result == R_CLOSED);
		before = 0
	}
	if
	:: result == R_NONE -> queue(who)
	:: else
	fi
#ifdef MUTANT_RELAXED_LOOK
	fi
#endif
}

inline waker_unref(who)
{
	d_step {
		waker_alive;
		drain(who);
		waker_users--;
		last = (waker_users == 0)
	}
	if
	:: last ->
		d_step {
			last = 0;
			waker_alive;
			before = state;
			state = state | PENDING | SHUT;
			closing = 1
		}
#ifndef MUTANT_NO_LAST_RUN
		if
		:: before == 0 -> queue(who)
		:: else -> before = 0
		fi;
#endif
		put(who)
	:: else
	fi
}

/* ---- On the loop's thread --------------------------------------------------- */

inline unlist()
{
	if
	:: listed ->
		listed = 0;
		put(LOOP)
	:: else
	fi
}

inline waker_close()
{
	d_step {
		waker_alive;
		drain(LOOP);
		state = state | SHUT;
		closing = 1;
		closed = 1
	}
	unlist()
}
