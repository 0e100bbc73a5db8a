/* The loop's allocator here: counts, refuses when told to, and notices what must not happen. */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include <rouse/rouse.h>

extern const rouse_allocator memory;

void memory_reset(void);
void memory_refuse(unsigned nth); /* the n-th allocation from now; 0: none */
int memory_refused(void);         /* whether one was, since this was asked last */
/* Around the calls that may allocate: no other ever does. */
void memory_allow(int allowed);
size_t memory_blocks(void); /* not given back yet */

#endif
