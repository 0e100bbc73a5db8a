/* Posts that write down what became of them, for tests of their cancelling. */
#ifndef TESTS_CONTRACT_JOURNAL_H
#define TESTS_CONTRACT_JOURNAL_H

#include "env.h"

/* What ran and what was cancelled, one letter each: lower case ran, upper case was cancelled. */
struct journal {
	struct env *env;
	rouse_remote *remote;
	char text[64];
	int length;
};
extern struct journal j;

/* An empty one, on a loop in batches of so many (0: as it was) with nothing queued. */
int begin(void **state, unsigned max_batch);
/* Run what is left, and that is what was written; the end of the journal. */
void expect(const char *text);

/* The data that stands for a letter. */
void *of(char letter);
void post(char letter);
void post_all(const char *text);
/* @return what rouse_cancel_posts() does. */
int cancel(char letter);

/* What such a post does, for posts of one's own. */
void write_down(char c);
void run_letter(rouse_loop *loop, void *data);
void cancel_letter(void *data);

#endif
