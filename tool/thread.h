/*
 * Threads of the command: they block every signal, so that signals reach the main thread, whose
 * loop acts on them.
 */
#ifndef ROUSE_TOOL_THREAD_H
#define ROUSE_TOOL_THREAD_H

#include <pthread.h>

/* 0, or an errno. */
int thread_start(pthread_t *ret_thread, void *(*fn)(void *), void *data);

#endif
