/*
 * The loop's thread: loop.c, guest.c, life.c.
 *
 * A turn that nests in a callback goes on with what the outer one gathered, which is why
 * that is in the loop; of each depth only the callback on the stack and the place in the turn
 * are kept.
 */

byte budget; /* todo_budget */
bit self_rung;
bit ended; /* the loop is destroyed */

hidden byte n, who;

/*
 * Here the loop, or its host, blocks and nothing but a ring will end that.  A waker that was
 * woken in a turn nested in its own callback waits for that to return.
 */
inline may_sleep()
{
	d_step {
		if
		:: busy == 0 && !bell ->
			n = 0;
			do
			:: n < NODES -> assert(node[n] != IN_QUEUE); n++
			:: else -> break
			od;
			who = 0;
			do
			:: who <= LOOP ->
				assert(closing || running || wake_owed[who] <= wake_seen[who]);
				assert(stop_owed[who] <= stop_seen[who]);
				who++
			:: else -> break
			od;
			assert(waker_users > 0 || waker_refs == 0 || running);
			n = 0;
			who = 0
		:: else
		fi
	}
}

/* The data as a callback or the user after a stop finds it: by plain loads. */
#define look_at_data(seen, owed) \
	d_step { \
		who = 0; \
		do \
		:: who <= LOOP -> \
			seen[who] = mem[DATA(who)]; \
			owed[who] = (owed[who] <= seen[who] -> 0 : owed[who]); \
			who++ \
		:: else -> break \
		od; \
		who = 0 \
	}

inline self_ring()
{
	if
	:: !self_rung -> self_rung = 1; ring(LOOP)
	:: else
	fi
}

/* Where a hook is there, always. */
#ifdef HOOK
#define more_than_one true
#else
#define more_than_one (mem[LINK(NUMBER(todo))] != EMPTY)
#endif

inline absorb()
{
	d_step { drain(LOOP); bell = 0; empty_bell }
}

inline take_ring_back()
{
	if
	:: self_rung ->
		self_rung = 0;
		absorb();
#ifndef MUTANT_NO_LOOK_BACK
		if
		:: is_list(word) -> ring(LOOP)
		:: else
		fi
#endif
	:: else
	fi
}

/* The poller's wait, when it has something or may not block. */
inline poll()
{
	if
	:: bell ->
#ifdef LEVEL
#ifndef MUTANT_ABSORB_LATE
		absorb();
#endif
		self_rung = 0
#else
		d_step { drain(LOOP); bell = 0; self_rung = 0 }
#endif
	:: !bell
	fi
}

inline gather()
{
	take();
#if defined(LEVEL) && defined(MUTANT_ABSORB_LATE)
	absorb();
#endif
	budget = BUDGET
}

proctype loop()
{
	byte old, result, before, task, loaded;
	bit last, refused, now, stop;
	byte depth;
	byte stack[DEPTH + 1];
	bit gathered_second[DEPTH + 1]; /* 0: an outer turn's gathering is run first */
#ifdef LOOP_WAKES
	byte loop_wakes;
#endif

#if HOST
	/* become_guest(), and rouse_loop_fd() rings for what was posted before. */
	doze();
	now = 0;
#ifndef MUTANT_GUEST_NO_RING
	self_ring();
#endif
#endif

between_turns:
#ifdef STOPS
	/* The user reads what was written before the stop, and may go on. */
	if
	:: stop -> stop = 0; look_at_data(stop_seen, stop_owed)
	:: else
	fi;
#endif

	if
#if HOST == UNHOSTED
	:: now = 0; goto turn
	:: now = 1; goto turn
#elif HOST == DESCRIPTOR
	/* The host sleeps until the descriptor is readable.  It may also turn the loop for
	 * reasons of its own, and a modal loop may be written with turns that block. */
	:: may_sleep(); now = 1; goto turn
	:: now = 0; goto turn
#else
	:: goto prepare
#endif
#ifdef CLOSES
	:: listed -> waker_close(); goto between_turns
#endif
#if DEPTH > 0
	:: depth > 0 -> goto close_nested
#endif
	:: depth == 0 -> goto destroy
	fi;

#if HOST == BRACKET
prepare:
	now = (todo != EMPTY);
	now = now || is_list(word);
	take_ring_back();
	if
	:: now -> skip
	:: else -> may_sleep()
	fi;
	now = 0;
	if
	:: todo != EMPTY && budget > 0 -> goto run_gathered
	:: else
	fi;
	if
	:: bell -> poll()
	:: !bell
	fi;
	gather();
	gathered_second[depth] = 1;
	goto run_gathered;
#endif

turn:
#if HOST
	gathered_second[depth] = 0;
	if
	:: todo != EMPTY && budget > 0 -> goto run_gathered
	:: else
	fi;
look_ahead:
#endif
#ifndef MUTANT_LEFT_OVER_BLOCKS
	if
	:: todo != EMPTY -> now = 1
	:: else
	fi;
#endif
#if HOST
	now = now || is_list(word);
#else
	if
	:: !now -> doze()
	:: else
	fi;
#endif
	/* The wait: it ends by a ring, or early, by a descriptor or a deadline. */
	if
	:: now -> skip
	:: else -> may_sleep()
	fi;
	poll();
	now = 0;
	gather();
	gathered_second[depth] = 1;

run_gathered:
#if HOST == DESCRIPTOR && !defined(MUTANT_NO_RING_BEFORE) && !defined(MUTANT_NO_SELF_RING)
	/* rouse__guest_before_callbacks() */
	if
	:: todo != EMPTY && budget > 0 && more_than_one -> self_ring()
	:: else
	fi;
#endif
next_task:
	if
	:: d_step {
		todo == EMPTY || budget == 0;
		task = 0;
		budget = 0 /* without `todo` it says nothing */
	};
		goto ran
	:: else
	fi;
#ifdef MUTANT_CLEAR_FIRST
	if
	:: todo == NODE(WAKER) && !running ->
		d_step { drain(LOOP); before = state; state = state & SHUT }
	:: else
	fi;
#endif
	d_step {
		task = NUMBER(todo);
		assert(node[task] == IN_QUEUE);
		todo = mem[LINK(task)];
		mem[LINK(task)] = EMPTY;
		budget--;
		if
		:: task == WAKER || task == STOP -> node[task] = IDLE
		:: else -> node[task] = (is_call[task] -> TAKEN : ACCOUNTED)
		fi
	}
	if
	:: task == WAKER -> goto run_waker
#ifdef STOPS
	:: task == STOP ->
		mark_free(LOOP);
		stop = 1;
		goto next_task
#endif
	:: else -> skip
	fi;
	/* A post.  Its data came with its node. */
	assert(mem[DATA(OWNER(task))] > ORDINAL(task));
	goto callback;

run_waker:
	skip; /* no goto enters a d_step */
#ifndef MUTANT_RUN_NESTED
	if
#ifdef MUTANT_NO_AGAIN
	:: running -> goto next_task
#else
	:: running -> again = 1; goto next_task
#endif
	:: else
	fi;
#endif
#ifdef MUTANT_CLEAR_STORE
	before = state;
	store(LOOP, STATE, before & SHUT);
#elif !defined(MUTANT_CLEAR_LATE) && !defined(MUTANT_CLEAR_FIRST)
	d_step {
		waker_alive;
		drain(LOOP);
		before = state;
		state = state & SHUT
	}
#elif defined(MUTANT_CLEAR_LATE)
	before = state;
#endif
	if
	:: before & SHUT ->
		before = 0;
		unlist();
		goto waker_ran
	:: else -> before = 0
	fi;
	assert(!closed && !running);
	look_at_data(wake_seen, wake_owed);
#ifdef MUTANT_CLEAR_LATE
	d_step { drain(LOOP); state = state & SHUT };
#endif
	running = 1;

callback:
#if DEPTH > 0
	/* A modal loop of the host's. */
	if
	:: depth < DEPTH ->
		d_step { stack[depth] = task; depth++; task = 0 };
		goto between_turns
	:: goto returned
	fi;
close_nested:
	skip;
	d_step {
		gathered_second[depth] = 0;
		depth--;
		task = stack[depth];
		stack[depth] = 0
	}
returned:
#endif
#ifdef LOOP_WAKES
	if
	:: task == WAKER && loop_wakes < LOOP_WAKES ->
		loop_wakes++;
		atomic { busy++; store(LOOP, DATA(LOOP), loop_wakes) }
		wake(LOOP);
		accepted_wake(LOOP, loop_wakes);
		busy--
	:: true
	fi;
#endif
	if
	:: task != WAKER ->
		node[task] = ACCOUNTED;
		goto next_task
	:: else -> running = 0
	fi;

waker_ran:
	if
	:: again ->
		again = 0;
		queue(LOOP);
		result = R_NONE;
		old = 0;
		put(LOOP)
	:: else
	fi;
	put(LOOP);
	goto next_task;

ran:
#if HOST
	if
	:: !gathered_second[depth] -> now = 1; goto look_ahead
	:: else
	fi;
#endif
#if HOST == DESCRIPTOR
	/* rouse__guest_settle() */
	if
	:: todo != EMPTY ->
#if !defined(MUTANT_NO_RING_AFTER) && !defined(MUTANT_NO_SELF_RING)
		self_ring()
#else
		skip
#endif
	:: else -> take_ring_back()
	fi;
#endif
	gathered_second[depth] = 0;
	goto between_turns;

destroy:
	skip;
#ifdef MUTANT_CLOSE_LATE
	take();
#else
	d_step {
		drain(LOOP);
		taken = word;
		word = CLOSED;
		may_ring = 0;
		append_taken()
	}
#endif
	if
	:: listed -> waker_close()
	:: else
	fi;
#ifdef MUTANT_TAKE_CLOSED
	/* rouse_cancel_posts() in a cancel function. */
	take();
#endif
	do
	:: todo != EMPTY ->
		d_step {
			task = NUMBER(todo);
			assert(node[task] == IN_QUEUE);
			todo = mem[LINK(task)];
			if
			:: task == WAKER || task == STOP -> node[task] = IDLE
			:: else -> node[task] = ACCOUNTED
			fi
		}
		if
		:: task == WAKER -> put(LOOP)
		:: task == STOP -> mark_free(LOOP)
		:: else
		fi
	:: else -> break
	od;
#ifdef MUTANT_CLOSE_LATE
	word = CLOSED;
#endif
#ifdef MUTANT_FREE_AT_DESTROY
	remote_refs = 0;
#else
	remote_unref(LOOP);
#endif
	ended = 1
}
