/* What of AppKit an attachment needs, as C: appkit_native.m.  The main thread's, but for the first
 * two. */
#ifndef ROUSE_HOST_APPKIT_NATIVE_H
#define ROUSE_HOST_APPKIT_NATIVE_H

#include <stdint.h>

int rouse__app_is_main_thread(void);

/* The subtype of events of ours that are nobody's: they end a wait. */
#define ROUSE__APP_NUDGE 29294

/* Append an application-defined event, or put a nudge before all others.  1: done; 0: an NSInteger
 * cannot hold that. */
int rouse__app_post(short subtype, int64_t data1, int64_t data2);

/* Whether any thread may do that, and the application's wait then ends. */
#ifdef __APPLE__
#define ROUSE__APP_POST_ANYWHERE 1
#else
#define ROUSE__APP_POST_ANYWHERE 0
#endif

/* There is an NSApp, and events come by rouse__appkit_deliver(); 0: no window server. */
int rouse__app_begin(void);

/* `[NSApp run]`, which only finishes launching. */
void rouse__app_launch(void);
/* Wait for one event, and send it. */
void rouse__app_next_event(void);
/* Is `[NSApp run]` under way? */
int rouse__app_runs(void);

/* The innermost modal session's window, a name only; NULL: there is none. */
const void *rouse__app_modal(void);
/* What -stop: does: end the modal session, or else `[NSApp run]`. */
void rouse__app_stop(void);
/* Let the wait for an event end, whatever waits. */
void rouse__app_nudge(void);

/* appkit.c's.  An application-defined event has its turn.  1: it was ours. */
int rouse__appkit_deliver(short subtype, int64_t data1, int64_t data2);

#endif
