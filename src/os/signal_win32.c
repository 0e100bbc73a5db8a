#include "os/os.h"

#include <windows.h>
#include <signal.h>

/*
 * What comes from the console, under the names that C has for it: SIGINT is Ctrl-C, SIGBREAK is
 * Ctrl-Break.  The system calls the handler on a thread of its own, so it may take the lock; what
 * is given back under the lock is not called any more.  It may hold a lock of its own meanwhile,
 * which it also takes to add or remove a handler: so ours is added outside of ours, and stays.
 *
 * Not to be had: the closing of the console, logging off and shutting down end the process as
 * soon as their handler returns, and what only notes them has no time for anything.  SIGTERM comes
 * from nobody but raise(), and faults cannot be put off.
 */
enum { CTRL_C, CTRL_BREAK, EVENTS };

static void *taken[EVENTS];
static void (*record)(void *arg);
static INIT_ONCE once = INIT_ONCE_STATIC_INIT;

static int event_of(int signo)
{
	switch (signo) {
	case SIGINT:
		return CTRL_C;
	case SIGBREAK:
		return CTRL_BREAK;
	default:
		return -1;
	}
}

static BOOL WINAPI handler(DWORD event)
{
	void *arg = NULL;

	rouse__lock();
	if (event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT)
		arg = taken[event == CTRL_C_EVENT ? CTRL_C : CTRL_BREAK];
	if (arg)
		record(arg);
	rouse__unlock();
	return arg != NULL;
}

static BOOL CALLBACK install(INIT_ONCE *init_once, void *parameter, void **context)
{
	(void)init_once;
	(void)parameter;
	(void)context;
	return rouse__stay_loaded() && SetConsoleCtrlHandler(handler, TRUE);
}

int rouse__signal_take(int signo, void (*fn)(void *arg), void *arg)
{
	int event = event_of(signo), error = 0;

	if (event < 0)
		return signo > 0 && signo < NSIG ? ROUSE_ENOTSUP : ROUSE_EINVAL;
	if (!InitOnceExecuteOnce(&once, install, NULL, NULL))
		return rouse__os_failed((int)GetLastError());
	rouse__lock();
	if (taken[event])
		error = ROUSE_EEXIST;
	if (!error) {
		record = fn;
		taken[event] = arg;
	}
	rouse__unlock();
	return error;
}

void rouse__signal_give_back(int signo, const void *arg)
{
	int event = event_of(signo);

	rouse__lock();
	if (taken[event] == arg)
		taken[event] = NULL;
	rouse__unlock();
}

/* There is no fork. */
void rouse__signal_inherit(int signo, void *arg)
{
	(void)signo;
	(void)arg;
}
