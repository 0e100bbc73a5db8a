/*
 * The watch: once a second it looks at memory, descriptors and progress.
 *
 * What is normal is learnt while the loops warm up; from then on nothing may grow.  Blocks and
 * bytes of the loops' allocators are exact and must not change at all.  The resident set has
 * a margin, for it also counts the stacks, and what the C library keeps.
 */
#include "soak.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* A sanitizer keeps what was freed. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RESIDENT_MARGIN (1024u * 1024u * 1024u)
#else
#define RESIDENT_MARGIN (512u * 1024u)
#endif

struct range {
	uint64_t first, least, most, last;
	int known;
};

static struct range resident, descriptors, blocks[SOAK_SITES], bytes[SOAK_SITES], extra[SOAK_SITES];
static unsigned warm_descriptors;
static double moved_at[SOAK_SITES];
static uint64_t moved_to[SOAK_SITES];

static void note(struct range *range, uint64_t value)
{
	if (!range->known)
		*range = (struct range){value, value, value, value, 1};
	range->least = value < range->least ? value : range->least;
	range->most = value > range->most ? value : range->most;
	range->last = value;
}

/* ---- What the system says -------------------------------------------------------------- */

static uint64_t resident_bytes(void)
{
	unsigned long long size = 0, pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%llu %llu", &size, &pages) != 2)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

unsigned soak_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

double soak_cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

double soak_elapsed(void)
{
	return (double)(rouse_now() - soak.begun) / 1e9;
}

/* ---- The flows ------------------------------------------------------------------------- */

void soak_each_flow(void (*fn)(const char *site, const char *lane, const char *name,
                               struct soak_flow *flow, void *data),
                    void *data)
{
	static const char *const names[FLOW_LANE] = {
	        "posts",           "bytes",           "events",
	        "signals",         "wakes, own 1",    "wakes, own 2",
	        "wakes, shared 1", "wakes, shared 2", "wakes, shared 3"};
	static const char *const lanes[SOAK_LANES] = {"1", "2"};

	for (unsigned s = 0; s < SOAK_SITES; s++) {
		struct soak_site *site = &soak.sites[s];

		for (unsigned l = 0; l < SOAK_LANES; l++)
			for (unsigned f = 0; f < FLOW_LANE; f++)
				fn(site->name, lanes[l], names[f], &site->lanes[l].flows[f], data);
		fn(site->name, "-", "one shots", &site->armed, data);
		fn(site->name, "-", "periods", &site->periods, data);
	}
}

struct sum {
	const char *site; /* NULL: all */
	uint64_t sent, served;
};

static void add_up(const char *site, const char *lane, const char *name, struct soak_flow *flow,
                   void *data)
{
	struct sum *sum = data;

	(void)lane;
	(void)name;
	if (sum->site && sum->site != site)
		return;
	sum->sent += soak_get(&flow->sent);
	sum->served += soak_get(&flow->served);
}

static struct sum sum_of(const char *site)
{
	struct sum sum = {.site = site};

	soak_each_flow(add_up, &sum);
	return sum;
}

uint64_t soak_operations(void)
{
	return sum_of(NULL).sent;
}

uint64_t soak_served(void)
{
	return sum_of(NULL).served;
}

/* What was sent when the watch came by last time has been served by now. */
static void must_be_served(const char *site, const char *lane, const char *name,
                           struct soak_flow *flow, void *data)
{
	uint64_t served = soak_get(&flow->served);

	(void)data;
	SOAK_CHECK(served >= flow->mark, "%s, lane %s, %s: %llu sent %d s ago, %llu served: lost",
	           site, lane, name, (unsigned long long)flow->mark, SOAK_PATIENCE,
	           (unsigned long long)served);
	flow->mark = soak_get(&flow->sent);
}

static void check_stalls(void)
{
	for (unsigned s = 0; s < SOAK_SITES; s++) {
		uint64_t served = sum_of(soak.sites[s].name).served;

		if (served != moved_to[s]) {
			moved_to[s] = served;
			moved_at[s] = soak_elapsed();
		}
		SOAK_CHECK(soak_elapsed() - moved_at[s] < SOAK_PATIENCE,
		           "%s: nothing served for %d s", soak.sites[s].name, SOAK_PATIENCE);
	}
}

/* ---- The watch ------------------------------------------------------------------------- */

static void look(int warm)
{
	uint64_t count = soak_descriptors();

	if (!warm) {
		warm_descriptors = count > warm_descriptors ? (unsigned)count : warm_descriptors;
		return;
	}
	note(&resident, resident_bytes());
	note(&descriptors, count);
	for (unsigned s = 0; s < SOAK_SITES; s++) {
		struct soak_site *site = &soak.sites[s];
		struct soak_sample sample;

		pthread_mutex_lock(&site->lock);
		sample = site->sample;
		pthread_mutex_unlock(&site->lock);
		note(&blocks[s], sample.blocks);
		note(&bytes[s], sample.bytes);
		note(&extra[s], sample.extra);
	}
}

static void print_line(void)
{
	struct sum sum = sum_of(NULL);

	printf("%7.0f s  sent %llu  served %llu  resident %llu KiB  blocks %llu+%llu  "
	       "made %llu+%llu  descriptors %llu  CPU %.1f s\n",
	       soak_elapsed(), (unsigned long long)sum.sent, (unsigned long long)sum.served,
	       (unsigned long long)resident.last / 1024, (unsigned long long)blocks[0].last,
	       (unsigned long long)blocks[1].last, (unsigned long long)extra[0].last,
	       (unsigned long long)extra[1].last, (unsigned long long)descriptors.last, soak_cpu());
	fflush(stdout);
}

void soak_watch(void)
{
	double warm_after = soak.seconds / 4 < 15 ? soak.seconds / 4 : 15;
	double next_marks = SOAK_PATIENCE, next_line = 60;

	while (soak_elapsed() < soak.seconds) {
		soak_pause(1000000000);
		look(soak_elapsed() > warm_after);
		check_stalls();
		if (soak_elapsed() >= next_marks) {
			soak_each_flow(must_be_served, NULL);
			next_marks += SOAK_PATIENCE;
		}
		if (soak_elapsed() >= next_line) {
			print_line();
			next_line += 60;
		}
	}
}

void soak_settle(void)
{
	double until = soak_elapsed() + SOAK_PATIENCE;

	while (soak_elapsed() < until) {
		struct sum sum = sum_of(NULL);

		if (sum.sent == sum.served)
			return;
		soak_pause(1000000);
	}
	soak_each_flow(must_be_served, NULL);
	soak_each_flow(must_be_served, NULL);
	soak_fail("what was sent was not served");
}

/* ---- The report ------------------------------------------------------------------------ */

static int report(const char *what, const char *site, const struct range *range, uint64_t margin,
                  uint64_t unit)
{
	int grew = range->most > range->first + margin;

	printf("%-28s %-8s %10llu %10llu %10llu %10llu   %s\n", what, site,
	       (unsigned long long)(range->first / unit), (unsigned long long)(range->least / unit),
	       (unsigned long long)(range->most / unit), (unsigned long long)(range->last / unit),
	       grew ? "GREW" : "flat");
	return grew;
}

int soak_watch_report(void)
{
	int grew = 0;

	printf("\n%-28s %-8s %10s %10s %10s %10s\n", "after the warm-up", "loop", "first", "least",
	       "most", "last");
	grew |= report("resident set, KiB", "", &resident, RESIDENT_MARGIN, 1024);
	/* The watch may come by while a pair of the beat's is open, or not. */
	if (descriptors.first < warm_descriptors)
		descriptors.first = warm_descriptors;
	grew |= report("descriptors", "", &descriptors, 0, 1);
	for (unsigned s = 0; s < SOAK_SITES; s++) {
		const char *name = soak.sites[s].name;

		grew |= report("bytes allocated", name, &bytes[s], 0, 1);
		grew |= report("blocks allocated", name, &blocks[s], 0, 1);
		grew |= report("allocations not asked for", name, &extra[s], 0, 1);
	}
	return grew;
}
