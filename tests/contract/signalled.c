#include "signalled.h"

#include <signal.h>

void ignore_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)signo;
	(void)data;
}

void count_signal(rouse_loop *loop, rouse_source self, int signo, void *data)
{
	(void)loop;
	(void)self;
	(void)signo;
	++*(int *)data;
}

int is_disposed(int signo, void (*how)(int))
{
	struct sigaction now;

	assert_int_equal(sigaction(signo, NULL, &now), 0);
	return now.sa_handler == how;
}
