/* soak SECONDS [POLLER] [SEED]: see soak.h.  Exit status 1: something was lost, grew, or stalled.
 */
#include "soak.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct soak soak;

void soak_bump(_Atomic uint64_t *counter, uint64_t by)
{
	uint64_t value = atomic_load_explicit(counter, memory_order_relaxed);

	atomic_store_explicit(counter, value + by, memory_order_release);
}

uint64_t soak_get(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_acquire);
}

/* splitmix64 */
uint64_t soak_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void soak_pause(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
	                        .tv_nsec = (long)(ns % 1000000000u)};

	nanosleep(&time, NULL);
}

void soak_join(pthread_t thread, const char *what)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 3 * SOAK_PATIENCE;
	SOAK_CHECK(!pthread_timedjoin_np(thread, NULL, &until), "%s does not end", what);
}

/* ---- The table ------------------------------------------------------------------------- */

static void print_flow(const char *site, const char *lane, const char *name, struct soak_flow *flow,
                       void *data)
{
	uint64_t sent = soak_get(&flow->sent), served = soak_get(&flow->served);

	(void)data;
	printf("%-8s %-4s %-18s %14llu %14llu %14lld\n", site, lane, name, (unsigned long long)sent,
	       (unsigned long long)served, (long long)(sent - served));
}

static void print_flows(void)
{
	printf("\n%-8s %-4s %-18s %14s %14s %14s\n", "loop", "lane", "what", "sent", "served",
	       "lost");
	soak_each_flow(print_flow, NULL);
	for (unsigned s = 0; s < SOAK_SITES; s++) {
		struct soak_site *site = &soak.sites[s];
		uint64_t tasks = 0, calls = 0, skipped = 0;

		for (unsigned l = 0; l < SOAK_LANES; l++) {
			tasks += soak_get(&site->lanes[l].tasks);
			calls += soak_get(&site->lanes[l].calls);
			skipped += soak_get(&site->lanes[l].skipped);
		}
		printf("%s (%s): of the posts %llu tasks, %llu calls; of the one shots %llu fired, "
		       "%llu cancelled; of the periods %llu skipped; %llu sources came and went; "
		       "%llu wakes not sent, one was under way\n",
		       site->name, site->poller, (unsigned long long)tasks,
		       (unsigned long long)calls, (unsigned long long)soak_get(&site->fired),
		       (unsigned long long)soak_get(&site->cancelled),
		       (unsigned long long)soak_get(&site->skipped),
		       (unsigned long long)soak_get(&site->churned.sent),
		       (unsigned long long)skipped);
	}
}

void soak_fail(const char *format, ...)
{
	va_list args;

	printf("\nFAILED after %.1f s: ", soak_elapsed());
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	print_flows();
	fflush(stdout);
	_Exit(EXIT_FAILURE);
}

/* ---- The run --------------------------------------------------------------------------- */

static void print_loops(void)
{
	for (unsigned s = 0; s < SOAK_SITES; s++) {
		const struct soak_site *site = &soak.sites[s];

		printf("%s: %llu turns, %llu callbacks, %llu rings, %llu spurious, CPU %.2f s\n",
		       site->name, (unsigned long long)site->stats.turns,
		       (unsigned long long)site->stats.callbacks,
		       (unsigned long long)site->stats.wakes_sent,
		       (unsigned long long)site->stats.wakes_spurious, site->cpu);
	}
}

static void run(void)
{
	static unsigned lanes[SOAK_LANES];
	double cpu;
	uint64_t operations;
	unsigned before = soak_descriptors(), after;
	int grew;

	soak.begun = rouse_now();
	for (unsigned s = 0; s < SOAK_SITES; s++)
		soak_site_start(&soak.sites[s]);
	for (unsigned l = 0; l < SOAK_LANES; l++) {
		lanes[l] = l;
		SOAK_CHECK(!pthread_create(&soak.producers[l], NULL, soak_produce, &lanes[l]),
		           "pthread_create");
	}
	soak_watch();
	atomic_store(&soak.stop, 1);
	for (unsigned l = 0; l < SOAK_LANES; l++)
		soak_join(soak.producers[l], "a producer");
	soak_settle();
	operations = soak_operations();
	cpu = soak_cpu();
	for (unsigned s = 0; s < SOAK_SITES; s++) {
		soak_site_close(&soak.sites[s]);
	}
	print_flows();
	print_loops();
	grew = soak_watch_report();
	after = soak_descriptors();
	printf("\n%.0f s, %llu operations (%.0f a second), %llu lulls, CPU %.1f s (%.1f %%)\n",
	       soak.seconds, (unsigned long long)operations, (double)operations / soak.seconds,
	       (unsigned long long)soak_get(&soak.lulls), cpu, 100 * cpu / soak.seconds);
	SOAK_CHECK(after == before, "%u descriptors before, %u after", before, after);
	SOAK_CHECK(!grew, "something grew");
	printf("PASSED: nothing lost, nothing grew, nothing stalled\n");
}

int main(int argc, char **argv)
{
	soak.seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
	soak.seed = argc > 3 ? strtoull(argv[3], NULL, 0) : (uint64_t)time(NULL);
	if (soak.seconds < 1) {
		fprintf(stderr, "usage: soak SECONDS [POLLER] [SEED]\n");
		return 2;
	}
	soak.sites[0].name = "alone";
	soak.sites[0].poller = argc > 2 ? argv[2] : rouse_poller_name(0);
	soak.sites[1].name = "guest";
	soak.sites[1].poller = "epoll";
	soak.sites[1].guest = 1;
	soak.sites[0].signo = SIGUSR1;
	soak.sites[1].signo = SIGUSR2;
	printf("soak: %.0f s, seed %llu, loop \"%s\" and a guest\n", soak.seconds,
	       (unsigned long long)soak.seed, soak.sites[0].poller);
	fflush(stdout);
	run();
	return EXIT_SUCCESS;
}
