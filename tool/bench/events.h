/*
 * What happened on the loop's thread besides wakeups, kept in memory until the run is over: a
 * log that is written while it is measured would be measured too.
 */
#ifndef ROUSE_TOOL_BENCH_EVENTS_H
#define ROUSE_TOOL_BENCH_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include <rouse/rouse.h>

enum event_kind {
	EVENT_STEP,    /* name, and detail or NULL */
	EVENT_WINDOW,  /* value: the window's id */
	EVENT_TICK,    /* value: expirations */
	EVENT_EXPOSE,  /* value: how many more of the same are to come */
	EVENT_FRAME,   /* value: the compositor's time, in ms */
	EVENT_PAINT,   /* value: how many there were before */
	EVENT_X_ERROR, /* value: the code */
	EVENT_STATS,
	EVENT_TEARDOWN
};

struct event {
	rouse_ns at;
	enum event_kind kind;
	const char *name;
	const char *detail;
	uint64_t value;
};

struct events {
	struct event *list;
	size_t n, cap;
	size_t dropped; /* For want of room. */
};

/* 0, or -1. */
int events_open(struct events *events, size_t cap);
void events_close(struct events *events);
void events_add(struct events *events, enum event_kind kind, const char *name, const char *detail,
                uint64_t value);
/* The same, of a moment that is past. */
void events_add_at(struct events *events, rouse_ns at, enum event_kind kind, uint64_t value);

#endif
