/* An application for the tests, as C: app.m. */
#ifndef ROUSE_TESTS_APP_H
#define ROUSE_TESTS_APP_H

#include <stdbool.h>
#include <stdint.h>

/* Once: NSApp, of a class of the program's own, which counts events of subtype APP_SUBTYPE. */
void app_begin(bool own_class);
enum { APP_SUBTYPE = 77 };
extern unsigned app_seen;
bool app_is_own(void);

/* [NSApp run]. */
void app_run(void);
/* A modal panel, until it is stopped; what runModalForWindow: says. */
int app_modal(void);
extern const int app_stopped;
void app_stop_modal(void);
bool app_is_modal(void);
/* A loop that tracks the mouse, until it is told to end. */
void app_track(const bool *end);

/* An NSTimer of the host's own, in every mode; each ends the wait for an event. */
void app_timer(double seconds, void (*fn)(void *data), void *data);

/* An application-defined event that the program posts. */
void app_post(short subtype, int64_t data1, int64_t data2);

/* How often the run loop was about to wait, in the default mode. */
unsigned app_waits(void);

/* An autoreleased object; how many live. */
void app_autorelease(void);
extern int app_alive;

#endif
