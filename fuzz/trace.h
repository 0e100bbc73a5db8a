/*
 * What was called, by whom, with what, and what came of it.
 *
 * An input is played twice: on the library, which writes the trace, and on the model, which
 * reads it and must come to the same.  Of two things the library decides, and the model reads
 * them ahead: whether an allocation was refused, and in which order a loop that is being
 * destroyed lets go of its sources.
 */
#ifndef FUZZ_TRACE_H
#define FUZZ_TRACE_H

#include <rouse/rouse.h>

/* After these many an input comes to its end: callbacks do nothing more, and runs stop. */
#define TRACE_ENOUGH 2000u

/* Arguments: s source, w waker, k task, p post's tag, t moment, d duration, e events, h hook's
 * functions, f descriptor, i number, u unsigned number, r result. */
#define TRACE_CALLS(X)                                                                             \
	X(LOOP_CREATE, "rouse_loop_create", "max_batch=i")                                         \
	X(LOOP_DESTROY, "rouse_loop_destroy", "")                                                  \
	X(LOOP_RUN, "rouse_loop_run", "")                                                          \
	X(LOOP_TURN, "rouse_loop_turn", "deadline=t")                                              \
	X(LOOP_STOP, "rouse_loop_stop", "")                                                        \
	X(LOOP_FD, "rouse_loop_fd", "")                                                            \
	X(LOOP_PREPARE, "rouse_loop_prepare", "flags=i ret_deadline=i")                            \
	X(LOOP_CHECK, "rouse_loop_check", "fd_readable=i")                                         \
	X(LOOP_DISPATCH, "rouse_loop_dispatch", "")                                                \
	X(LOOP_TAKE_STOP, "rouse_loop_take_stop", "")                                              \
	X(WAKER_CREATE, "rouse_waker_create", "w fn=i")                                            \
	X(WAKE, "rouse_wake", "w")                                                                 \
	X(WAKER_REF, "rouse_waker_ref", "w")                                                       \
	X(WAKER_UNREF, "rouse_waker_unref", "w")                                                   \
	X(WAKER_CLOSE, "rouse_waker_close", "w")                                                   \
	X(POST, "rouse_post", "p fn=i cancel=i")                                                   \
	X(POST_TASK, "rouse_post_task", "k")                                                       \
	X(CALL, "rouse_call", "p")                                                                 \
	X(CANCEL_POSTS, "rouse_cancel_posts", "p")                                                 \
	X(REMOTE_STOP, "rouse_remote_stop", "")                                                    \
	X(TIMER_ADD, "rouse_timer_add", "s deadline=t period=d slack=d")                           \
	X(TIMER_SET, "rouse_timer_set", "s deadline=t period=d slack=d")                           \
	X(FD_ADD, "rouse_fd_add", "s f e")                                                         \
	X(FD_SET_EVENTS, "rouse_fd_set_events", "s e")                                             \
	X(HOOK_ADD, "rouse_hook_add", "s f e h")                                                   \
	X(REMOVE, "rouse_remove", "s")                                                             \
	X(SIGNAL_ADD, "rouse_signal_add", "s signo=i")                                             \
	X(RAISE, "raise", "signo=i")                                                               \
	X(NULL_SCRIPT, "rouse_null_script", "at=t f e")                                            \
	X(NULL_ADVANCE, "rouse_null_advance", "by=d")                                              \
	X(LOOP_STATS, "rouse_loop_stats", "")                                                      \
	X(REMOTE_STATS, "rouse_remote_stats", "")                                                  \
	X(REFUSE, "the allocator refuses", "n=i")

#define TRACE_CALLBACKS(X)                                                                         \
	X(ON_TIMER, "timer", "s deadline=t")                                                       \
	X(ON_FD, "descriptor", "s f e")                                                            \
	X(ON_SIGNAL, "signal", "s signo=i")                                                        \
	X(ON_PREPARE, "prepare", "s flags=i")                                                      \
	X(ON_CHECK, "check", "s ready=e")                                                          \
	X(ON_DISPATCH, "dispatch", "s budget=i")                                                   \
	X(ON_RELEASE, "release", "s")                                                              \
	X(ON_WAKE, "waker", "w")                                                                   \
	X(ON_POST, "post", "p fn=i")                                                               \
	X(ON_POST_CANCEL, "post cancelled", "p fn=i")                                              \
	X(ON_TASK, "task", "k")                                                                    \
	X(ON_TASK_CANCEL, "task cancelled", "k")                                                   \
	X(ON_CALL, "call", "p")                                                                    \
	X(AT_LOOKED_EMPTY, "another thread, as the loop is about to mark its queue asleep", "")    \
	X(AT_ASLEEP, "another thread, as the loop is about to wait", "")                           \
	X(AT_WOKE, "another thread, as the wait is over and nothing taken yet", "")                \
	X(AT_TOOK, "another thread, as a waker was taken and not cleared yet", "")                 \
	X(AT_PENDING, "meanwhile the waking thread is held up, its waker not queued yet", "")      \
	X(AT_PUBLISHED, "meanwhile the producer is held up, queued and not rung yet", "")          \
	X(AT_IDLE, "another thread, as the loop sleeps with nothing to wait for", "")

#define TRACE_ENUM(name, text, arguments) name,
enum what {
	TRACE_CALLS(TRACE_ENUM) TRACE_CALLBACKS(TRACE_ENUM) RESULT, /* of the call; and one more */
	RETURNED,                                                   /* from the callback */
	COUNTED /* a counter of rouse_stats: its place, its value */
};

enum { TRACE_ARGUMENTS = 4 };

struct event {
	enum what what;
	int refused; /* with RESULT: memory was asked for in this call, and refused */
	size_t left; /* of the input: where it was read, and nothing done, shows too */
	rouse_ns now;
	uint64_t arguments[TRACE_ARGUMENTS];
};

void trace_name(const char *input); /* what it is called, for what is printed */
void trace_write(int print);        /* from here on the library plays; print as it happens */
void trace_compare(void);           /* from here on the model */
void trace_end(void);               /* the model must have come as far as the library */
size_t trace_length(void);

/* Noted, or compared: where it differs, the trace so far is printed, and the process aborts. */
void trace_event(struct event event);
/* What the library did next; for the model. */
const struct event *trace_ahead(void);

/* Print the trace, and abort. */
_Noreturn void trace_failed(const char *why);
/* Print what the library has done so far, where it has been printed not yet. */
void trace_dump(void);

#endif
