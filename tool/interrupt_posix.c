#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

/* Other threads block these signals, so the handler runs on the thread that sets `target`, and
 * what it loaded stays referenced until it returns. */
static _Atomic(rouse_remote *) target;
static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	int saved = errno;
	rouse_remote *remote = atomic_load_explicit(&target, memory_order_acquire);

	caught = number;
	if (remote)
		rouse_remote_stop(remote);
	errno = saved;
}

void interrupt_install(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action, before;

	memset(&action, 0, sizeof action);
	action.sa_handler = on_signal;
	action.sa_flags = (int)SA_RESETHAND;
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		/* What was ignored from the start (nohup) stays ignored. */
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

void interrupt_target(rouse_remote *remote)
{
	atomic_store_explicit(&target, remote, memory_order_release);
}

bool interrupt_caught(void)
{
	return caught != 0;
}
