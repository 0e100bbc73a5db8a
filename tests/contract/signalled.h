/* What tests of signals' sources share: callbacks, and whose a signal is. */
#ifndef TESTS_CONTRACT_SIGNALLED_H
#define TESTS_CONTRACT_SIGNALLED_H

#include "env.h"

void ignore_signal(rouse_loop *loop, rouse_source self, int signo, void *data);
/* As those of env.h, into an int. */
void count_signal(rouse_loop *loop, rouse_source self, int signo, void *data);

/* The process treats this signal so: SIG_DFL, SIG_IGN or a handler. */
int is_disposed(int signo, void (*how)(int));

#endif
