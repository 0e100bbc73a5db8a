/*
 * Qt's side of the loop as a guest of Qt: what has to be C++.
 */
#ifndef ROUSE_TOOL_BENCH_HOST_QT_LOOP_H
#define ROUSE_TOOL_BENCH_HOST_QT_LOOP_H

#include <rouse/rouse.h>

#ifdef __cplusplus
extern "C" {
#endif

struct qt_loop;

/* Attaches the loop to a QCoreApplication of its own, on the main thread.  0, or a negative
 * ROUSE_E*. */
int qt_loop_open(rouse_loop *loop, struct qt_loop **ret_qt);
void qt_loop_close(struct qt_loop *qt);
const char *qt_loop_version(void);

int qt_loop_run(struct qt_loop *qt);
void qt_loop_turn(struct qt_loop *qt, rouse_ns until);

/* Any thread: fn(data) in Qt's loop. */
int qt_loop_invoke(struct qt_loop *qt, void (*fn)(void *data), void *data);

#ifdef __cplusplus
}
#endif
#endif
