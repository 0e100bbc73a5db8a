/* What the player's files share: the input being played, and how its calls are noted. */
#ifndef FUZZ_PLAYER_H
#define FUZZ_PLAYER_H

#include "world.h"

/* Who acts.  A producer's call is made by the loop's thread, but stands for one of another
 * thread: while it is held up, the loop's thread may do anything.  A signal's handler is not held
 * up by anybody. */
enum context { ON_LOOP_THREAD, PRODUCING, ELSEWHERE, IN_HANDLER };

struct player {
	const struct world *world;
	const unsigned char *input;
	size_t left;
	enum context context;
	int depth;
	unsigned waits;
	int loops, have_loop;
	int first_source, next_source; /* of this loop */
	int next_waker;
	unsigned users[WAKERS], busy[WAKERS];
};

extern struct player player;

unsigned take(void); /* the next byte of the input; 0 past its end */
rouse_ns now(void);
void note(enum what what, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
int result(int value);
void result_and(int value, uint64_t more);

/* values.c */
rouse_ns some_time(void);
rouse_ns some_span(void);
int some_source(void); /* of this loop, gone ones too; 0: none */
int new_source(void);  /* 0: no more */
unsigned some_events(void);
rouse_fd some_fd(void);
int some_waker(void);
int some_signal(void);

/* actions.c: something, on the loop's thread; something that any thread may do. */
void act(void);
void act_elsewhere(void);

void create_loop(void);
void destroy_loop(void);
void stop_loop(void);
void stop_remotely(void);
int post_some(void);
int post_some_task(void);
int wake_some(void);
void unref_waker(int waker);
void show_stats(void);
void show_remote_stats(void);

#endif
