/*
 * What it costs to be second in the queue: pairs of messages, the second one posted as soon as the
 * first one was, whose handler takes a millisecond.  It is why the schedule gives each mechanism a
 * slot of its own: fired together, whichever came second would look slow for the first one's sake.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "bench/host/win32.h"
#include "bench/samples.h"
#include "system.h"
#include "thread.h"
#include "tool.h"

enum { PAIRS = 30, FIRST = 1, SECOND = 2 };
#define HANDLER_NS 1000000ull
#define APART_NS (10 * 1000000ull)
#define GIVE_UP_NS (10 * TOOL_NS_PER_SEC)

struct position {
	struct win32_host *h;
	_Atomic rouse_ns stamp[PAIRS]; /* When both were asked for. */
	uint64_t latency[2][PAIRS];
	size_t served[2];
};

static void *post_pairs(void *data)
{
	struct position *p = data;

	for (unsigned i = 0; i < PAIRS; i++) {
		system_sleep_until(rouse_now() + APART_NS);
		atomic_store_explicit(&p->stamp[i], rouse_now(), memory_order_release);
		PostThreadMessageW(p->h->thread, WM_APP + FIRST, i, 0);
		PostThreadMessageW(p->h->thread, WM_APP + SECOND, i, 0);
	}
	return NULL;
}

static void serve(struct position *p, unsigned which, WPARAM i, rouse_ns now)
{
	if (i < PAIRS && p->served[which] < PAIRS)
		p->latency[which][p->served[which]++] =
		        now - atomic_load_explicit(&p->stamp[i], memory_order_acquire);
}

static void on_first(void *data, WPARAM i, LPARAM large)
{
	rouse_ns now = rouse_now();

	(void)large;
	serve(data, 0, i, now);
	while (rouse_now() < now + HANDLER_NS)
		;
}

static void on_second(void *data, WPARAM i, LPARAM large)
{
	(void)large;
	serve(data, 1, i, rouse_now());
}

static void tell(struct position *p)
{
	struct host *host = &p->h->host;
	uint64_t p50[2];

	for (unsigned which = 0; which < 2; which++) {
		samples_sort(p->latency[which], PAIRS);
		p50[which] = samples_quantile(p->latency[which], PAIRS, 50);
	}
	snprintf(host->note, sizeof host->note,
	         "queue position: of two messages posted at once the first waited %.0f us, the "
	         "second %.0f us\n"
	         "  (p50 of %d pairs), for the first one's handler took %.0f us: so the schedule "
	         "offsets them",
	         (double)p50[0] / 1e3, (double)p50[1] / 1e3, PAIRS, HANDLER_NS / 1e3);
}

void win32_position(struct host *host)
{
	struct win32_host *h = (struct win32_host *)host;
	struct position p = {.h = h};
	rouse_ns give_up = rouse_now() + GIVE_UP_NS;
	pthread_t thread;

	h->message[FIRST].fn = on_first;
	h->message[SECOND].fn = on_second;
	h->message[FIRST].data = h->message[SECOND].data = &p;
	if (thread_start(&thread, post_pairs, &p) == 0) {
		while (p.served[1] < PAIRS && !h->stopped && rouse_now() < give_up)
			win32_turn(host, give_up);
		pthread_join(thread, NULL);
	}
	h->message[FIRST].fn = h->message[SECOND].fn = NULL;
	if (p.served[0] == PAIRS && p.served[1] == PAIRS)
		tell(&p);
}
