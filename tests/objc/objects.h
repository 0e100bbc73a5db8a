/* Objective-C objects that are counted, and the runtime's own pools, as plain functions: objects.m
 * is Foundation's, objects_arc.c libobjc2's. */
#ifndef TESTS_OBJC_OBJECTS_H
#define TESTS_OBJC_OBJECTS_H

/* Before all else.  0: that runtime is not here. */
int objects_begin(void);

/* Its last release calls this. */
typedef void (*object_dead_fn)(void *ctx);
void *object_new(object_dead_fn dead, void *ctx);
/* Sends release. */
void object_release(void *object);
/* Sends autorelease. */
void object_autorelease(void *object);
/* That are not dead, of all threads. */
int objects_alive(void);

void *their_pool(void);
void their_pool_drain(void *pool);
/* The newest; NULL: that cannot be told. */
void *their_newest(void);
/* 1: they drain newest first. */
extern const int their_newest_first;
/* 1: a thread may end inside several of theirs.  (GNUstep 1.28 crashes then, in its own
 * destructor.) */
extern const int their_ends_nest;

#endif
