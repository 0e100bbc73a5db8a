#include "unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <dirent.h>
#endif

/* In front of each block. */
union header {
	size_t size;
	max_align_t align;
};

static void *counting_alloc(size_t size, void *ctx)
{
	struct counting *c = ctx;
	union header *header;

	if (atomic_fetch_add(&c->made, 1) + 1 == c->fail_at)
		return NULL;
	header = malloc(sizeof *header + size);
	if (!header)
		return NULL;
	header->size = size;
	/* So that nobody lives on zeros that were not asked for. */
	memset(header + 1, 0xa5, size);
	atomic_fetch_add(&c->outstanding, 1);
	return header + 1;
}

static void counting_free(void *ptr, size_t size, void *ctx)
{
	struct counting *c = ctx;
	union header *header = (union header *)ptr - 1;

	if (header->size != size)
		atomic_fetch_add(&c->wrong, 1);
	memset(ptr, 0xdd, header->size);
	atomic_fetch_sub(&c->outstanding, 1);
	free(header);
}

void counting_init(struct counting *c)
{
	memset(c, 0, sizeof *c);
	c->allocator = (rouse_allocator){counting_alloc, counting_free, c};
}

void counting_fail(struct counting *c, unsigned n)
{
	c->fail_at = atomic_load(&c->made) + n;
}

void counting_check(struct counting *c)
{
	assert_int_equal(atomic_load(&c->outstanding), 0);
	assert_int_equal(atomic_load(&c->wrong), 0);
}

rouse_loop *loop_on(const char *poller, struct counting *c)
{
	rouse_loop_options options = {
	        .size = sizeof options, .poller = poller, .allocator = c ? &c->allocator : NULL};
	rouse_loop *loop = NULL;

	assert_int_equal(rouse_loop_create(&options, &loop), 0);
	assert_non_null(loop);
	return loop;
}

rouse_stats stats_of(const rouse_loop *loop)
{
	rouse_stats stats = {.size = sizeof stats};

	assert_int_equal(rouse_loop_stats(loop, &stats), 0);
	return stats;
}

int has_descriptors(const rouse_loop *loop)
{
	return (rouse_loop_caps(loop) & ROUSE_CAP_FD) != 0;
}

#ifdef _WIN32
unsigned open_descriptors(void)
{
	DWORD count = 0;

	assert_true(GetProcessHandleCount(GetCurrentProcess(), &count));
	return count;
}
#else
unsigned open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}
#endif

struct errand {
	void (*fn)(void *data);
	void *data;
};

static void *run_errand(void *arg)
{
	const struct errand *errand = arg;

	errand->fn(errand->data);
	return NULL;
}

void on_another_thread(void (*fn)(void *data), void *data)
{
	struct errand errand = {fn, data};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_errand, &errand), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

void ignore_fd(rouse_loop *loop, rouse_source self, rouse_fd fd, unsigned events, void *data)
{
	(void)loop;
	(void)self;
	(void)fd;
	(void)events;
	(void)data;
}

void ignore_handle(rouse_loop *loop, rouse_source self, void *handle, unsigned events, void *data)
{
	(void)loop;
	(void)self;
	(void)handle;
	(void)events;
	(void)data;
}

void ignore_timer(rouse_loop *loop, rouse_source self, rouse_ns deadline, void *data)
{
	(void)loop;
	(void)self;
	(void)deadline;
	(void)data;
}

void count_call(rouse_loop *loop, void *data)
{
	(void)loop;
	++*(int *)data;
}

void count_cancel(void *data)
{
	++*(int *)data;
}

/* On poll and win32 a host has nothing to watch, and on null it is the one who lets time pass. */
int can_be_guest(const char *poller)
{
	return strcmp(poller, "poll") != 0 && strcmp(poller, "win32") != 0;
}
