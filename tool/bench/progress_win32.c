#include "bench/progress.h"

#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#include "thread.h"

struct progress {
	struct run *run;
	pthread_t thread;
	HANDLE quit;
};

static void *progress_main(void *data)
{
	struct progress *p = data;
	char text[80];

	/* Off the grid of the wakeups, which begins a tenth of a second from here. */
	Sleep(7);
	do {
		unsigned gone = atomic_load_explicit(&p->run->progress, memory_order_acquire);
		int length = snprintf(text, sizeof text, "\r%s %u of %u s   ", p->run->kind->name,
		                      gone, p->run->options->seconds);

		_write(2, text, (unsigned)length);
	} while (WaitForSingleObject(p->quit, 1000) == WAIT_TIMEOUT);
	/* Not every console of Windows knows the sequences of terminals. */
	_write(2, text, (unsigned)snprintf(text, sizeof text, "\r%40s\r", ""));
	return NULL;
}

struct progress *progress_start(struct run *run)
{
	struct progress *p;

	if (!_isatty(2))
		return NULL;
	p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	p->run = run;
	p->quit = CreateEventW(NULL, TRUE, FALSE, NULL);
	if (p->quit && thread_start(&p->thread, progress_main, p) == 0)
		return p;
	if (p->quit)
		CloseHandle(p->quit);
	free(p);
	return NULL;
}

void progress_stop(struct progress *p)
{
	if (!p)
		return;
	SetEvent(p->quit);
	pthread_join(p->thread, NULL);
	CloseHandle(p->quit);
	free(p);
}
